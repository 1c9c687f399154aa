#include "solve/treated_rows.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "hearsay/error.hpp"

namespace hearsay::detail {

TreatedRows::TreatedRows(RowSource<double>& source, const PcaSettings& settings, Index block_rows)
    : source_(source), settings_(settings), moments_(source.cols()) {
  require(block_rows > 0, fmt::format("rows at once = {}: must be at least 1", block_rows));
  measure(block_rows);
  const ColumnWishes wishes{.center = settings.center,
                            .standardize = settings.standardize,
                            .missing_as_mean = settings.missing != Missing::refuse,
                            .weighted = !settings.weights.empty(),
                            .column_names = settings.column_names};
  divisor_ = covariance_divisor(moments_, wishes);
  columns_ = column_rule<double>(moments_, wishes);
  gain_ = std::sqrt(static_cast<double>(moments_.rows) / divisor_);
}

double TreatedRows::weight_of(Index row) const {
  if (settings_.weights.empty()) return 1;
  const auto at = static_cast<std::size_t>(row);
  require(at < settings_.weights.size(),
          fmt::format("row weights: there are {}, and must be one for each row, of which there are more",
                      settings_.weights.size()));
  return settings_.weights[at];
}

bool TreatedRows::drops(const Eigen::Ref<const Eigen::RowVectorXd>& row) const {
  return settings_.missing == Missing::drop_rows && row.hasNaN();
}

void TreatedRows::measure(Index block_rows) {
  require_weights(settings_.weights, static_cast<Index>(settings_.weights.size()));
  Block<double> rows(block_rows, cols());
  std::vector<double> weights;
  rewind();
  for (Index count = source_.read(rows); count > 0; count = source_.read(rows)) {
    weights.clear();
    for (Index i = 0; i < count; ++i) {
      const bool dropped = drops(rows.row(i));
      dropped_ += dropped ? 1 : 0;
      weights.push_back(dropped ? 0.0 : weight_of(row_ + i));
    }
    row_ += count;
    moments_.add<double>(BorrowedBlock<double>(rows.data(), count, cols(), Eigen::OuterStride<>(cols())), weights);
  }
  if (row_ == 0) throw DataError("stream: has no rows");
  require(settings_.weights.empty() || static_cast<Index>(settings_.weights.size()) == row_,
          fmt::format("row weights: there are {}, and must be {}, one for each row", settings_.weights.size(), row_));
  if (dropped_ == row_) throw DataError("missing = drop-rows: every row has a missing entry, and none is left");
}

void TreatedRows::rewind() {
  source_.rewind();
  row_ = 0;
}

// Rows of weight zero are left out too, so that as many come as moments() has.
Index TreatedRows::read(BlockView<double> out) {
  Index filled = 0;
  while (filled < out.rows()) {
    const Index wanted = out.rows() - filled, count = source_.read(out.middleRows(filled, wanted));
    const Index first = filled;
    for (Index i = 0; i < count; ++i, ++row_) {
      const double weight = weight_of(row_);
      auto from = out.row(first + i);
      if (weight == 0 || drops(from)) continue;
      const double root = gain_ * std::sqrt(weight);
      auto to = out.row(filled++);
      for (Index j = 0; j < cols(); ++j) {
        const double value = std::isnan(from(j)) ? columns_.fill(j) : from(j);
        to(j) = (value - columns_.mean(j)) * columns_.factor(j) * root;
      }
    }
    if (count < wanted) break;
  }
  return filled;
}

double TreatedRows::total_variance() const {
  const auto offset = (columns_.fill - columns_.mean).array();
  return ((moments_.scatter.array() + moments_.total_weight * offset.square()) * columns_.factor.array().square())
             .sum() /
         divisor_;
}

}  // namespace hearsay::detail

#include "solve/treated_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hearsay/error.hpp"
#include "operators/row_pass.hpp"

namespace hearsay::detail {

TreatedRows::TreatedRows(RowSource<double>& source, const PcaSettings& settings,
                         const std::function<void(Index)>& watch)
    : source_(source), settings_(settings), moments_(source.cols()) {
  measure(watch);
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

// In portions that depend on nothing, because the moments do in their last digits.
void TreatedRows::measure(const std::function<void(Index)>& watch) {
  constexpr Index portion = 256;
  const Index d = cols();
  require_weights(settings_.weights, static_cast<Index>(settings_.weights.size()));
  std::vector<double> weights;
  const auto measure_portion = [&](const BorrowedBlock<double>& rows) {
    weights.clear();
    for (Index i = 0; i < rows.rows(); ++i) {
      const bool dropped = drops(rows.row(i));
      dropped_ += dropped ? 1 : 0;
      weights.push_back(dropped ? 0.0 : weight_of(row_ + i));
    }
    row_ += rows.rows();
    moments_.add<double>(rows, weights);
  };
  ReadAhead<double> reader(source_,
                           buffered_rows(0, {.rows = portion}, d * static_cast<Index>(sizeof(double)), source_.rows()));
  reader.rewind();
  for (;;) {
    const BorrowedBlock<double> rows = reader.next();
    for (Index first = 0; first < rows.rows(); first += portion)
      measure_portion(BorrowedBlock<double>(rows.data() + first * d, std::min(portion, rows.rows() - first), d,
                                            Eigen::OuterStride<>(d)));
    if (rows.rows() == 0) break;
    if (watch) watch(row_);
  }
  if (row_ == 0) throw DataError(fmt::format("{}: has no rows", source_.name()));
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

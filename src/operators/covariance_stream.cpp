// Legend   s  provisional shift, mu  mean, delta = mu - s | B  the rows of a leaf, less their shift | U = B X | Y +=
// B'U
//   sum (x - mu)(x - mu)' = sum (x - s)(x - s)' - m delta delta'       in the first product; s = mu afterwards
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/operators/covariance.hpp"
#include "kernels/kernels.hpp"
#include "linalg/scratch.hpp"
#include "operators/row_pass.hpp"

namespace hearsay {

using detail::Leaves;
using detail::scratch;
using detail::ScratchUse;

namespace {

// About a quarter of a megabyte of centred rows, so that B X and B'(B X) both find them in cache.
Leaves leaves_of_products(Index d) {
  constexpr Index bytes = 256 << 10;
  return {.rows = std::clamp<Index>(bytes / (static_cast<Index>(sizeof(double)) * std::max<Index>(d, 1)), 8, 128),
          .lanes = 8};
}

}  // namespace

// The work memory of products, and the reader.
template <class S, class Stored>
class StreamedCovariance<S, Stored>::Pass {
 public:
  Pass(RowSource<Stored>& source, bool center, ReadingOptions reading)
      : watch_(std::move(reading.watch)),
        center_(center),
        leaves_(leaves_of_products(source.cols())),
        rows_(source, detail::buffered_rows(reading.rows_at_once, leaves_,
                                            source.cols() * static_cast<Index>(sizeof(Stored)), source.rows())),
        lanes_(static_cast<std::size_t>(leaves_.lanes)) {}

  // Of all rows: Y <- sum (x - s)(x - s)'X, with `first` also the sums of x - s and of their squares.
  Index multiply(ConstBlockView<S> X, BlockView<S> Y, bool first) {
    const auto& kernel = kernels::table<S>();
    const Index d = X.rows(), p = X.cols();
    packed_.resize(d, kernels::round_up(p, kernels::tile_columns<S>()));
    kernel.pack(d, p, X.data(), X.outerStride(), packed_.data());
    for (Lane& lane : lanes_) {
      lane.Y.setZero(d, p);
      lane.sums.setZero(first ? d : 0);
      lane.squares = 0;
    }
    ++pass_;
    const Index count = detail::visit_leaves<Stored>(
        rows_, leaves_,
        [&](const BorrowedBlock<Stored>& rows) {
          if (first && center_) shift = detail::provisional_mean<Stored>(rows, leaves_.rows).template cast<S>();
        },
        [&](Index lane, const BorrowedBlock<Stored>& rows) { add(lane, rows, p, first); },
        [&](Index rows) {
          if (watch_) watch_({.pass = pass_, .rows = rows});
        });
    Y = lanes_.front().Y;
    for (std::size_t lane = 1; lane < lanes_.size(); ++lane) Y += lanes_[lane].Y;
    return count;
  }

  Vector<S> shift;

  Vector<double> sums() const {
    Vector<double> all = lanes_.front().sums;
    for (std::size_t lane = 1; lane < lanes_.size(); ++lane) all += lanes_[lane].sums;
    return all;
  }
  double squares() const {
    double all = 0;
    for (const Lane& lane : lanes_) all += lane.squares;
    return all;
  }

 private:
  struct Lane {
    Block<S> Y;
    Vector<double> sums;
    double squares = 0;
  };

  const S* centred(const BorrowedBlock<Stored>& rows, Index& stride) const {
    const Index d = rows.cols();
    if constexpr (std::is_same_v<S, Stored>)
      if (!center_) {
        stride = rows.outerStride();
        return rows.data();
      }
    stride = d;
    S* const out = scratch<S, ScratchUse::centred_rows>(leaves_.rows * d);
    for (Index i = 0; i < rows.rows(); ++i) {
      const Stored* __restrict row = rows.data() + i * rows.outerStride();
      const S* __restrict s = shift.data();
      S* __restrict to = out + i * d;
      for (Index j = 0; j < d; ++j) to[j] = static_cast<S>(row[j]) - s[j];
    }
    return out;
  }

  void add(Index index, const BorrowedBlock<Stored>& rows, Index p, bool first) {
    Lane& lane = lanes_[static_cast<std::size_t>(index)];
    const auto& kernel = kernels::table<S>();
    const Index d = rows.cols(), count = rows.rows(), padded = kernels::round_up(p, kernels::tile_columns<S>());
    Index stride = 0;
    const S* B = centred(rows, stride);
    S* U = scratch<S, ScratchUse::products>(leaves_.rows * (p + padded));
    S* U_packed = U + leaves_.rows * p;
    constexpr Index sweep = 2048;  // rows of X at once, as for dense products
    for (Index j = 0; j < d; j += sweep)
      kernel.multiply(count, std::min(sweep, d - j), p, B + j, stride, 1,
                      packed_.data() + j * kernels::tile_columns<S>(), d, U, p, j > 0);
    kernel.pack(count, p, U, p, U_packed);
    kernel.multiply(d, count, p, B, 1, stride, U_packed, count, lane.Y.data(), p, true);
    if (!first) return;
    for (Index i = 0; i < count; ++i) {
      const S* __restrict row = B + i * stride;
      double* __restrict sum = lane.sums.data();
      double squares = 0;
      for (Index j = 0; j < d; ++j) {
        const auto value = static_cast<double>(row[j]);
        sum[j] += value;
        squares += value * value;
      }
      lane.squares += squares;
    }
  }

  WatchReading watch_;
  bool center_;
  Leaves leaves_;
  detail::ReadAhead<Stored> rows_;
  std::vector<Lane> lanes_;
  Block<S> packed_;
  Index pass_ = 0;
};

template <class S, class Stored>
StreamedCovariance<S, Stored>::StreamedCovariance(RowSource<Stored>& source, bool center, ReadingOptions reading)
    : source_(&source), center_(center), mean_(Vector<S>::Zero(source.cols())) {
  require(reading.rows_at_once >= 0,
          fmt::format("rows at once = {}: must be at least 1, or 0 for some megabytes", reading.rows_at_once));
  pass_ = std::make_unique<Pass>(source, center, std::move(reading));
  pass_->shift = mean_;
}

template <class S, class Stored>
StreamedCovariance<S, Stored>::~StreamedCovariance() = default;

// A product is a reading: passes are what costs, and the number of rows may not be known yet.
template <class S, class Stored>
OperatorFacts StreamedCovariance<S, Stored>::facts() const {
  constexpr double many_rows = 1e6;
  const Index known = samples_ > 0 ? samples_ : source_->rows().value_or(0);
  const double rows = known > 0 ? static_cast<double>(known) : many_rows;
  return {.positive_semidefinite = true, .exact = true, .multiply_adds = 2 * rows * static_cast<double>(dim())};
}

template <class S, class Stored>
double StreamedCovariance<S, Stored>::divisor() const {
  const double samples = static_cast<double>(samples_);
  return center_ ? std::max(1.0, samples - 1) : samples;
}

template <class S, class Stored>
void StreamedCovariance<S, Stored>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  const bool first = samples_ == 0;
  const Index samples = pass_->multiply(X, Y, first);
  if (samples == 0) throw DataError(fmt::format("{}: has no rows", source_->name()));
  if (!first && samples != samples_)
    throw DataError(fmt::format("{}: has {} rows now and had {} before: every pass must give the same", source_->name(),
                                samples, samples_));
  if (first) {
    samples_ = samples;
    squares_ = pass_->squares();
    if (center_) {
      const Vector<double> offset = pass_->sums() / static_cast<double>(samples);
      const Vector<S> delta = offset.template cast<S>();
      const Eigen::Matrix<S, 1, Eigen::Dynamic> along = delta.transpose() * X;
      Y -= static_cast<S>(samples) * delta * along;
      squares_ = std::max(0.0, squares_ - static_cast<double>(samples) * offset.squaredNorm());
      mean_ = pass_->shift + delta;
      pass_->shift = mean_;
    }
  }
  Y /= static_cast<S>(divisor());
}

template class StreamedCovariance<float>;
template class StreamedCovariance<double>;
template class StreamedCovariance<double, float>;

}  // namespace hearsay

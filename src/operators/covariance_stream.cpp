// Legend   s  provisional shift, mu  mean, delta = mu - s | rows x
//   sum (x - mu)(x - mu)' = sum (x - s)(x - s)' - m delta delta'       in the first product; s = mu afterwards, but for
//                                                                      sparse columns, which keep their zeros
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/operators/covariance.hpp"
#include "operators/stream_pass.hpp"

namespace hearsay {

template <class S, class Stored>
StreamedCovariance<S, Stored>::StreamedCovariance(RowSource<Stored>& source, bool center, ReadingOptions reading)
    : source_(&source), center_(center), mean_(Vector<S>::Zero(source.cols())) {
  require(reading.rows_at_once >= 0,
          fmt::format("rows at once = {}: must be at least 1, or 0 for some megabytes", reading.rows_at_once));
  pass_ = std::make_unique<detail::WholePass<S>>(detail::product_lanes<S, Stored>(source, center, std::move(reading)));
}

template <class S, class Stored>
StreamedCovariance<S, Stored>::StreamedCovariance(RowSource<Stored>& source, bool center,
                                                  std::unique_ptr<detail::StreamPass<S>> pass)
    : source_(&source), center_(center), pass_(std::move(pass)), mean_(Vector<S>::Zero(source.cols())) {}

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
      mean_ = pass_->shift() + delta;
      pass_->shift_to(mean_);
    }
  } else if (center_ && pass_->shift() != mean_) {  // of columns that keep their zeros
    const Vector<S> rest = mean_ - pass_->shift();
    const Eigen::Matrix<S, 1, Eigen::Dynamic> along = rest.transpose() * X;
    Y -= static_cast<S>(samples) * rest * along;
  }
  Y /= static_cast<S>(divisor());
}

template class StreamedCovariance<float>;
template class StreamedCovariance<double>;
template class StreamedCovariance<double, float>;

}  // namespace hearsay

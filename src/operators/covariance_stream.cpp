#include <fmt/format.h>

#include <algorithm>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/operators/covariance.hpp"

namespace hearsay {

template <class S>
StreamedCovariance<S>::StreamedCovariance(RowSource<S>& source, bool center, Index rows_at_once)
    : source_(&source), center_(center), rows_(rows_at_once, source.cols()) {
  require(rows_at_once > 0, fmt::format("rows at once = {}: must be at least 1", rows_at_once));
  shift_ = mean_ = Vector<S>::Zero(source.cols());
}

template <class S>
double StreamedCovariance<S>::divisor() const {
  const double samples = static_cast<double>(samples_);
  return center_ ? std::max(1.0, samples - 1) : samples;
}

// With s the provisional shift and delta = mu - s:  sum (x - mu)(x - mu)' = sum (x - s)(x - s)' - m delta delta'.
template <class S>
void StreamedCovariance<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  Y.setZero();
  Block<S> U(rows_.rows(), X.cols());
  Vector<double> sum = Vector<double>::Zero(dim());
  Index samples = 0;
  source_->rewind();
  for (Index count = source_->read(rows_); count > 0; count = source_->read(rows_)) {
    auto B = rows_.topRows(count);
    if (center_) {
      if (samples == 0 && samples_ == 0) shift_ = B.colwise().mean();
      B.rowwise() -= shift_.transpose();
      sum += B.colwise().sum().transpose().template cast<double>();
    }
    const BorrowedBlock<S> rows(B.data(), count, dim(), Eigen::OuterStride<>(rows_.outerStride()));
    multiply<S>(rows, X, U.topRows(count));
    accumulate_transposed<S>(rows, U.topRows(count), Y);
    samples += count;
  }
  if (samples == 0) throw DataError("stream: has no rows");
  if (samples_ != 0 && samples != samples_)
    throw DataError(
        fmt::format("stream: has {} rows now and had {} before: every pass must give the same", samples, samples_));
  samples_ = samples;
  if (center_) {
    const Vector<S> delta = (sum / static_cast<double>(samples)).template cast<S>();
    const Eigen::Matrix<S, 1, Eigen::Dynamic> along = delta.transpose() * X;
    Y -= static_cast<S>(samples) * delta * along;
    mean_ = shift_ + delta;
  }
  Y /= static_cast<S>(divisor());
}

template class StreamedCovariance<float>;
template class StreamedCovariance<double>;

}  // namespace hearsay

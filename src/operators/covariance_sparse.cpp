#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/operators/covariance.hpp"
#include "linalg/worth_threads.hpp"

namespace hearsay {

template <class S>
SparseCovariance<S>::SparseCovariance(CsrView<S> data, bool center) : data_(data) {
  const Index m = data.rows, d = data.cols;
  require(m > 0 && d > 0, fmt::format("data of {} x {}: must have at least one row and one column", m, d));
  divisor_ = center ? std::max<double>(1.0, static_cast<double>(m) - 1) : static_cast<double>(m);
  mean_ = shift_ = Vector<S>::Zero(d);
  if (!center) return;

  // Against a provisional shift (each column's first stored entry), so that a column with a large offset keeps its
  // digits.
  Vector<double> provisional = Vector<double>::Zero(d), sum = Vector<double>::Zero(d), count = Vector<double>::Zero(d);
  for (std::size_t e = 0; e < data.columns.size(); ++e) {
    const auto j = data.columns[e];
    const auto value = static_cast<double>(data.values[e]);
    if (count(j) == 0) provisional(j) = value;
    sum(j) += value - provisional(j);
    count(j) += 1;
  }
  for (Index j = 0; j < d; ++j) {
    const double samples = static_cast<double>(m);
    mean_(j) = static_cast<S>(provisional(j) * (count(j) / samples) + sum(j) / samples);
    if (count(j) == samples) shift_(j) = mean_(j);
  }
}

template <class S>
SparseCovariance<S> SparseCovariance<S>::about(Vector<S> mean, CsrView<S> data) {
  require(mean.size() == data.cols,
          fmt::format("mean of {} features: must have {}, as the data have", mean.size(), data.cols));
  SparseCovariance A(data, false);
  A.mean_ = std::move(mean);
  std::vector<Index> stored(static_cast<std::size_t>(data.cols), 0);
  for (const auto j : data.columns) ++stored[static_cast<std::size_t>(j)];
  for (Index j = 0; j < data.cols; ++j)
    if (stored[static_cast<std::size_t>(j)] == data.rows) A.shift_(j) = A.mean_(j);
  return A;
}

// (Phi - 1 mu') X: stored entries less their column's shift, then what is left of the mean on every row.
template <class S>
void SparseCovariance<S>::scores(ConstBlockView<S> X, BlockView<S> out) const {
  const CsrView<S>& data = data_;
  const Vector<S> rest = mean_ - shift_;
  const Eigen::Matrix<S, 1, Eigen::Dynamic> constant = rest.transpose() * X;
#pragma omp parallel for schedule(static) \
    num_threads(detail::worth_threads(2.0 * double(data.nonzeros()) * double(X.cols())))
  for (Index i = 0; i < data.rows; ++i) {
    auto row = out.row(i);
    row = -constant;
    for (auto e = data.row_start[i]; e < data.row_start[i + 1]; ++e) {
      const auto j = data.columns[e];
      row += (data.values[e] - shift_(j)) * X.row(j);
    }
  }
}

template <class S>
void SparseCovariance<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  const CsrView<S>& data = data_;
  const Index d = data.cols, p = X.cols();
  products_.resize(data.rows, p);
  scores(X, products_);

  // Y = Phi_c' U: each task owns a range of features and walks all samples, so that every sum runs in the samples'
  // order.
  const Vector<S> rest = mean_ - shift_;
  const Eigen::Matrix<S, 1, Eigen::Dynamic> column_sums = products_.colwise().sum();
  const Index tasks = detail::worth_threads(2.0 * double(data.nonzeros()) * double(p));
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(tasks))
  for (Index task = 0; task < tasks; ++task) {
    const auto first = static_cast<std::int32_t>(d * task / tasks),
               last = static_cast<std::int32_t>(d * (task + 1) / tasks);
    for (Index j = first; j < last; ++j) Y.row(j) = -rest(j) * column_sums;
    for (Index i = 0; i < data.rows; ++i) {
      const auto row_begin = data.columns.begin() + data.row_start[i],
                 row_end = data.columns.begin() + data.row_start[i + 1];
      for (auto e = std::lower_bound(row_begin, row_end, first); e != row_end && *e < last; ++e)
        Y.row(*e) += (data.values[static_cast<std::size_t>(e - data.columns.begin())] - shift_(*e)) * products_.row(i);
    }
  }
  Y /= static_cast<S>(divisor_);
}

template <class S>
OperatorFacts SparseCovariance<S>::facts() const {
  return {.positive_semidefinite = true,
          .extra_passes = 1,
          .exact = true,
          .multiply_adds = 2.0 * static_cast<double>(data_.nonzeros())};
}

template <class S>
double SparseCovariance<S>::total_variance() const {
  const CsrView<S>& data = data_;
  Vector<double> squares = Vector<double>::Zero(data.cols), stored = Vector<double>::Zero(data.cols);
  for (std::size_t e = 0; e < data.columns.size(); ++e) {
    const auto j = data.columns[e];
    const double centred = static_cast<double>(data.values[e]) - static_cast<double>(mean_(j));
    squares(j) += centred * centred;
    stored(j) += 1;
  }
  const Vector<double> means = mean_.template cast<double>();
  squares.array() += (static_cast<double>(data.rows) - stored.array()) * means.array().square();
  return squares.sum() / divisor_;
}

template class SparseCovariance<float>;
template class SparseCovariance<double>;

}  // namespace hearsay

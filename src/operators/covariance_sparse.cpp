#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/operators/covariance.hpp"
#include "linalg/worth_threads.hpp"
#include "operators/sparse_outer.hpp"

namespace hearsay {

namespace {

double row_weight(std::span<const double> weights, Index row) {
  return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)];
}

// What the entries that are stored add up to.
struct StoredSums {
  explicit StoredSums(Index d)
      : missing(Vector<double>::Zero(d)),
        weight(missing),
        provisional(missing),
        offset(missing),
        rows(Vector<std::int64_t>::Zero(d)) {}

  Vector<double> missing, weight;      // weights of those that are missing, and of those that are there
  Vector<double> provisional, offset;  // the first entry of each column, and the sum of what others are beyond it
  Vector<std::int64_t> rows;           // with an entry, missing or not
};

template <class S>
void add_row(const CsrView<S>& data, Index i, double w, StoredSums& sums, ColumnMoments& found) {
  Index missing_here = 0;
  for (auto e = data.row_start[i]; e < data.row_start[i + 1]; ++e) {
    const auto j = data.columns[e];
    const auto value = static_cast<double>(data.values[e]);
    if (std::isinf(value)) found.most(j) = found.least(j) = value;
    if (w == 0) continue;
    ++sums.rows(j);
    if (std::isnan(value)) {
      ++missing_here;
      sums.missing(j) += w;
      continue;
    }
    if (sums.weight(j) == 0) sums.provisional(j) = value;
    sums.offset(j) += w * (value - sums.provisional(j));
    sums.weight(j) += w;
    found.least(j) = std::min(found.least(j), value);
    found.most(j) = std::max(found.most(j), value);
  }
  found.total_weight += w;
  found.rows += w > 0 ? 1 : 0;
  found.missing += missing_here;
  found.rows_missing += missing_here > 0 ? 1 : 0;
  found.rows_empty += missing_here == data.cols ? 1 : 0;
}

// Entries that are not stored are zeros, and are there.
void take_zeros(const StoredSums& sums, ColumnMoments& found) {
  for (Index j = 0; j < found.columns(); ++j) {
    const bool zeros = found.rows > sums.rows(j);
    found.weight(j) = zeros || sums.weight(j) > 0 ? found.total_weight - sums.missing(j) : 0.0;
    if (!(found.weight(j) > 0)) continue;
    found.mean(j) = sums.provisional(j) * (sums.weight(j) / found.weight(j)) + sums.offset(j) / found.weight(j);
    if (!zeros) continue;
    found.least(j) = std::min(found.least(j), 0.0);
    found.most(j) = std::max(found.most(j), 0.0);
    found.scatter(j) = std::max(0.0, found.weight(j) - sums.weight(j)) * found.mean(j) * found.mean(j);
  }
}

template <class S>
ColumnMoments sparse_moments(const CsrView<S>& data, std::span<const double> weights) {
  ColumnMoments found(data.cols);
  StoredSums sums(data.cols);
  for (Index i = 0; i < data.rows; ++i) add_row(data, i, row_weight(weights, i), sums, found);
  take_zeros(sums, found);
  for (Index i = 0; i < data.rows; ++i) {
    const double w = row_weight(weights, i);
    for (auto e = data.row_start[i]; e < data.row_start[i + 1]; ++e) {
      const auto j = data.columns[e];
      const double apart = static_cast<double>(data.values[e]) - found.mean(j);
      if (w > 0 && apart == apart) found.scatter(j) += w * apart * apart;
    }
  }
  return found;
}

}  // namespace

template <class S>
SparseCovariance<S>::SparseCovariance(CsrView<S> data, const CovarianceOptions& options)
    : data_(data),
      weights_(options.weights),
      missing_(options.missing_as_mean),
      gram_bytes_limit_(options.gram_bytes_limit),
      form_at_once_(options.form_at_once),
      expected_products_(options.expected_products),
      outer_multiply_adds_(detail::outer_multiply_adds(data)) {
  const Index m = data.rows, d = data.cols;
  require(m > 0 && d > 0, fmt::format("data of {} x {}: must have at least one row and one column", m, d));
  divisor_ = options.center ? std::max<double>(1.0, static_cast<double>(m) - 1) : static_cast<double>(m);
  columns_.mean = shift_ = Vector<S>::Zero(d);
  if (options.standardize || options.missing_as_mean || !options.weights.empty())
    find_moments(options);
  else if (options.center)
    find_mean();
  if (options.center) shift_full_columns();
}

template <class S>
SparseCovariance<S>::SparseCovariance(CsrView<S> data, ColumnRule<S> columns, bool missing_as_mean, double divisor)
    : data_(data),
      columns_(std::move(columns)),
      scaled_(columns_.scale.size() > 0),
      missing_(missing_as_mean),
      shift_(Vector<S>::Zero(data.cols)),
      divisor_(divisor) {
  shift_full_columns();
}

// Against a provisional shift (each column's first stored entry), so that a column with a large offset keeps its
// digits.
template <class S>
void SparseCovariance<S>::find_mean() {
  const Index d = data_.cols;
  Vector<double> provisional = Vector<double>::Zero(d), sum = Vector<double>::Zero(d), count = Vector<double>::Zero(d);
  for (std::size_t e = 0; e < data_.columns.size(); ++e) {
    const auto j = data_.columns[e];
    const auto value = static_cast<double>(data_.values[e]);
    if (count(j) == 0) provisional(j) = value;
    sum(j) += value - provisional(j);
    count(j) += 1;
  }
  const auto samples = static_cast<double>(data_.rows);
  for (Index j = 0; j < d; ++j)
    columns_.mean(j) = static_cast<S>(provisional(j) * (count(j) / samples) + sum(j) / samples);
}

// The same with weights, of the entries that are there, zeros among them; then their scatter about that mean.
template <class S>
void SparseCovariance<S>::find_moments(const CovarianceOptions& options) {
  require_weights(weights_, data_.rows);
  moments_ = sparse_moments(data_, weights_);
  const ColumnWishes wishes{.center = options.center,
                            .standardize = options.standardize,
                            .missing_as_mean = options.missing_as_mean,
                            .weighted = !weights_.empty(),
                            .column_names = options.column_names};
  divisor_ = covariance_divisor(moments_, wishes);
  columns_ = column_rule<S>(moments_, wishes);
  scaled_ = options.standardize;
}

// A column that every row stores is centred entry by entry, so that a large offset cancels nothing.
template <class S>
void SparseCovariance<S>::shift_full_columns() {
  std::vector<Index> stored(static_cast<std::size_t>(data_.cols), 0);
  for (const auto j : data_.columns) ++stored[static_cast<std::size_t>(j)];
  for (Index j = 0; j < data_.cols; ++j)
    if (stored[static_cast<std::size_t>(j)] == data_.rows) shift_(j) = columns_.mean(j);
}

template <class S>
SparseCovariance<S> SparseCovariance<S>::about(Vector<S> mean, CsrView<S> data, Vector<S> scale, bool missing_as_mean) {
  const Index d = data.cols;
  require(mean.size() == d, fmt::format("mean of {} features: must have {}, as the data have", mean.size(), d));
  require(scale.size() == 0 || scale.size() == d,
          fmt::format("scale of {} features: must have {}, as the data have", scale.size(), d));
  const Vector<S> factor = scale.size() > 0 ? Vector<S>(scale.cwiseInverse()) : Vector<S>(Vector<S>::Ones(d));
  return SparseCovariance(data, {.mean = mean, .fill = mean, .factor = factor, .scale = std::move(scale)},
                          missing_as_mean, static_cast<double>(data.rows));
}

template <class S>
SparseCovariance<S> SparseCovariance<S>::of_rows(CsrView<S> rows, std::span<const double> weights) const {
  SparseCovariance part(rows, columns_, missing_, static_cast<double>(rows.rows));
  part.weights_ = weights;
  return part;
}

// (Phi - 1 mu') X: stored entries less their column's shift, then what is left of the mean on every row.
template <class S>
void SparseCovariance<S>::multiply_rows(ConstBlockView<S> X, BlockView<S> out) const {
  const CsrView<S>& data = data_;
  const Vector<S> rest = columns_.mean - shift_;
  const Eigen::Matrix<S, 1, Eigen::Dynamic> constant = rest.transpose() * X;
#pragma omp parallel for schedule(static) \
    num_threads(detail::worth_threads(2.0 * double(data.nonzeros()) * double(X.cols())))
  for (Index i = 0; i < data.rows; ++i) {
    auto row = out.row(i);
    row = -constant;
    for (auto e = data.row_start[i]; e < data.row_start[i + 1]; ++e) {
      const auto j = data.columns[e];
      row += (entry(static_cast<std::size_t>(e), j) - shift_(j)) * X.row(j);
    }
  }
}

template <class S>
void SparseCovariance<S>::scores(ConstBlockView<S> X, BlockView<S> out) const {
  if (!scaled_) return multiply_rows(X, out);
  scaled_block_ = columns_.factor.asDiagonal() * X;
  multiply_rows(scaled_block_, out);
}

// One product of a multiplied entry costs as much as so many columns of it: those of a row of X lie side by side, those
// of a sum are scattered.
constexpr double scattered_beside_product = 4;

// As DenseCovariance::should_form: at once where a solve's products take longer, otherwise after as many products.
template <class S>
bool SparseCovariance<S>::should_form(Index p) const {
  if (formed() || !may_form_) return false;
  const auto d = static_cast<double>(data_.cols);
  if (d * d * sizeof(double) > static_cast<double>(gram_bytes_limit_)) return false;
  const double saved = (2.0 * static_cast<double>(data_.nonzeros()) - d * d) * static_cast<double>(p);
  if (!(saved > 0)) return false;
  const double break_even = scattered_beside_product * outer_multiply_adds_ / saved;
  return (form_at_once_ && break_even <= static_cast<double>(expected_products_)) ||
         static_cast<double>(products_made_) > break_even;
}

// Z'WZ of the entries less their shift; then what is left of the mean, of rank two.
template <class S>
void SparseCovariance<S>::form() const {
  constexpr double most_cancelled = 1e6;  // of a variance's digits
  const Index d = data_.cols;
  try {
    require_memory(static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(d),
                   sizeof(double) + (sizeof(S) < sizeof(double) ? sizeof(S) : 0), "the covariance");
  } catch (const DataError&) {  // products do without it
    may_form_ = false;
    return;
  }
  const auto value = [this](std::size_t e, std::int32_t j) { return static_cast<double>(entry(e, j) - shift_(j)); };
  const auto weight = [this](Index i) { return row_weight(weights_, i); };
  Block<double> sum;
  detail::sparse_outer_products(data_, value, weight, sum);

  Vector<double> columns = Vector<double>::Zero(d);
  double total = 0;
  for (Index i = 0; i < data_.rows; ++i) {
    const double w = weight(i);
    total += w;
    for (auto e = data_.row_start[static_cast<std::size_t>(i)]; e < data_.row_start[static_cast<std::size_t>(i) + 1];
         ++e)
      columns(data_.columns[static_cast<std::size_t>(e)]) +=
          w * value(static_cast<std::size_t>(e), data_.columns[static_cast<std::size_t>(e)]);
  }
  const Vector<double> rest = (columns_.mean - shift_).template cast<double>();
  for (Index j = 0; j < d; ++j) {
    const double before = sum(j, j);
    for (Index k = 0; k < d; ++k)
      sum(j, k) += total * (rest(j) * rest(k)) - (columns(j) * rest(k) + rest(j) * columns(k));
    if (before > most_cancelled * sum(j, j) && rest(j) != 0) {
      may_form_ = false;
      return;
    }
  }
  if (scaled_) {
    const Vector<double> factor = columns_.factor.template cast<double>();
    for (Index j = 0; j < d; ++j) sum.row(j).array() *= factor(j) * factor.transpose().array();
  }
  sum /= divisor_;
  if constexpr (std::is_same_v<S, double>)
    gram_ = std::move(sum);
  else
    gram_ = sum.template cast<S>();
}

template <class S>
std::uint64_t SparseCovariance<S>::position() const {
  return products_made_ | (formed() ? formed_bit : 0);
}

template <class S>
void SparseCovariance<S>::seek(std::uint64_t position) const {
  products_made_ = position & ~formed_bit;
  if ((position & formed_bit) != 0 && !formed()) form();
}

template <class S>
void SparseCovariance<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  if (should_form(X.cols())) form();
  ++products_made_;
  if (formed()) return multiply<S>(borrow(gram_), X, Y);
  const CsrView<S>& data = data_;
  const Index d = data.cols, p = X.cols();
  products_.resize(data.rows, p);
  scores(X, products_);
  if (!weights_.empty())
    for (Index i = 0; i < data.rows; ++i) products_.row(i) *= static_cast<S>(row_weight(weights_, i));

  // Y = Phi_c' U: each task owns a range of features and walks all samples, so that every sum runs in the samples'
  // order.
  const Vector<S> rest = columns_.mean - shift_;
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
        Y.row(*e) += (entry(static_cast<std::size_t>(e - data.columns.begin()), *e) - shift_(*e)) * products_.row(i);
    }
  }
  if (scaled_)
    for (Index j = 0; j < d; ++j) Y.row(j) *= columns_.factor(j);
  Y /= static_cast<S>(divisor_);
}

template <class S>
OperatorFacts SparseCovariance<S>::facts() const {
  return {.positive_semidefinite = true,
          .extra_passes = 1,
          .exact = true,
          .multiply_adds = formed() ? static_cast<double>(data_.cols) * static_cast<double>(data_.cols)
                                    : 2.0 * static_cast<double>(data_.nonzeros())};
}

template <class S>
double SparseCovariance<S>::total_variance() const {
  if (formed() && sizeof(S) == sizeof(double)) return static_cast<double>(gram_.trace());
  const CsrView<S>& data = data_;
  Vector<double> squares = Vector<double>::Zero(data.cols), stored = Vector<double>::Zero(data.cols);
  double total_weight = 0;
  for (Index i = 0; i < data.rows; ++i) {
    const double w = row_weight(weights_, i);
    total_weight += w;
    for (auto e = data.row_start[i]; e < data.row_start[i + 1]; ++e) {
      const auto j = data.columns[e];
      const double centred =
          static_cast<double>(entry(static_cast<std::size_t>(e), j)) - static_cast<double>(columns_.mean(j));
      squares(j) += w * (centred * centred);
      stored(j) += w;
    }
  }
  const Vector<double> means = columns_.mean.template cast<double>();
  squares.array() += (total_weight - stored.array()) * means.array().square();
  if (scaled_) squares.array() *= columns_.factor.template cast<double>().array().square();
  return squares.sum() / divisor_;
}

template class SparseCovariance<float>;
template class SparseCovariance<double>;

}  // namespace hearsay

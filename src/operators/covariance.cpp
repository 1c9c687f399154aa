#include "hearsay/operators/covariance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>
#include <utility>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/threads.hpp"
#include "kernels/kernels.hpp"
#include "linalg/scratch.hpp"
#include "linalg/worth_threads.hpp"

namespace hearsay {

using detail::scratch;
using detail::ScratchUse;

namespace {

// Up to so many features several partial sums of a whole matrix are small beside the data that one forms it of.
constexpr Index few_features = 1024;
constexpr Index formed_rows = 256;  // of samples that are multiplied together when the matrix is formed
constexpr Index sweep_rows = 2048;  // rows of X in one sweep of the multiply kernel, as for dense products

// Rows centred and multiplied together: about a quarter of a megabyte of them, so that B X and B'(B X) both find them
// in cache and the data are read from memory once.
template <class S>
Index rows_per_block(Index d) {
  return std::clamp<Index>((256 << 10) / (static_cast<Index>(sizeof(S)) * std::max<Index>(d, 1)), 8, 128);
}

// Independent partial sums of B'U. Their number depends on the shape alone, never on the threads, so the order of
// summation is fixed; it falls as each sum grows.
Index lanes_for(Index blocks, Index d, Index p) {
  const Index lanes = d * p <= (Index{1} << 19) ? 8 : d * p <= (Index{1} << 23) ? 4 : 2;
  return std::max<Index>(1, std::min(lanes, blocks));
}

// The same for sums that are whole matrices: 32 MiB of them, and each of enough blocks to be worth the last addition.
template <class S>
Index matrix_lanes(Index blocks, Index d) {
  const Index most = std::max<Index>(4, (Index{32} << 20) / (static_cast<Index>(sizeof(S)) * d * d));
  return std::min(blocks, std::clamp<Index>(blocks / 16, 4, most));
}

// In double, in sums enough not to wait for one another.
template <class S>
double sum_of_squares(const S* values, Index count) {
  constexpr Index sums = 8;
  double sum[sums] = {};
  Index i = 0;
  for (; i + sums <= count; i += sums)
    for (Index l = 0; l < sums; ++l) sum[l] += static_cast<double>(values[i + l]) * static_cast<double>(values[i + l]);
  for (; i < count; ++i) sum[0] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

template <class S>
void multiply_swept(Index m, Index n, Index p, const S* A, Index lda, const S* packed, S* Y) {
  const auto& kernel = kernels::table<S>();
  for (Index j = 0; j < n; j += sweep_rows)
    kernel.multiply(m, std::min(sweep_rows, n - j), p, A + j, lda, 1, packed + j * kernels::tile_columns<S>(), n, Y, p,
                    j > 0);
}

// A sum over blocks of rows in fixed lanes: visit(block, sum) adds the block's share to a d x p row-major sum.
template <class S, class Visit>
void sum_over_blocks(Index blocks, Index lanes, BlockView<S> Y, const Visit& visit) {
  const Index size = Y.size();
  S* sums = scratch<S, ScratchUse::partial_sums>(lanes * size);
#pragma omp parallel for schedule(static, 1) num_threads(threads())
  for (Index lane = 0; lane < lanes; ++lane) {
    S* sum = sums + lane * size;
    std::fill_n(sum, size, S(0));
    for (Index block = lane * blocks / lanes; block < (lane + 1) * blocks / lanes; ++block) visit(block, sum);
  }
  Y = Eigen::Map<const Block<S>>(sums, Y.rows(), Y.cols());
  for (Index lane = 1; lane < lanes; ++lane) Y += Eigen::Map<const Block<S>>(sums + lane * size, Y.rows(), Y.cols());
}

template <class S, class Visit>
void sum_over_blocks(Index blocks, BlockView<S> Y, const Visit& visit) {
  sum_over_blocks<S>(blocks, lanes_for(blocks, Y.rows(), Y.cols()), Y, visit);
}

// A power of two that brings the data into the range whose squares are safe; 0 for all ordinary data.
template <class S>
int safe_exponent(S largest) {
  const S limit = std::sqrt(std::sqrt(std::numeric_limits<S>::max()));
  if (!(largest > 0) || (largest < limit && largest > 1 / limit)) return 0;
  constexpr int most = std::numeric_limits<S>::max_exponent - 2;  // its own power of two must be a number, both ways
  return std::clamp(std::ilogb(largest), -most, most);
}

// What a + b loses where it is rounded (Knuth's two-sum).
template <class S>
S rounded_off(S a, S b) {
  const S sum = a + b, part = sum - a;
  return (a - (sum - part)) + (b - part);
}

}  // namespace

template <class S>
DenseCovariance<S>::DenseCovariance(BorrowedBlock<S> data, CovarianceOptions options) : data_(data), options_(options) {
  const Index m = data.rows(), d = data.cols();
  require(m > 0 && d > 0, fmt::format("data of {} x {}: must have at least one row and one column", m, d));
  ruled_ = options.standardize || options.missing_as_mean || !options.weights.empty();
  if (ruled_)
    find_moments();
  else
    find_mean();
  extra_passes_ = 1;
}

template <class S>
DenseCovariance<S>::DenseCovariance(BorrowedBlock<S> data, CovarianceOptions options, ColumnRule<S> columns)
    : data_(data),
      options_(options),
      columns_(std::move(columns)),
      mean_rest_(Vector<S>::Zero(data.cols())),
      divisor_(static_cast<double>(data.rows())) {
  ruled_ = options.missing_as_mean || columns_.scale.size() > 0;
}

// One pass: the largest magnitude, and the mean against a provisional shift (the first row), so that a large common
// offset is subtracted before anything is summed. Each term is divided first, so that the sum cannot overflow.
template <class S>
void DenseCovariance<S>::find_mean() {
  const Index m = data_.rows(), d = data_.cols();
  divisor_ = options_.center ? std::max<double>(1.0, static_cast<double>(m) - 1) : static_cast<double>(m);
  columns_.mean = mean_rest_ = Vector<S>::Zero(d);
  const Index rows = rows_per_block<S>(d), blocks = (m + rows - 1) / rows;
  const Vector<S> provisional = options_.center ? Vector<S>(data_.row(0).transpose()) : columns_.mean;
  const S weight = S(1) / static_cast<S>(m);
  Block<S> sums(2, d);  // the mean's offset, the largest magnitudes
  const Index lanes = lanes_for(blocks, d, 2);
  std::vector<Block<S>> partial(static_cast<std::size_t>(lanes), Block<S>::Zero(2, d));
#pragma omp parallel for schedule(static, 1) num_threads(detail::worth_threads(2.0 * double(m) * double(d)))
  for (Index lane = 0; lane < lanes; ++lane) {
    Block<S>& sum = partial[static_cast<std::size_t>(lane)];
    const Index first = std::min(m, lane * blocks / lanes * rows),
                last = std::min(m, (lane + 1) * blocks / lanes * rows);
    S* __restrict total = sum.data(), * __restrict largest = sum.data() + d;
    const S* __restrict offset = provisional.data();
    for (Index i = first; i < last; ++i) {
      const S* __restrict row = data_.data() + i * data_.outerStride();
      for (Index j = 0; j < d; ++j) {
        const S size = std::abs(row[j]);
        total[j] += weight * (row[j] - offset[j]);
        largest[j] = largest[j] < size ? size : largest[j];
      }
    }
  }
  sums = partial.front();
  for (std::size_t lane = 1; lane < partial.size(); ++lane) {
    sums.row(0) += partial[lane].row(0);
    sums.row(1) = sums.row(1).cwiseMax(partial[lane].row(1));
  }
  if (options_.center) {
    columns_.mean = provisional + sums.row(0).transpose();
    for (Index j = 0; j < d; ++j) mean_rest_(j) = rounded_off(provisional(j), sums(0, j));
  }
  if (!columns_.mean.allFinite() || !sums.allFinite()) {
    require_entries();
    throw DataError("data: a value is so near the largest number that the mean is not finite");
  }
  exponent_ = safe_exponent<S>(sums.row(1).maxCoeff());
}

// One pass too: weighted, and of the entries that are there.
template <class S>
void DenseCovariance<S>::find_moments() {
  const Index m = data_.rows(), d = data_.cols();
  require_weights(options_.weights, m);
  const Index rows = rows_per_block<S>(d), blocks = (m + rows - 1) / rows, lanes = lanes_for(blocks, d, 2);
  std::vector<ColumnMoments> partial(static_cast<std::size_t>(lanes), ColumnMoments(d));
  std::exception_ptr failed;  // for want of memory: none may leave a parallel loop
#pragma omp parallel for schedule(static, 1) num_threads(detail::worth_threads(10.0 * double(m) * double(d)))
  for (Index lane = 0; lane < lanes; ++lane) try {
      const Index first = std::min(m, lane * blocks / lanes * rows),
                  last = std::min(m, (lane + 1) * blocks / lanes * rows);
      const BorrowedBlock<S> own(data_.data() + first * data_.outerStride(), last - first, d,
                                 Eigen::OuterStride<>(data_.outerStride()));
      const auto weights = options_.weights.empty() ? options_.weights
                                                    : options_.weights.subspan(static_cast<std::size_t>(first),
                                                                               static_cast<std::size_t>(last - first));
      partial[static_cast<std::size_t>(lane)].template add<S>(own, weights);
    } catch (...) {
#pragma omp critical(hearsay_column_moments)
      failed = std::current_exception();
    }
  if (failed) std::rethrow_exception(failed);
  moments_ = std::move(partial.front());
  for (std::size_t lane = 1; lane < partial.size(); ++lane) moments_.add(partial[lane]);
  const ColumnWishes wishes{.center = options_.center,
                            .standardize = options_.standardize,
                            .missing_as_mean = options_.missing_as_mean,
                            .weighted = !options_.weights.empty(),
                            .column_names = options_.column_names};
  divisor_ = covariance_divisor(moments_, wishes);
  columns_ = column_rule<S>(moments_, wishes);
  mean_rest_ = Vector<S>::Zero(d);
  if (options_.center) mean_rest_ = (moments_.mean - columns_.mean.template cast<double>()).template cast<S>();
  if (options_.standardize) return;  // whose entries are of ordinary size
  const double largest = std::max(moments_.most.cwiseAbs().maxCoeff(), moments_.least.cwiseAbs().maxCoeff());
  exponent_ = safe_exponent<S>(static_cast<S>(largest));
  columns_.factor *= std::ldexp(S(1), -exponent_);
}

template <class S>
DenseCovariance<S> DenseCovariance<S>::about(Vector<S> mean, BorrowedBlock<S> data, Vector<S> scale,
                                             bool missing_as_mean) {
  const Index d = data.cols();
  require(mean.size() == d, fmt::format("mean of {} features: must have {}, as the data have", mean.size(), d));
  require(scale.size() == 0 || scale.size() == d,
          fmt::format("scale of {} features: must have {}, as the data have", scale.size(), d));
  if (scale.size() == 0 && !missing_as_mean) {
    DenseCovariance A(data, {.center = false});
    A.columns_.mean = std::move(mean);
    A.options_.center = true;
    return A;
  }
  const Vector<S> factor = scale.size() > 0 ? Vector<S>(scale.cwiseInverse()) : Vector<S>(Vector<S>::Ones(d));
  DenseCovariance A(data, {.missing_as_mean = missing_as_mean},
                    {.mean = mean, .fill = mean, .factor = factor, .scale = std::move(scale)});
  A.require_entries();
  return A;
}

template <class S>
void DenseCovariance<S>::require_entries() const {
  for (Index i = 0; i < data_.rows(); ++i)
    for (Index j = 0; j < data_.cols(); ++j) {
      const S value = data_(i, j);
      if (std::isinf(value) || (std::isnan(value) && !options_.missing_as_mean))
        throw DataError(fmt::format("data: row {}, column {} is {}", i + 1, j + 1,
                                    std::isnan(value)
                                        ? "NaN, and missing values are refused; `missing` drop-rows, mean "
                                          "or em says what to do with them"
                                        : "infinite, not a finite number"));
    }
}

template <class S>
S DenseCovariance<S>::row_root(Index i) const {
  if (options_.weights.empty()) return S(1);
  return static_cast<S>(std::sqrt(options_.weights[static_cast<std::size_t>(i)]));
}

// Of row i of 2^-exponent (Phi - 1 mu'), scaled and weighted where that was asked for, so many entries from the first.
template <class S>
void DenseCovariance<S>::prepare_row(Index i, S root, Index first, Index count, S* __restrict out) const {
  const S* __restrict row = data_.data() + i * data_.outerStride() + first;
  const S* __restrict mean = columns_.mean.data() + first, * __restrict rest = mean_rest_.data() + first;
  if (ruled_) {
    const S *fill = columns_.fill.data() + first, *factor = columns_.factor.data() + first;
    for (Index j = 0; j < count; ++j) {
      const S apart = row[j] == row[j] ? row[j] - mean[j] - rest[j] : fill[j] - mean[j];
      out[j] = apart * factor[j] * root;
    }
  } else if (exponent_ == 0) {
    for (Index j = 0; j < count; ++j) out[j] = row[j] - mean[j] - rest[j];
  } else {
    const S scale = std::ldexp(S(1), -exponent_);
    for (Index j = 0; j < count; ++j) out[j] = (row[j] - mean[j] - rest[j]) * scale;
  }
}

// Rows [first, first + rows): in place where nothing is to be done, else in `buffer`.
template <class S>
const S* DenseCovariance<S>::centred_rows(Index first, Index rows, S* buffer, Index& stride, bool weighted) const {
  if (in_place()) {
    stride = data_.outerStride();
    return data_.data() + first * stride;
  }
  stride = data_.cols();
  for (Index i = 0; i < rows; ++i)
    prepare_row(first + i, weighted ? row_root(first + i) : S(1), 0, stride, buffer + i * stride);
  return buffer;
}

template <class S>
void DenseCovariance<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  if (should_form(X.cols())) form();
  ++products_;
  if (formed())
    multiply<S>(borrow(gram_), X, Y);
  else if (options_.by_samples)
    apply_by_samples(X, Y);
  else
    apply_by_features(X, Y);
}

template <class S>
void DenseCovariance<S>::apply_by_features(ConstBlockView<S> X, BlockView<S> Y) const {
  const auto& kernel = kernels::table<S>();
  const Index m = data_.rows(), d = data_.cols(), p = X.cols();
  if (is_wide()) {
    Block<S> U(m, p);
    multiply_rows(X, true, U);
    to_features(U, Y);
    Y /= static_cast<S>(divisor_);
    return;
  }
  const Index rows = rows_per_block<S>(d), padded = kernels::round_up(p, kernels::tile_columns<S>());
  Block<S> X_packed(d, padded);
  kernel.pack(d, p, X.data(), X.outerStride(), X_packed.data());

  sum_over_blocks<S>((m + rows - 1) / rows, Y, [&](Index block, S* sum) {
    const Index first = block * rows, count = std::min(rows, m - first);
    Index stride = 0;
    const S* B = centred_rows(first, count, scratch<S, ScratchUse::centred_rows>(rows * d), stride);
    S* U = scratch<S, ScratchUse::products>(rows * (p + padded));
    multiply_swept<S>(count, d, p, B, stride, X_packed.data(), U);  // U = B X
    S* U_packed = U + rows * p;
    kernel.pack(count, p, U, p, U_packed);
    kernel.multiply(d, count, p, B, 1, stride, U_packed, count, sum, p, true);  // += B'U
  });
  Y /= static_cast<S>(divisor_);
}

template <class S>
void DenseCovariance<S>::to_features(ConstBlockView<S> V, BlockView<S> out) const {
  if (is_wide()) return to_wide_features(V, out);
  const auto& kernel = kernels::table<S>();
  const Index m = data_.rows(), d = data_.cols(), p = V.cols();
  const Index rows = rows_per_block<S>(d), padded = kernels::round_up(p, kernels::tile_columns<S>());
  sum_over_blocks<S>((m + rows - 1) / rows, out, [&](Index block, S* sum) {
    const Index first = block * rows, count = std::min(rows, m - first);
    Index stride = 0;
    const S* B = centred_rows(first, count, scratch<S, ScratchUse::centred_rows>(rows * d), stride);
    S* V_packed = scratch<S, ScratchUse::products>(rows * padded);
    kernel.pack(count, p, V.data() + first * V.outerStride(), V.outerStride(), V_packed);
    kernel.multiply(d, count, p, B, 1, stride, V_packed, count, sum, p, true);
  });
}

template <class S>
void DenseCovariance<S>::apply_by_samples(ConstBlockView<S> X, BlockView<S> Y) const {
  Block<S> features(data_.cols(), X.cols());
  to_features(X, features);
  multiply_rows(features, true, Y);
  Y /= static_cast<S>(divisor_);
}

template <class S>
void DenseCovariance<S>::scores(ConstBlockView<S> X, BlockView<S> out) const {
  multiply_rows(X, false, out);
  if (exponent_ != 0) out *= std::ldexp(S(1), exponent_);
}

// In the operator's scale.
template <class S>
void DenseCovariance<S>::multiply_rows(ConstBlockView<S> X, bool weighted, BlockView<S> out) const {
  const auto& kernel = kernels::table<S>();
  const Index m = data_.rows(), d = data_.cols(), p = X.cols();
  const Index rows = rows_per_block<S>(d), blocks = (m + rows - 1) / rows;
  Block<S> X_packed(d, kernels::round_up(p, kernels::tile_columns<S>()));
  kernel.pack(d, p, X.data(), X.outerStride(), X_packed.data());
#pragma omp parallel for schedule(static) num_threads(detail::worth_threads(double(m) * double(d) * double(p)))
  for (Index block = 0; block < blocks; ++block) {
    const Index first = block * rows, count = std::min(rows, m - first);
    Index stride = 0;
    const S* B = centred_rows(first, count, scratch<S, ScratchUse::centred_rows>(rows * d), stride, weighted);
    S* U = scratch<S, ScratchUse::products>(rows * p);
    multiply_swept<S>(count, d, p, B, stride, X_packed.data(), U);
    out.middleRows(first, count) = Eigen::Map<const Block<S>>(U, count, p);
  }
}

// A product costs 4 m d p operations, forming the matrix dim m d once, at a better speed than narrow blocks have, and
// then 2 dim^2 p: cheaper from dim / (5p) products on. When that is a handful it is formed at once, for hardly a solve
// takes fewer; otherwise after as many products, which costs at most twice the best choice made with hindsight.
template <class S>
bool DenseCovariance<S>::should_form(Index p) const {
  if (formed()) return false;
  const Index n = dim();
  if (static_cast<double>(n) * static_cast<double>(n) * sizeof(S) > static_cast<double>(options_.gram_bytes_limit))
    return false;
  const double break_even = static_cast<double>(n) / (5.0 * static_cast<double>(p));
  return (options_.form_at_once && break_even <= static_cast<double>(options_.expected_products)) ||
         static_cast<double>(products_) > break_even;
}

// The sum over samples of outer products: blocks of samples in turn, strips of the result in parallel.
template <class S>
void DenseCovariance<S>::form_by_strips() const {
  const auto& kernel = kernels::table<S>();
  const Index m = data_.rows(), d = data_.cols();
  constexpr Index tile = kernels::tile_columns<S>(), strip = 4 * tile;
  Block<S> B(formed_rows, d);
  Block<S> packed(formed_rows, kernels::round_up(d, tile));
  const Index strips = (d + strip - 1) / strip, eighth = formed_rows / 8;
  for (Index first = 0; first < m; first += formed_rows) {
    const Index count = std::min(formed_rows, m - first);
    const Index stride = in_place() ? data_.outerStride() : d;
    const S* rows = in_place() ? data_.data() + first * stride : B.data();
#pragma omp parallel for schedule(static) num_threads(threads())
    for (Index i = 0; i < count; i += eighth) {
      Index own_stride = 0;
      centred_rows(first + i, std::min(eighth, count - i), B.data() + i * d, own_stride);
    }
#pragma omp parallel for schedule(static) num_threads(threads())
    for (Index j = 0; j < d; j += tile)
      kernel.pack(count, std::min(tile, d - j), rows + j, stride, packed.data() + j * count);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads())
    for (Index s = 0; s < strips; ++s) {
      const Index top = s * strip;
      kernel.multiply(std::min(strip, d - top), count, d - top, rows + top, 1, stride, packed.data() + top * count,
                      count, gram_.data() + top * d + top, d, true);
    }
  }
}

// Blocks of samples in lanes that each add up a matrix of their own, so that the threads meet once and not three times
// for every block: at 50 features that took five times as long as the arithmetic.
template <class S>
void DenseCovariance<S>::form_by_lanes() const {
  const auto& kernel = kernels::table<S>();
  const Index m = data_.rows(), d = data_.cols(), blocks = (m + formed_rows - 1) / formed_rows;
  constexpr Index tile = kernels::tile_columns<S>();
  const bool single = sizeof(S) < sizeof(double);  // whose trace is no total variance
  std::vector<double> squares(single ? static_cast<std::size_t>(blocks) : 0);
  sum_over_blocks<S>(blocks, matrix_lanes<S>(blocks, d), gram_, [&](Index block, S* sum) {
    const Index first = block * formed_rows, count = std::min(formed_rows, m - first);
    Index stride = 0;
    const S* B = centred_rows(first, count, scratch<S, ScratchUse::centred_rows>(formed_rows * d), stride);
    if (single)
      for (Index i = 0; i < count; ++i) squares[static_cast<std::size_t>(block)] += sum_of_squares(B + i * stride, d);
    S* packed = scratch<S, ScratchUse::products>(formed_rows * kernels::round_up(d, tile));
    kernel.pack(count, d, B, stride, packed);
    for (Index top = 0; top < d; top += tile)
      kernel.multiply(std::min(tile, d - top), count, d - top, B + top, 1, stride, packed + top * count, count,
                      sum + top * d + top, d, true);
  });
  if (single) sum_of_squares_ = std::accumulate(squares.begin(), squares.end(), 0.0);
}

// Each way fills the upper triangle.
template <class S>
void DenseCovariance<S>::form() const {
  const Index n = dim();
  ++extra_passes_;
  if (options_.by_samples) {
    gram_ = samples_matrix().template cast<S>();
    return;
  }
  gram_ = Block<S>::Zero(n, n);
  if (n <= few_features)
    form_by_lanes();
  else
    form_by_strips();
  gram_ /= static_cast<S>(divisor_);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j) gram_(i, j) = gram_(j, i);
}

template <class S>
std::uint64_t DenseCovariance<S>::position() const {
  return products_ | (formed() ? formed_bit : 0);
}

template <class S>
void DenseCovariance<S>::seek(std::uint64_t position) const {
  products_ = position & ~formed_bit;
  if ((position & formed_bit) != 0 && !formed()) form();
}

template <class S>
OperatorFacts DenseCovariance<S>::facts() const {
  const double d = static_cast<double>(dim()), product = 2.0 * double(data_.rows()) * double(data_.cols());
  return {.positive_semidefinite = true,
          .exponent = 2 * exponent_,
          .extra_passes = extra_passes_,
          .exact = true,
          .multiply_adds = formed() ? d * d : product};
}

template <class S>
double DenseCovariance<S>::total_variance() const {
  if (formed() && sizeof(S) == sizeof(double)) return static_cast<double>(gram_.trace());
  if (sum_of_squares_ >= 0) return sum_of_squares_ / divisor_;
  double total = 0;
  const Index m = data_.rows(), d = data_.cols(), rows = rows_per_block<S>(d), blocks = (m + rows - 1) / rows;
  std::vector<double> partial(static_cast<std::size_t>(blocks));
#pragma omp parallel for schedule(static) num_threads(detail::worth_threads(2.0 * double(m) * double(d)))
  for (Index block = 0; block < blocks; ++block) {
    const Index first = block * rows, count = std::min(rows, m - first);
    Index stride = 0;
    const S* B = centred_rows(first, count, scratch<S, ScratchUse::centred_rows>(rows * d), stride);
    double sum = 0;
    for (Index i = 0; i < count; ++i) sum += sum_of_squares(B + i * stride, d);
    partial[static_cast<std::size_t>(block)] = sum;
  }
  for (const double sum : partial) total += sum;
  return total / divisor_;
}

template class DenseCovariance<float>;
template class DenseCovariance<double>;

}  // namespace hearsay

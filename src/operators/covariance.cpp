#include "hearsay/operators/covariance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

template <class S>
void multiply_swept(Index m, Index n, Index p, const S* A, Index lda, const S* packed, S* Y) {
  const auto& kernel = kernels::table<S>();
  for (Index j = 0; j < n; j += sweep_rows)
    kernel.multiply(m, std::min(sweep_rows, n - j), p, A + j, lda, 1, packed + j * kernels::tile_columns<S>(), n, Y, p,
                    j > 0);
}

// A sum over blocks of rows in fixed lanes: visit(block, sum) adds the block's share to a d x p row-major sum.
template <class S, class Visit>
void sum_over_blocks(Index blocks, BlockView<S> Y, const Visit& visit) {
  const Index size = Y.size(), lanes = lanes_for(blocks, Y.rows(), Y.cols());
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

// A power of two that brings the data into the range whose squares are safe; 0 for all ordinary data.
template <class S>
int safe_exponent(S largest) {
  const S limit = std::sqrt(std::sqrt(std::numeric_limits<S>::max()));
  if (!(largest > 0) || (largest < limit && largest > 1 / limit)) return 0;
  constexpr int most = std::numeric_limits<S>::max_exponent - 2;  // its own power of two must be a number, both ways
  return std::clamp(std::ilogb(largest), -most, most);
}

}  // namespace

template <class S>
DenseCovariance<S>::DenseCovariance(BorrowedBlock<S> data, CovarianceOptions options) : data_(data), options_(options) {
  const Index m = data.rows(), d = data.cols();
  require(m > 0 && d > 0, fmt::format("data of {} x {}: must have at least one row and one column", m, d));
  divisor_ = options.center ? std::max<double>(1.0, static_cast<double>(m) - 1) : static_cast<double>(m);
  mean_ = Vector<S>::Zero(d);

  // One pass: the largest magnitude, and the mean against a provisional shift (the first row), so that a large common
  // offset is subtracted before anything is summed. Each term is divided first, so that the sum cannot overflow.
  const Index rows = rows_per_block<S>(d), blocks = (m + rows - 1) / rows;
  const Vector<S> provisional = options.center ? Vector<S>(data.row(0).transpose()) : mean_;
  const S weight = S(1) / static_cast<S>(m);
  Block<S> sums(2, d);  // the mean's offset, the largest magnitudes
  const Index lanes = lanes_for(blocks, d, 2);
  std::vector<Block<S>> partial(static_cast<std::size_t>(lanes), Block<S>::Zero(2, d));
#pragma omp parallel for schedule(static, 1) num_threads(detail::worth_threads(2.0 * double(m) * double(d)))
  for (Index lane = 0; lane < lanes; ++lane) {
    Block<S>& sum = partial[static_cast<std::size_t>(lane)];
    const Index first = std::min(m, lane * blocks / lanes * rows),
                last = std::min(m, (lane + 1) * blocks / lanes * rows);
    for (Index i = first; i < last; ++i) {
      sum.row(0) += weight * (data_.row(i) - provisional.transpose());
      sum.row(1) = sum.row(1).cwiseMax(data_.row(i).cwiseAbs());
    }
  }
  sums = partial.front();
  for (std::size_t lane = 1; lane < partial.size(); ++lane) {
    sums.row(0) += partial[lane].row(0);
    sums.row(1) = sums.row(1).cwiseMax(partial[lane].row(1));
  }
  if (options.center) mean_ = provisional + sums.row(0).transpose();
  if (!mean_.allFinite() || !sums.row(1).allFinite())
    throw DataError("data: a value is not finite, or so near the largest number that its mean is not");
  exponent_ = safe_exponent<S>(sums.row(1).maxCoeff());
  extra_passes_ = 1;
}

template <class S>
DenseCovariance<S> DenseCovariance<S>::about(Vector<S> mean, BorrowedBlock<S> data) {
  require(mean.size() == data.cols(),
          fmt::format("mean of {} features: must have {}, as the data have", mean.size(), data.cols()));
  DenseCovariance A(data, {.center = false});
  A.mean_ = std::move(mean);
  A.options_.center = true;
  return A;
}

// Rows [first, first + rows) of 2^-exponent (Phi - 1 mu'): in place where nothing is to be done, else in `buffer`.
template <class S>
const S* DenseCovariance<S>::centred_rows(Index first, Index rows, S* buffer, Index& stride) const {
  if (!options_.center && exponent_ == 0) {
    stride = data_.outerStride();
    return data_.data() + first * stride;
  }
  const Index d = data_.cols();
  const S scale = std::ldexp(S(1), -exponent_);
  const S* mean = mean_.data();
  stride = d;
  for (Index i = 0; i < rows; ++i) {
    const S* row = data_.data() + (first + i) * data_.outerStride();
    S* out = buffer + i * d;
    if (exponent_ == 0) {
      for (Index j = 0; j < d; ++j) out[j] = row[j] - mean[j];
    } else {
      for (Index j = 0; j < d; ++j) out[j] = (row[j] - mean[j]) * scale;
    }
  }
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
  scores(features, Y);
  Y *= static_cast<S>(std::ldexp(1.0 / divisor_, -exponent_));
}

template <class S>
void DenseCovariance<S>::scores(ConstBlockView<S> X, BlockView<S> out) const {
  const auto& kernel = kernels::table<S>();
  const Index m = data_.rows(), d = data_.cols(), p = X.cols();
  const Index rows = rows_per_block<S>(d), blocks = (m + rows - 1) / rows;
  Block<S> X_packed(d, kernels::round_up(p, kernels::tile_columns<S>()));
  kernel.pack(d, p, X.data(), X.outerStride(), X_packed.data());
#pragma omp parallel for schedule(static) num_threads(threads())
  for (Index block = 0; block < blocks; ++block) {
    const Index first = block * rows, count = std::min(rows, m - first);
    Index stride = 0;
    const S* B = centred_rows(first, count, scratch<S, ScratchUse::centred_rows>(rows * d), stride);
    S* U = scratch<S, ScratchUse::products>(rows * p);
    multiply_swept<S>(count, d, p, B, stride, X_packed.data(), U);
    out.middleRows(first, count) = std::ldexp(S(1), exponent_) * Eigen::Map<const Block<S>>(U, count, p);
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
  return (break_even <= 9 && options_.form_at_once) || static_cast<double>(products_) > break_even;
}

template <class S>
void DenseCovariance<S>::form() const {
  const auto& kernel = kernels::table<S>();
  const Index m = data_.rows(), d = data_.cols(), n = dim();
  constexpr Index tile = kernels::tile_columns<S>();
  gram_ = Block<S>::Zero(n, n);
  if (options_.by_samples) {
    // Entry (i, j) is the product of rows i and j. Blocks of columns are independent of one another.
    constexpr Index width = 64;
    const Index blocks = (m + width - 1) / width;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads())
    for (Index block = 0; block < blocks; ++block) {
      const Index first = block * width, count = std::min(width, m - first);
      Index stride = 0;
      S* buffer = scratch<S, ScratchUse::centred_rows>(width * d);
      const S* B = centred_rows(first, count, buffer, stride);
      const Block<S> transposed =
          Eigen::Map<const Block<S>, 0, Eigen::OuterStride<>>(B, count, d, Eigen::OuterStride<>(stride)).transpose();
      Block<S> packed(d, kernels::round_up(count, tile));
      kernel.pack(d, count, transposed.data(), count, packed.data());
      for (Index top = 0; top <= first; top += width) {
        const Index rows = std::min(width, m - top);
        const S* A = centred_rows(top, rows, buffer, stride);
        for (Index j = 0; j < d; j += sweep_rows)
          kernel.multiply(rows, std::min(sweep_rows, d - j), count, A + j, stride, 1, packed.data() + j * tile, d,
                          gram_.data() + top * n + first, n, j > 0);
      }
    }
  } else {
    // The sum over samples of outer products: blocks of samples in turn, strips of the result in parallel.
    constexpr Index sample_rows = 256, strip = 4 * tile;
    Block<S> B(sample_rows, d);
    Block<S> packed(sample_rows, kernels::round_up(d, tile));
    const Index strips = (d + strip - 1) / strip, eighth = sample_rows / 8;
    for (Index first = 0; first < m; first += sample_rows) {
      const Index count = std::min(sample_rows, m - first);
      const bool in_place = !options_.center && exponent_ == 0;
      const Index stride = in_place ? data_.outerStride() : d;
      const S* rows = in_place ? data_.data() + first * stride : B.data();
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
                        count, gram_.data() + top * n + top, n, true);
      }
    }
  }
  gram_ /= static_cast<S>(divisor_);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j) gram_(i, j) = gram_(j, i);
  ++extra_passes_;
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
  double total = 0;
  const Index m = data_.rows(), d = data_.cols(), rows = rows_per_block<S>(d), blocks = (m + rows - 1) / rows;
  std::vector<double> partial(static_cast<std::size_t>(blocks));
#pragma omp parallel for schedule(static) num_threads(threads())
  for (Index block = 0; block < blocks; ++block) {
    const Index first = block * rows, count = std::min(rows, m - first);
    Index stride = 0;
    const S* B = centred_rows(first, count, scratch<S, ScratchUse::centred_rows>(rows * d), stride);
    double sum = 0;
    for (Index i = 0; i < count; ++i)
      for (Index j = 0; j < d; ++j)
        sum += static_cast<double>(B[i * stride + j]) * static_cast<double>(B[i * stride + j]);
    partial[static_cast<std::size_t>(block)] = sum;
  }
  for (const double sum : partial) total += sum;
  return total / divisor_;
}

template class DenseCovariance<float>;
template class DenseCovariance<double>;

}  // namespace hearsay

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/linalg.hpp"
#include "kernels/kernels.hpp"
#include "linalg/scratch.hpp"
#include "linalg/worth_threads.hpp"

namespace hearsay {

using detail::scratch;
using detail::ScratchUse;
using detail::worth_threads;

namespace {

// Rows of A handled together and rows of X in one sweep: a strip of A (16 x 2048) and a tile of X (2048 x 128 bytes)
// share the second-level cache.
constexpr Index strip_rows = 16;
constexpr Index sweep_rows = 2048;

// Terms from which on a sum along a row of A is worth adding up the lanes of a vector at its end.
constexpr Index narrow_terms = 128;

// Rows summed into one partial Gram matrix. Fixed, so that the order of summation is.
constexpr Index gram_rows = 1024;

// Rows of the momentum step taken together: X_{t-1} R^{-1} of so many stays in cache until it is subtracted.
constexpr Index momentum_rows = 128;

// Partial sums over fixed chunks of rows, then added in order: term(chunk_first, chunk_rows, sum) fills `size` numbers.
template <class S, class Term>
void ordered_sum(Index rows, Index size, [[maybe_unused]] double multiply_adds, S* total, const Term& term) {
  const Index chunks = std::max<Index>(1, (rows + gram_rows - 1) / gram_rows);
  S* partial = scratch<S, ScratchUse::partial_sums>(chunks * size);
#pragma omp parallel for schedule(static) num_threads(worth_threads(multiply_adds))
  for (Index c = 0; c < chunks; ++c) {
    const Index first = c * gram_rows;
    term(first, std::min(gram_rows, rows - first), partial + c * size);
  }
  constexpr Index slice = 256;
#pragma omp parallel for schedule(static) num_threads(worth_threads(double(chunks) * double(size)))
  for (Index first = 0; first < size; first += slice) {
    const Index last = std::min(size, first + slice);
    std::copy(partial + first, partial + last, total + first);
    for (Index c = 1; c < chunks; ++c)
      for (Index i = first; i < last; ++i) total[i] += partial[c * size + i];
  }
}

// The upper triangle of X'X, and what lies below it in the same tiles of columns; zero elsewhere.
template <class S>
void upper_gram(Index rows, Index p, const S* X, Index ldx, S* G) {
  const auto& kernel = kernels::table<S>();
  constexpr Index tile = kernels::tile_columns<S>();
  S* packed = scratch<S, ScratchUse::packed>(gram_rows * kernels::round_up(p, tile));
  kernel.pack(rows, p, X, ldx, packed);
  std::fill_n(G, p * p, S(0));
  for (Index c = 0; c < p; c += tile)
    kernel.multiply(std::min(p, c + tile), rows, std::min(tile, p - c), X, 1, ldx, packed + c * rows, rows, G + c, p,
                    false);
}

template <class S>
Small<S> mirrored(const Block<S>& upper) {
  return upper.template selfadjointView<Eigen::Upper>();
}

}  // namespace

template <class S>
void multiply(const BorrowedBlock<S>& A, ConstBlockView<S> X, BlockView<S> out) {
  const auto& kernel = kernels::table<S>();
  const Index m = A.rows(), n = A.cols(), p = X.cols();
  const bool narrow = p <= kernel.narrow_columns && n >= narrow_terms;
  S* packed = scratch<S, ScratchUse::packed>(std::max<Index>(1, n) * kernels::round_up(p, kernels::tile_columns<S>()));
  if (narrow)
    Eigen::Map<Small<S>>(packed, n, p) = X;  // a column is contiguous
  else
    kernel.pack(n, p, X.data(), X.outerStride(), packed);

  const Index strips = (m + strip_rows - 1) / strip_rows;
  const Index lda = A.outerStride(), ldy = out.outerStride();
  const S* a = A.data();
  S* y = out.data();
#pragma omp parallel for schedule(static) num_threads(worth_threads(double(m) * double(n) * double(p)))
  for (Index s = 0; s < strips; ++s) {
    const Index first = s * strip_rows, rows = std::min(strip_rows, m - first);
    for (Index j = 0; j < n || j == 0; j += sweep_rows) {
      const Index count = std::min(sweep_rows, n - j);
      if (narrow)
        kernel.multiply_narrow(rows, count, p, a + first * lda + j, lda, packed + j, n, y + first * ldy, ldy, j > 0);
      else
        kernel.multiply(rows, count, p, a + first * lda + j, lda, 1, packed + j * kernels::tile_columns<S>(), n,
                        y + first * ldy, ldy, j > 0);
    }
  }
}

template <class S>
void multiply(ConstBlockView<S> X, const Small<S>& M, BlockView<S> out) {
  const Block<S> rows = M;
  multiply<S>(BorrowedBlock<S>(X.data(), X.rows(), X.cols(), Eigen::OuterStride<>(X.outerStride())), rows, out);
}

template <class S>
Small<S> gram(ConstBlockView<S> X, ConstBlockView<S> Y) {
  const auto& kernel = kernels::table<S>();
  const Index p = X.cols(), q = Y.cols();
  Block<S> G(p, q);
  const Index padded = kernels::round_up(q, kernels::tile_columns<S>());
  ordered_sum<S>(X.rows(), p * q, double(X.rows()) * double(p) * double(q), G.data(),
                 [&](Index first, Index rows, S* sum) {
                   S* packed = scratch<S, ScratchUse::packed>(gram_rows * padded);
                   kernel.pack(rows, q, Y.data() + first * Y.outerStride(), Y.outerStride(), packed);
                   kernel.multiply(p, rows, q, X.data() + first * X.outerStride(), 1, X.outerStride(), packed, rows,
                                   sum, q, false);
                 });
  return G;
}

template <class S>
Small<S> gram(ConstBlockView<S> X) {
  const Index p = X.cols();
  Block<S> G(p, p);
  ordered_sum<S>(X.rows(), p * p, double(X.rows()) * double(p * p) / 2, G.data(), [&](Index first, Index rows, S* sum) {
    upper_gram<S>(rows, p, X.data() + first * X.outerStride(), X.outerStride(), sum);
  });
  return mirrored(G);
}

template <class S>
Small<S> solve_right_and_gram(const Small<S>& R, BlockView<S> Z) {
  const auto& kernel = kernels::table<S>();
  const Block<S> R_rows = R;
  const Index p = Z.cols(), ldz = Z.outerStride();
  S* z = Z.data();
  Block<S> G(p, p);
  ordered_sum<S>(Z.rows(), p * p, double(Z.rows()) * double(p * p), G.data(), [&](Index first, Index rows, S* sum) {
    kernel.solve_right(rows, p, R_rows.data(), z + first * ldz, ldz, z + first * ldz, ldz);
    upper_gram<S>(rows, p, z + first * ldz, ldz, sum);
  });
  return mirrored(G);
}

template <class S>
void accumulate_transposed(const BorrowedBlock<S>& B, ConstBlockView<S> U, BlockView<S> Y) {
  const auto& kernel = kernels::table<S>();
  const Index m = B.rows(), d = B.cols(), p = U.cols();
  S* packed = scratch<S, ScratchUse::packed>(std::max<Index>(1, m) * kernels::round_up(p, kernels::tile_columns<S>()));
  kernel.pack(m, p, U.data(), U.outerStride(), packed);

  const Index strips = (d + strip_rows - 1) / strip_rows;
  const Index ldb = B.outerStride(), ldy = Y.outerStride();
  const S* b = B.data();
  S* y = Y.data();
#pragma omp parallel for schedule(static) num_threads(worth_threads(double(m) * double(d) * double(p)))
  for (Index s = 0; s < strips; ++s) {
    const Index first = s * strip_rows;
    kernel.multiply(std::min(strip_rows, d - first), m, p, b + first, 1, ldb, packed, m, y + first * ldy, ldy, true);
  }
}

template <class S>
S frobenius_norm(ConstBlockView<S> X) {
  const auto root_of_squares = [&](S scale) {
    S total = 0;
    ordered_sum<S>(X.rows(), 1, double(X.size()), &total, [&](Index first, Index rows, S* sum) {
      *sum =
          scale == S(1) ? X.middleRows(first, rows).squaredNorm() : (X.middleRows(first, rows) / scale).squaredNorm();
    });
    return std::sqrt(total);
  };
  const S norm = root_of_squares(S(1));
  const S least = std::sqrt(std::numeric_limits<S>::min()) / std::numeric_limits<S>::epsilon();
  if (std::isfinite(norm) && norm > least) return norm;
  // Again, scaled by the largest entry, so that neither 1e300 nor 1e-300 is lost in the square.
  const S largest = X.size() == 0 ? S(0) : X.cwiseAbs().maxCoeff();
  if (!(largest > 0) || !std::isfinite(largest)) return largest;
  return largest * root_of_squares(largest);
}

template <class S>
bool all_finite(ConstBlockView<S> X) {
  const auto& kernel = kernels::table<S>();
  const Index chunks = (X.rows() + gram_rows - 1) / gram_rows, ldx = X.outerStride();
  const S* x = X.data();
  bool finite = true;
#pragma omp parallel for schedule(static) num_threads(worth_threads(double(X.size()))) reduction(&& : finite)
  for (Index c = 0; c < chunks; ++c)
    finite = finite &&
             kernel.all_finite(std::min(gram_rows, X.rows() - c * gram_rows), X.cols(), x + c * gram_rows * ldx, ldx);
  return finite;
}

template <class S>
void solve_right(const Small<S>& R, BlockView<S> Z) {
  const auto& kernel = kernels::table<S>();
  const Block<S> R_rows = R;
  const Index p = Z.cols(), chunks = (Z.rows() + gram_rows - 1) / gram_rows, ldz = Z.outerStride();
  S* z = Z.data();
#pragma omp parallel for schedule(static) num_threads(worth_threads(double(Z.rows()) * double(p * p)))
  for (Index c = 0; c < chunks; ++c)
    kernel.solve_right(std::min(gram_rows, Z.rows() - c * gram_rows), p, R_rows.data(), z + c * gram_rows * ldz, ldz,
                       z + c * gram_rows * ldz, ldz);
}

template <class S>
void subtract_momentum(S shift, ConstBlockView<S> X, S beta, ConstBlockView<S> X_prev, const Small<S>& R,
                       BlockView<S> Y) {
  const auto& kernel = kernels::table<S>();
  const Block<S> R_rows = R;
  const Index p = Y.cols(), chunks = (Y.rows() + momentum_rows - 1) / momentum_rows;
  const Index ldx = X.outerStride(), ldz = X_prev.outerStride(), ldy = Y.outerStride();
  const S* x = X.data();
  const S* x_prev = X_prev.data();
  S* y = Y.data();
#pragma omp parallel for schedule(static) num_threads(worth_threads(double(Y.rows()) * double(p * p)))
  for (Index c = 0; c < chunks; ++c) {
    const Index first = c * momentum_rows, rows = std::min(momentum_rows, Y.rows() - first);
    const S* z = x_prev + first * ldz;
    Index stride = ldz;
    if (beta != S(0)) {
      S* solved = scratch<S, ScratchUse::products>(momentum_rows * p);
      kernel.solve_right(rows, p, R_rows.data(), z, ldz, solved, p);
      z = solved;
      stride = p;
    }
    kernel.subtract(rows, p, shift, x + first * ldx, ldx, beta, z, stride, y + first * ldy, ldy);
  }
}

template <class S>
void subtract_momentum(S shift, ConstBlockView<S> X, S beta, ConstBlockView<S> X_prev, BlockView<S> Y) {
  const auto& kernel = kernels::table<S>();
  const Index p = Y.cols(), chunks = (Y.rows() + gram_rows - 1) / gram_rows;
  const Index ldx = X.outerStride(), ldz = X_prev.outerStride(), ldy = Y.outerStride();
  const S *x = X.data(), *z = X_prev.data();
  S* y = Y.data();
#pragma omp parallel for schedule(static) num_threads(worth_threads(double(Y.size())))
  for (Index c = 0; c < chunks; ++c) {
    const Index first = c * gram_rows, rows = std::min(gram_rows, Y.rows() - first);
    kernel.subtract(rows, p, shift, x + first * ldx, ldx, beta, z + first * ldz, ldz, y + first * ldy, ldy);
  }
}

const char* kernel_name() { return kernels::table<double>().name; }

template void multiply<float>(const BorrowedBlock<float>&, ConstBlockView<float>, BlockView<float>);
template void multiply<double>(const BorrowedBlock<double>&, ConstBlockView<double>, BlockView<double>);
template void multiply<float>(ConstBlockView<float>, const Small<float>&, BlockView<float>);
template void multiply<double>(ConstBlockView<double>, const Small<double>&, BlockView<double>);
template Small<float> gram<float>(ConstBlockView<float>, ConstBlockView<float>);
template Small<double> gram<double>(ConstBlockView<double>, ConstBlockView<double>);
template void accumulate_transposed<float>(const BorrowedBlock<float>&, ConstBlockView<float>, BlockView<float>);
template void accumulate_transposed<double>(const BorrowedBlock<double>&, ConstBlockView<double>, BlockView<double>);
template float frobenius_norm<float>(ConstBlockView<float>);
template double frobenius_norm<double>(ConstBlockView<double>);
template bool all_finite<float>(ConstBlockView<float>);
template bool all_finite<double>(ConstBlockView<double>);
template void solve_right<float>(const Small<float>&, BlockView<float>);
template void solve_right<double>(const Small<double>&, BlockView<double>);
template void subtract_momentum<float>(float, ConstBlockView<float>, float, ConstBlockView<float>, BlockView<float>);
template void subtract_momentum<double>(double, ConstBlockView<double>, double, ConstBlockView<double>,
                                        BlockView<double>);
template Small<float> gram<float>(ConstBlockView<float>);
template Small<double> gram<double>(ConstBlockView<double>);
template Small<float> solve_right_and_gram<float>(const Small<float>&, BlockView<float>);
template Small<double> solve_right_and_gram<double>(const Small<double>&, BlockView<double>);
template void subtract_momentum<float>(float, ConstBlockView<float>, float, ConstBlockView<float>, const Small<float>&,
                                       BlockView<float>);
template void subtract_momentum<double>(double, ConstBlockView<double>, double, ConstBlockView<double>,
                                        const Small<double>&, BlockView<double>);

}  // namespace hearsay

// Products and sums of blocks: threaded, without allocation once warm, and the same to the last bit for any number of
// threads, because each output number is one sum in one fixed order.
#pragma once

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

/// out <- A X, for any row-major A (m x n) and block X (n x p).
template <class S>
HEARSAY_API void multiply(const BorrowedBlock<S>& A, ConstBlockView<S> X, BlockView<S> out);

/// out <- X M, a block times a small matrix.
template <class S>
HEARSAY_API void multiply(ConstBlockView<S> X, const Small<S>& M, BlockView<S> out);

/// X'Y.
template <class S>
HEARSAY_API Small<S> gram(ConstBlockView<S> X, ConstBlockView<S> Y);

/// X'X, exactly symmetric: half the work of gram(X, X), the same bits.
template <class S>
HEARSAY_API Small<S> gram(ConstBlockView<S> X);

/// Y <- Y + B'U, for any row-major B (m x d) and block U (m x p).
template <class S>
HEARSAY_API void accumulate_transposed(const BorrowedBlock<S>& B, ConstBlockView<S> U, BlockView<S> Y);

/// ||X||_F.
template <class S>
HEARSAY_API S frobenius_norm(ConstBlockView<S> X);

/// Y <- Y - shift X - beta X_prev R^{-1}, R upper triangular: the momentum step.
template <class S>
HEARSAY_API void subtract_momentum(S shift, ConstBlockView<S> X, S beta, ConstBlockView<S> X_prev, const Small<S>& R,
                                   BlockView<S> Y);

/// Y <- Y - shift X - beta X_prev: the same between two QRs.
template <class S>
HEARSAY_API void subtract_momentum(S shift, ConstBlockView<S> X, S beta, ConstBlockView<S> X_prev, BlockView<S> Y);

/// Z <- Z R^{-1}, R upper triangular and non-singular.
template <class S>
HEARSAY_API void solve_right(const Small<S>& R, BlockView<S> Z);

/// The same, and Z'Z of what it gives, in one pass over Z.
template <class S>
HEARSAY_API Small<S> solve_right_and_gram(const Small<S>& R, BlockView<S> Z);

/// Makes the largest-magnitude entry of each column positive (the first one, where several tie).
template <class S>
HEARSAY_API void canonical_signs(BlockView<S> X);

/// Eigenvalues, descending, and eigenvectors of the symmetric part of H.
template <class S>
struct SmallEigen {
  Vector<S> values;
  Small<S> vectors;
};
template <class S>
HEARSAY_API SmallEigen<S> symmetric_eigen(const Small<S>& H);

/// The spectral norm of a block, through its Gram matrix.
template <class S>
HEARSAY_API S spectral_norm(ConstBlockView<S> X);

/// Whether every entry is finite.
template <class S>
HEARSAY_API bool all_finite(ConstBlockView<S> X);

/// Which compiled loops serve this processor: "avx512", "avx2" or "generic".
HEARSAY_API const char* kernel_name();

}  // namespace hearsay

// Thin QR of a tall block, by a ladder: CholeskyQR in one pass, in two, shifted, and Householder at the bottom. Each
// rung is chosen by the measured conditioning of R and checked before it is used.
#pragma once

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

enum class QrMethod { cholesky, cholesky_twice, cholesky_shifted, householder };

template <class S>
struct QrReport {
  QrMethod method = QrMethod::cholesky;
  S condition = 1;              ///< an upper estimate of cond(R) with its columns scaled to unit norm
  bool rank_deficient = false;  ///< R is singular to working precision: R^{-1} must not be used
};

/// Y = X R in place: Y becomes X (orthonormal columns), R is upper triangular with a non-negative diagonal.
/// Where Y is rank deficient X is still orthonormal. Y must be finite, with at least as many rows as columns.
template <class S>
HEARSAY_API QrReport<S> thin_qr(BlockView<S> Y, Small<S>& R);

}  // namespace hearsay

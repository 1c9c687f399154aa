// From a block and its product to the k columns a user gets, their Ritz values and their residual.
#pragma once

#include "hearsay/linalg.hpp"
#include "hearsay/power.hpp"

namespace hearsay::detail {

template <class S>
struct Extracted {
  Block<S> V;                    ///< d x k, orthonormal
  Block<S> AV;                   ///< A V, then A V - V Theta once the residual is taken
  Vector<S> theta;               ///< k Ritz values, descending
  double residual = 0;           ///< ||A V - V Theta||_F / ||A V||_F, and 0 for a product that is zero
  double absolute_residual = 0;  ///< ||A V - V Theta||_F
};

/// The rotation (p x k) from X's columns to the answer's: the leading eigenvectors of H, or of its leading k x k part.
template <class S>
SmallEigen<S> extraction_rotation(const Small<S>& H, const SmallEigen<S>& ritz, Index k, Extraction extraction);

/// V = X Q, its residual from Y = A X; `out` keeps its memory between calls.
template <class S>
void extract(ConstBlockView<S> X, ConstBlockView<S> Y, const SmallEigen<S>& rotation, Extracted<S>& out);

/// The same for a basis V on its own, with a product of its own: what a result may claim.
template <class S>
Extracted<S> measure(OperatorRef<S> A, const Block<S>& V, int exponent);

/// Y <- 2^-exponent Y.
template <class S>
void rescale(BlockView<S> Y, int exponent);

}  // namespace hearsay::detail

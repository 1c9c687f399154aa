// From a block and its product to the k columns a user gets, their Ritz values and their residual.
#pragma once

#include "hearsay/linalg.hpp"
#include "hearsay/power.hpp"

namespace hearsay::detail {

template <class S>
struct Extracted {
  Block<S> V;                    ///< orthonormal; the first k columns are the answer
  Vector<S> theta;               ///< Ritz values, descending
  Vector<double> residuals;      ///< ||A v - theta v|| of each column
  double residual = 0;           ///< ||A V - V Theta||_F / ||A V||_F of the first k, and 0 for a product that is zero
  double absolute_residual = 0;  ///< ||A V - V Theta||_F of the first k
};

/// The rotation from X's columns to the answer's: all p eigenvectors of H, or the k of its leading k x k part.
template <class S>
SmallEigen<S> extraction_rotation(const Small<S>& H, const SmallEigen<S>& ritz, Index k, Extraction extraction);

/// V = X Q, its residuals from Y = A X; `out` keeps its memory between calls.
template <class S>
void extract(ConstBlockView<S> X, ConstBlockView<S> Y, const SmallEigen<S>& rotation, Index k, Extracted<S>& out);

/// The Ritz values and residuals that extract() finds, from the Gram matrix of Y alone and without V; false where a
/// wanted residual is so small that rounding hides it.
template <class S>
bool residuals_from_gram(const SmallEigen<S>& rotation, ConstBlockView<S> Y, Index k, Extracted<S>& out);

/// What is known of sin(theta_k) for the leading k of p Ritz vectors, from their residuals r and values theta: a Ritz
/// vector's error outside the block is at most r_i / (theta_i - nu), nu the largest eigenvalue that the block has left
/// out, and the Galerkin condition lets it back into the other columns only through their own residuals. nu is not
/// known; the last Ritz values lie below what they stand for, so the one halfway from k to p is taken, or `damped`
/// where that is larger. 1 where nothing is known.
double sine_estimate(const Vector<double>& theta, const Vector<double>& residuals, Index k, double damped);

/// The same for a basis V on its own, with a product of its own: what a result may claim.
template <class S>
Extracted<S> measure(OperatorRef<S> A, ConstBlockView<S> V, int exponent);

}  // namespace hearsay::detail

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
  double residual = 0;           ///< relative_residual() of the first k; 0 for a product that is zero
  double absolute_residual = 0;  ///< ||A V - V Theta||_F of the first k
};

/// What a residual is relative to: ||(A - shift I) V||_F, because a multiple of the identity in A makes no residual
/// smaller; but at least `least`, because eigenvalues at one end may all be zero beside the other.
struct ResidualScale {
  double shift = 0, least = 0;
};
ResidualScale residual_scale(const OperatorFacts& facts, int exponent, double norm_seen = 0);
double relative_residual(const Vector<double>& theta, const ResidualScale& scale, double absolute);

/// The rotation from X's columns to the answer's: all p eigenvectors of H, or the k of its leading k x k part.
template <class S>
SmallEigen<S> extraction_rotation(const Small<S>& H, const SmallEigen<S>& ritz, Index k, Extraction extraction);

/// V = X Q, its residuals from Y = A X; `out` keeps its memory between calls.
template <class S>
void extract(ConstBlockView<S> X, ConstBlockView<S> Y, const SmallEigen<S>& rotation, Index k,
             const ResidualScale& scale, Extracted<S>& out);

/// The Ritz values and residuals that extract() finds, from the Gram matrix of Y alone and without V; false where a
/// wanted residual is so small that rounding hides it.
template <class S>
bool residuals_from_gram(const SmallEigen<S>& rotation, ConstBlockView<S> Y, Index k, const ResidualScale& scale,
                         Extracted<S>& out);

/// extract() for a basis V on its own, with a product of its own: what a result may claim. `norm_seen`, in the scale of
/// the exponent, is what the norm of A is at least.
template <class S>
Extracted<S> measure(OperatorRef<S> A, ConstBlockView<S> V, int exponent, double norm_seen = 0);

/// The scale of a matrix, by its products Y and that of one random column: a start that was given may be taken to
/// nothing, and says little then. One pass and one product more.
struct FirstScale {
  int exponent = 0;
  double frobenius = 0;  ///< ||A||_F, about, in this scale
};
template <class S>
FirstScale scale_with_random_column(OperatorRef<S> A, ConstBlockView<S> Y, std::uint64_t seed);

/// What rounding does to products with these columns, measured: A (V Q) against (A V) Q for a random turn Q. Rounding
/// that is alike in every column, as on eigenvectors of entries +-1, is not alike after the turn. Two passes.
template <class S>
double measured_rounding(OperatorRef<S> A, ConstBlockView<S> V, int exponent, std::uint64_t seed);

}  // namespace hearsay::detail

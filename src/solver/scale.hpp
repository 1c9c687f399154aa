// The scale of a matrix: solved as 2^-exponent A where squares of its entries would be lost, told in A's own.
#pragma once

#include "hearsay/error.hpp"
#include "hearsay/power.hpp"

namespace hearsay::detail {

/// 0, unless the product Y is so large or small that squares of it leave the number type's range.
template <class S>
int exponent_for(ConstBlockView<S> Y);

/// Y <- 2^-exponent Y.
template <class S>
void rescale(BlockView<S> Y, int exponent);

/// What was measured on 2^-exponent A, as it is of A.
HistoryEntry unscaled(HistoryEntry entry, int exponent);

/// result.eigenvalues <- 2^exponent theta; where that overflows or vanishes, theta, and result.exponent and a note say
/// so.
template <class S>
void set_eigenvalues(PowerResult<S>& result, const Vector<S>& theta, int exponent);

/// The refusal of a matrix with a negative eigenvalue, with what was spent until it was met.
struct NegativeEigenvalue : DataError {
  NegativeEigenvalue(const std::string& message, double least_met) : DataError(message), least(least_met) {}
  double least;  ///< the Rayleigh quotient
  Index products = 0, passes = 0;
};

/// A Rayleigh quotient below zero, by more than `slack`, proves a negative eigenvalue.
void require_no_negative_eigenvalue(double least, double slack, int exponent, Index products, Index passes);

/// What rounding may leave of a product where the matrix is so much larger than the block shows; infinite bounds say
/// nothing.
double slack_of_norm(double norm_bound, double epsilon, int exponent);

}  // namespace hearsay::detail

// The direct way: the matrix is formed, tridiagonalised, and all its eigenvalues are found, so that there is nothing to
// miss; then the eigenvectors that are wanted. For matrices of a few hundred rows, or where many eigenvectors are
// wanted.
#pragma once

#include <optional>

#include "hearsay/power.hpp"
#include "linalg/small_spectrum.hpp"

namespace hearsay::detail {

/// A symmetric matrix that somebody formed: up to rounding 2^-exponent times what A's products would make.
struct FormedMatrix {
  Block<double> matrix = {};
  double rounding = 0;       ///< the most that forming it may have changed, as a Frobenius norm
  OperatorFacts facts = {};  ///< of A, whose own exponent comes on top
  int exponent = 0;
  Index products = 0, passes = 0;
  std::optional<SmallSpectrum<double>> spectrum = {};  ///< of the matrix, where it is known already

  int total_exponent() const { return exponent + facts.exponent; }
};

/// All eigenvalues of a formed matrix, on as many threads as that is worth.
SmallSpectrum<double> spectrum_of(const Block<double>& matrix);

/// In the order high end, low end, each from outside, where both are wanted.
template <class S>
PowerResult<S> direct_solve(const FormedMatrix& A, const PowerOptions& options, const Hooks<S>& hooks);

/// A is formed by its products with the identity.
template <class S>
PowerResult<S> direct_solve(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks);

}  // namespace hearsay::detail

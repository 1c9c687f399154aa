// Problems with known answers, and independent ways to check one.
#pragma once

#include <hearsay/block.hpp>
#include <vector>

namespace hearsay::test {

/// A = U diag(eigenvalues) U', with U a random orthogonal matrix.
struct Planted {
  Block<double> A;             ///< d x d
  Block<double> U;             ///< d x d, column j belongs to eigenvalues[j]
  Vector<double> eigenvalues;  ///< descending

  Block<double> top(Index k) const { return U.leftCols(k); }
};

Planted planted_spectrum(std::vector<double> eigenvalues, std::uint64_t seed);

/// The paper's instance: lambda_1..lambda_k = 1, lambda_{k+1} = 1 - gap, then 0.5.
std::vector<double> paper_spectrum(Index d, Index k, double gap);

/// sin of the largest principal angle between range(U) and range(X), by Eigen's own factorisations alone.
double reference_sin_theta(const Block<double>& U, const Block<double>& X);

}  // namespace hearsay::test

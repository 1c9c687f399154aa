#include "support/planted.hpp"

#include <algorithm>
#include <random>

#include "support/reference.hpp"

namespace hearsay::test {

Planted planted_spectrum(std::vector<double> eigenvalues, std::uint64_t seed) {
  std::sort(eigenvalues.begin(), eigenvalues.end(), std::greater<>());
  const auto d = static_cast<Index>(eigenvalues.size());
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  const Dense gaussian = Dense::NullaryExpr(d, d, [&] { return normal(generator); });
  const Dense U = reference_orthonormal(gaussian);
  const Vector<double> values = Eigen::Map<const Vector<double>>(eigenvalues.data(), d);
  const Dense A = U * values.asDiagonal() * U.transpose();
  return {.A = 0.5 * (A + A.transpose()), .U = U, .eigenvalues = values};
}

std::vector<double> paper_spectrum(Index d, Index k, double gap) {
  std::vector<double> eigenvalues(static_cast<std::size_t>(d), 0.5);
  std::fill_n(eigenvalues.begin(), k, 1.0);
  eigenvalues[static_cast<std::size_t>(k)] = 1.0 - gap;
  return eigenvalues;
}

double reference_sin_theta(const Block<double>& U, const Block<double>& X) {
  const Dense basis_u = reference_orthonormal(U);
  const Dense basis_x = reference_orthonormal(X);
  const Dense outside = basis_x - basis_u * (basis_u.transpose() * basis_x);
  return reference_singular_values(outside)(0);
}

}  // namespace hearsay::test

// What the mean of noisy products leaves, to first order, whoever makes it.
#pragma once

#include <cmath>
#include <cstdint>

#include "hearsay/linalg.hpp"
#include "hearsay/random.hpp"

namespace hearsay::experiments {

/// E ||Xi_ji / (lambda_i - lambda_j)||, i <= k < j, of one product with N(0, 1) errors: sin(theta_k) by one product
/// that is right but for those. Eigenvalues are in descending order.
inline double error_of_one_product(const Vector<double>& eigenvalues, Index k) {
  constexpr std::uint32_t draws = 40;
  const Index d = eigenvalues.size();
  double sum = 0;
  for (std::uint32_t draw = 0; draw < draws; ++draw) {
    Block<double> E(d, k);
    fill_normal<double>({.seed = 99, .stream = Stream::test, .iteration = draw}, E);
    for (Index j = 0; j < d; ++j)
      for (Index i = 0; i < k; ++i) E(j, i) = j < k ? 0 : E(j, i) / (eigenvalues(i) - eigenvalues(j));
    sum += spectral_norm<double>(E) / draws;
  }
  return sum;
}

/// The same after so many columns multiplied by A, k of them a product, with N(0, sigma^2) errors.
inline double statistical_limit(double of_one_product, double sigma, Index k, Index columns) {
  return sigma * of_one_product * std::sqrt(static_cast<double>(k) / static_cast<double>(columns));
}

}  // namespace hearsay::experiments

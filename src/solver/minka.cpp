// Minka's criterion for the number of components: the Laplace approximation of the evidence of probabilistic PCA.
//
// Reference   T. P. Minka, Automatic choice of dimensionality for PCA, NIPS 2000, equations 30 and 77.
// Departures  the double sums over pairs of eigenvalues are carried on from one rank to the next, so that all ranks
//             together cost d^2 logarithms and not d^3; eigenvalues count relative to the largest.
// Legend      lambda  eigenvalues, descending | k  rank | v  mean of the d - k smallest | n  samples
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "hearsay/error.hpp"
#include "hearsay/pca.hpp"

namespace hearsay {

namespace {

constexpr double smallest_eigenvalue = 1e-15;  // of the largest: below, there is no direction

// log of the volume of the Stiefel manifold's part: the prior of k directions.
double log_prior(Index d, Index k) {
  double sum = -static_cast<double>(k) * std::numbers::ln2;
  for (Index i = 1; i <= k; ++i) {
    const double half = static_cast<double>(d - i + 1) / 2;
    sum += std::lgamma(half) - std::log(std::numbers::pi) * half;
  }
  return sum;
}

}  // namespace

Index minka_rank(const Vector<double>& eigenvalues, double n) {
  const Index d = eigenvalues.size();
  require(d >= 2, fmt::format("rank = mle: needs at least two features; there are {}", d));
  require(eigenvalues(0) > 0, "rank = mle: the data have no variance");
  const Vector<double> lambda = eigenvalues / eigenvalues(0);
  // Eigenvalues that are equal to rounding have no direction of their own, and must not count without end.
  const auto log_apart = [&](Index i, Index j) {
    return std::log(std::max(lambda(i) - lambda(j), smallest_eigenvalue));
  };

  double best = -std::numeric_limits<double>::infinity();
  Index rank = 1;
  double logs = 0, inside = 0, across = 0, rest = lambda.sum();  // of the first k; of pairs in it; of pairs across
  for (Index k = 1; k < d; ++k) {
    const Index last = k - 1;
    if (lambda(last) < smallest_eigenvalue) break;
    logs += std::log(lambda(last));
    rest -= lambda(last);
    for (Index i = 0; i < last; ++i) {
      inside += 2 * log_apart(i, last) - std::log(lambda(i)) - std::log(lambda(last));
      across -= log_apart(i, last);
    }
    for (Index j = k; j < d; ++j) across += log_apart(last, j);

    const auto left = static_cast<double>(d - k), count = static_cast<double>(k);
    const double v = std::max(smallest_eigenvalue, rest / left);
    double spread = 0;
    for (Index i = 0; i < k; ++i) spread += std::log(std::max(1 / v - 1 / lambda(i), smallest_eigenvalue));
    const double pairs = count * static_cast<double>(d) - count * (count + 1) / 2;
    const double curvature = inside + across + left * spread + pairs * std::log(n);
    const double evidence = log_prior(d, k) - n / 2 * (logs + left * std::log(v)) +
                            std::log(2 * std::numbers::pi) * (pairs + count) / 2 - curvature / 2 -
                            count * std::log(n) / 2;
    if (evidence > best) {
      best = evidence;
      rank = k;
    }
  }
  return rank;
}

}  // namespace hearsay

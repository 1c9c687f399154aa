// The two halves of one start of k-means: choosing the first centers, then improving them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/kmeans.hpp"

namespace hearsay::detail {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// ||x - y||^2, four coordinates at a time. Differences first: expanding the square would cancel far from the origin.
inline double squared_distance(const double* x, const double* y, Index d) {
  using Four = Eigen::Array4d;
  Four sum = Four::Zero();
  Index t = 0;
  for (; t + 4 <= d; t += 4) sum += (Eigen::Map<const Four>(x + t) - Eigen::Map<const Four>(y + t)).square();
  double rest = 0;
  for (; t < d; ++t) rest += (x[t] - y[t]) * (x[t] - y[t]);
  return sum.sum() + rest;
}

inline double squared_distance(const Block<double>& A, Index i, const Block<double>& B, Index j) {
  return squared_distance(A.data() + i * A.cols(), B.data() + j * B.cols(), A.cols());
}

/// k rows of X, chosen by greedy k-means++. Throws InvalidArgument when X has fewer distinct rows.
Block<double> seed_centers(const Block<double>& X, Index k, std::uint64_t seed, std::uint32_t restart);

/// Lloyd's iteration from the given centers, to the tolerance or the iteration limit of the options.
KMeansResult lloyd(const Block<double>& X, Block<double> centers, const KMeansOptions& options);

}  // namespace hearsay::detail

// k-means of the rows of a block, and how well two labellings agree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

struct KMeansOptions {
  Index clusters = 2;          ///< k: at most the number of distinct points
  Index restarts = 10;         ///< independent starts; the one with the least inertia is kept
  Index max_iterations = 300;  ///< Lloyd steps of one start
  double tolerance =
      1e-6;  ///< stop when a step lowers the inertia by no more than this fraction; zero: at a fixed point
  std::uint64_t seed = 0;  ///< drives the choice of the first centres and nothing else
};

/// The same options and points give the same result, bit for bit, whatever the number of threads.
struct [[nodiscard]] KMeansResult {
  std::vector<std::int32_t> assignment;  ///< the cluster of each point, whose center is its nearest; 0 is the largest
  Block<double> centers;                 ///< k x d; clusters by decreasing size, equal sizes by their first point
  double inertia = 0;                    ///< sum over the points of the squared distance to the center assigned
  Index iterations = 0;                  ///< Lloyd steps of the start that was kept
  bool converged = false;                ///< false: that start used up max_iterations
};

/// Points are the rows. Throws InvalidArgument for a bad option, or when there are fewer distinct points than clusters,
/// and DataError for a point that is not finite.
HEARSAY_API KMeansResult kmeans(ConstBlockView<double> points, const KMeansOptions& options);

/// Hubert and Arabie's adjusted Rand index of two labellings of the same points: 1 when they agree up to names, about 0
/// for independent ones. The labels may be any integers.
HEARSAY_API double adjusted_rand_index(std::span<const std::int32_t> first, std::span<const std::int32_t> second);

/// Mutual information over the mean of the two entropies, in [0, 1]; 1 when both labellings have a single class.
HEARSAY_API double normalized_mutual_information(std::span<const std::int32_t> first,
                                                 std::span<const std::int32_t> second);

}  // namespace hearsay

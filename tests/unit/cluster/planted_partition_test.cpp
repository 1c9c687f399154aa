#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <hearsay/error.hpp>
#include <hearsay/graph_tools.hpp>
#include <limits>

namespace hearsay {
namespace {

struct Counts {
  double inside = 0, outside = 0;
};

Counts count_edges(const Graph& graph, const std::vector<std::int32_t>& community) {
  Counts counts;
  for (const auto& [i, j] : graph.edges) {
    const bool same = community[static_cast<std::size_t>(i)] == community[static_cast<std::size_t>(j)];
    (same ? counts.inside : counts.outside) += 1;
  }
  return counts;
}

TEST(PlantedPartition, HasTheMeanDegreesAskedFor) {
  const Index n = 20000;

  const Graph graph = planted_partition(n, 7, 9.0, 3.0, /*seed=*/1);

  const Counts counts = count_edges(graph, planted_communities(n, 7));
  // The counts are binomial with variance below their mean: five deviations.
  EXPECT_NEAR(counts.inside, 9.0 * n / 2, 5 * std::sqrt(9.0 * n / 2));
  EXPECT_NEAR(counts.outside, 3.0 * n / 2, 5 * std::sqrt(3.0 * n / 2));
}

TEST(PlantedPartition, IsAProperGraph) {
  const Graph graph = planted_partition(1000, 4, 6.0, 2.0, 2);

  EXPECT_EQ(graph.nodes, 1000);
  EXPECT_TRUE(std::is_sorted(graph.edges.begin(), graph.edges.end()));
  EXPECT_NO_THROW((void)adjacency(graph));  // which checks the rest
}

TEST(PlantedPartition, SplitsTheNodesEvenly) {
  const auto community = planted_communities(11, 4);

  EXPECT_EQ(community, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3}));
}

TEST(PlantedPartition, JoinsEveryPairWhenTheDegreeIsFull) {
  const Graph graph = planted_partition(12, 3, 3.0, 0.0, 3);

  EXPECT_EQ(graph.edges.size(), 3u * 6u);
  const auto communities = planted_communities(12, 3);
  EXPECT_EQ(count_edges(graph, communities).outside, 0.0);
  EXPECT_EQ(connected_components(graph), communities);
}

TEST(PlantedPartition, IsDeterminedByItsSeed) {
  const auto edges = [](std::uint64_t seed) { return planted_partition(500, 5, 8.0, 2.0, seed).edges; };

  EXPECT_EQ(edges(1), edges(1));
  EXPECT_NE(edges(1), edges(2));
}

TEST(PlantedPartition, MakesAGraphOfTheSizeOfAmazon0302) {
  const Graph graph = planted_partition(262111, 30, 7.4, 2.0, 4);

  EXPECT_NEAR(static_cast<double>(graph.edges.size()), 9.4 * 262111 / 2, 5 * std::sqrt(9.4 * 262111 / 2));
}

TEST(PlantedPartition, RefusesWhatCannotBe) {
  const double nan = std::numeric_limits<double>::quiet_NaN();

  EXPECT_THROW((void)planted_partition(0, 1, 0, 0, 0), InvalidArgument);
  EXPECT_THROW((void)planted_partition(10, 0, 1, 1, 0), InvalidArgument);
  EXPECT_THROW((void)planted_partition(10, 11, 1, 1, 0), InvalidArgument);
  EXPECT_THROW((void)planted_partition(10, 2, 4.5, 1, 0), InvalidArgument);
  EXPECT_THROW((void)planted_partition(10, 1, 1, 1, 0), InvalidArgument);
  EXPECT_THROW((void)planted_partition(10, 2, -1, 1, 0), InvalidArgument);
  EXPECT_THROW((void)planted_partition(10, 2, nan, 1, 0), InvalidArgument);
}

}  // namespace
}  // namespace hearsay

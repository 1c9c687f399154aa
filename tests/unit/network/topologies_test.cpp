#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/graph_tools.hpp>
#include <hearsay/network.hpp>

#include <algorithm>

namespace hearsay {
namespace {

std::vector<double> sorted_degrees(const Graph& graph) {
  const Vector<double> degree = degrees(graph);
  std::vector<double> sorted(degree.begin(), degree.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::string topology_refusal(const auto& make) {
  try {
    make();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Topology, OfARingGivesEveryNodeTwoNeighbours) {
  const Graph ring = ring_graph(7);

  EXPECT_EQ(ring.edges.size(), 7u);
  EXPECT_EQ(sorted_degrees(ring), std::vector<double>(7, 2.0));
}

TEST(Topology, OfOneNodeHasNoEdgeAndOfTwoHasOne) {
  for (const auto make : {ring_graph, path_graph, star_graph, complete_graph}) {
    EXPECT_EQ(make(1).edges.size(), 0u);
    EXPECT_EQ(make(2).edges.size(), 1u);
  }
}

TEST(Topology, OfAPathAStarAndACompleteGraphHasTheirDegrees) {
  EXPECT_EQ(sorted_degrees(path_graph(4)), (std::vector<double>{1, 1, 2, 2}));
  EXPECT_EQ(sorted_degrees(star_graph(4)), (std::vector<double>{1, 1, 1, 3}));
  EXPECT_EQ(sorted_degrees(complete_graph(4)), std::vector<double>(4, 3.0));
}

TEST(Topology, OfAGridEndsAtItsSidesAndOfATorusDoesNot) {
  EXPECT_EQ(grid_graph(2, 3).edges.size(), 7u);
  EXPECT_EQ(sorted_degrees(torus_graph(3, 4)), std::vector<double>(12, 4.0));
  EXPECT_EQ(torus_graph(2, 2).edges, grid_graph(2, 2).edges);
}

TEST(RandomRegularGraph, GivesEveryNodeItsDegreeForSparseAndDenseAlike) {
  for (const Index degree : {3, 4, 17}) {
    const Graph graph = random_regular_graph(20, degree, 11);

    EXPECT_EQ(sorted_degrees(graph), std::vector<double>(20, static_cast<double>(degree)));
    EXPECT_TRUE(std::is_sorted(graph.edges.begin(), graph.edges.end()));
  }
}

TEST(RandomGraphs, DependOnTheirSeedAlone) {
  EXPECT_EQ(random_regular_graph(100, 4, 1).edges, random_regular_graph(100, 4, 1).edges);
  EXPECT_NE(random_regular_graph(100, 4, 1).edges, random_regular_graph(100, 4, 2).edges);
  EXPECT_EQ(erdos_renyi_graph(60, 0.2, 1).edges, erdos_renyi_graph(60, 0.2, 1).edges);
}

TEST(ErdosRenyiGraph, HasAboutAsManyEdgesAsItsProbabilitySays) {
  const Graph graph = erdos_renyi_graph(200, 0.1, 5);

  EXPECT_NEAR(static_cast<double>(graph.edges.size()), 1990, 5 * std::sqrt(1990 * 0.9));
}

TEST(ErdosRenyiGraph, ThatFallsApartIsRefusedWithItsComponents) {
  const std::string message = topology_refusal([] { return erdos_renyi_graph(40, 0.02, 3); });

  EXPECT_NE(message.find("graph of 40 nodes: must be connected, and has "), std::string::npos) << message;
  EXPECT_NE(message.find("components: "), std::string::npos) << message;
}

TEST(RequireConnected, NamesEveryComponentBySizeAndFirstNode) {
  const Graph graph{.nodes = 6, .edges = {{0, 2}, {1, 4}, {2, 5}}};

  EXPECT_EQ(topology_refusal([&] { require_connected(graph); }),
            "graph of 6 nodes: must be connected, and has 3 components: 3 nodes with 0, 2 nodes with 1, 1 node with 3");
}

TEST(RandomRegularGraph, RefusesAnOddNumberOfHalfEdges) {
  EXPECT_EQ(topology_refusal([] { return random_regular_graph(5, 3, 0); }),
            "degree = 3: must be even on 5 nodes, for every edge has two ends");
  EXPECT_EQ(topology_refusal([] { return random_regular_graph(5, 5, 0); }), "degree = 5: must lie in [0, 4]");
}

TEST(WithRandomEdges, AddsAsManyAsAskedForAndKeepsTheOld) {
  const Graph path = path_graph(20), more = with_random_edges(path, 30, 1);

  EXPECT_EQ(more.edges.size(), 49u);
  EXPECT_TRUE(std::includes(more.edges.begin(), more.edges.end(), path.edges.begin(), path.edges.end()));
  EXPECT_EQ(with_random_edges(path, 171, 1).edges, complete_graph(20).edges);
  EXPECT_THROW(with_random_edges(path, 172, 1), InvalidArgument);
}

}  // namespace
}  // namespace hearsay

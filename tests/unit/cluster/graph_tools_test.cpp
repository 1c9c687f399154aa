#include "hearsay/graph_tools.hpp"

#include <gtest/gtest.h>

#include <hearsay/error.hpp>
#include <limits>

namespace hearsay {
namespace {

using Labels = std::vector<std::int32_t>;
using Edges = std::vector<std::pair<std::int32_t, std::int32_t>>;

// A triangle 1-4-6, a path 0-2-3-5, node 7 alone.
Graph three_components() {
  Graph graph;
  graph.nodes = 8;
  graph.edges = {{0, 2}, {1, 4}, {1, 6}, {2, 3}, {3, 5}, {4, 6}};
  graph.weights = {1, 2, 3, 4, 5, 6};
  graph.names = {10, 11, 12, 13, 14, 15, 16, 17};
  return graph;
}

TEST(ConnectedComponents, AreNumberedByDecreasingSize) {
  EXPECT_EQ(connected_components(three_components()), (Labels{0, 1, 0, 0, 1, 0, 1, 2}));
}

TEST(ConnectedComponents, OfEqualSizeGoByTheirFirstNode) {
  Graph graph;
  graph.nodes = 6;
  graph.edges = {{1, 5}, {2, 3}};

  EXPECT_EQ(connected_components(graph), (Labels{2, 0, 1, 1, 3, 0}));
}

TEST(ConnectedComponents, OfALongPathAreOne) {
  Graph graph;
  graph.nodes = 100000;
  for (std::int32_t i = 0; i + 1 < graph.nodes; ++i) graph.edges.emplace_back(i, i + 1);

  EXPECT_EQ(connected_components(graph), Labels(100000, 0));
}

TEST(ConnectedComponents, OfNoNodesAreNone) { EXPECT_TRUE(connected_components(Graph{}).empty()); }

TEST(LargestComponent, KeepsEdgesWeightsAndNames) {
  const Graph largest = largest_component(three_components());

  EXPECT_EQ(largest.nodes, 4);
  EXPECT_EQ(largest.edges, (Edges{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(largest.weights, (std::vector<double>{1, 4, 5}));
  EXPECT_EQ(largest.names, (std::vector<std::int64_t>{10, 12, 13, 15}));
}

TEST(Subgraph, PutsTheNodesInTheOrderGiven) {
  const Graph part = subgraph(three_components(), Labels{6, 1, 7, 4});

  EXPECT_EQ(part.nodes, 4);
  EXPECT_EQ(part.edges, (Edges{{0, 1}, {0, 3}, {1, 3}}));
  EXPECT_EQ(part.weights, (std::vector<double>{3, 6, 2}));
  EXPECT_EQ(part.names, (std::vector<std::int64_t>{16, 11, 17, 14}));
}

TEST(Subgraph, NamesNodesByTheirOldNumbersWhenTheyHadNoNames) {
  Graph graph = three_components();
  graph.names.clear();
  graph.weights.clear();

  const Graph part = subgraph(graph, Labels{3, 5});

  EXPECT_EQ(part.names, (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(part.edges, (Edges{{0, 1}}));
  EXPECT_TRUE(part.weights.empty());
}

TEST(Subgraph, RefusesNodesThatAreNotThereOrTwice) {
  EXPECT_THROW((void)subgraph(three_components(), Labels{0, 8}), InvalidArgument);
  EXPECT_THROW((void)subgraph(three_components(), Labels{-1}), InvalidArgument);
  EXPECT_THROW((void)subgraph(three_components(), Labels{2, 3, 2}), InvalidArgument);
}

TEST(Degrees, AreSumsOfWeights) {
  const Vector<double> degree = degrees(three_components());

  EXPECT_EQ(degree, (Vector<double>(8) << 1, 5, 5, 9, 8, 5, 9, 0).finished());
}

TEST(Adjacency, IsSymmetricWithAscendingColumns) {
  const auto S = adjacency(three_components());

  EXPECT_EQ(S.rows, 8);
  EXPECT_EQ(S.cols, 8);
  EXPECT_EQ(S.row_start, (std::vector<std::int64_t>{0, 1, 3, 5, 7, 9, 10, 12, 12}));
  EXPECT_EQ(S.columns, (Labels{2, 4, 6, 0, 3, 2, 5, 1, 6, 3, 1, 4}));
  EXPECT_EQ(S.values, (std::vector<double>{1, 2, 3, 1, 4, 4, 5, 2, 6, 5, 3, 6}));
}

TEST(Adjacency, HasOnesWithoutWeights) {
  Graph graph = three_components();
  graph.weights.clear();

  EXPECT_EQ(adjacency(graph).values, std::vector<double>(12, 1.0));
}

TEST(GraphTools, RefuseGraphsThatAreNotAsPromised) {
  const auto refuses = [](auto change) {
    Graph graph = three_components();
    change(graph);
    EXPECT_THROW((void)adjacency(graph), InvalidArgument);
    EXPECT_THROW((void)connected_components(graph), InvalidArgument);
  };

  refuses([](Graph& graph) { graph.nodes = 6; });
  refuses([](Graph& graph) { graph.edges[0] = {2, 0}; });
  refuses([](Graph& graph) { graph.edges[0] = {0, 0}; });
  refuses([](Graph& graph) { graph.edges[1] = graph.edges[2]; });
  refuses([](Graph& graph) { graph.weights.pop_back(); });
  refuses([](Graph& graph) { graph.weights[3] = 0; });
  refuses([](Graph& graph) { graph.weights[3] = std::numeric_limits<double>::quiet_NaN(); });
  refuses([](Graph& graph) { graph.names.push_back(18); });
}

}  // namespace
}  // namespace hearsay

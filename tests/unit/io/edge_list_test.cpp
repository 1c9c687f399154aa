#include <gtest/gtest.h>

#include <hearsay/io/edge_list.hpp>

#include "gzipped.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

using test::expect_error;
using Edges = std::vector<std::pair<std::int32_t, std::int32_t>>;
using NodeNames = std::vector<std::int64_t>;

EdgeList parse_list(std::string_view text) { return parse_edge_list(text, "g.txt"); }

void expect_bad_list(std::string_view text, std::initializer_list<std::string> parts) {
  expect_error<DataError>([&] { parse_list(text); }, parts);
}

TEST(EdgeList, RenumbersNodesInAscendingOrder) {
  const auto [graph, loops, duplicates] = parse_list("# Nodes: 4\n% also a comment\n30 10\n\n 10\t20\n-5 30\n");

  EXPECT_EQ(graph.nodes, 4);
  EXPECT_EQ(graph.names, (NodeNames{-5, 10, 20, 30}));
  EXPECT_EQ(graph.edges, (Edges{{0, 3}, {1, 2}, {1, 3}}));
  EXPECT_TRUE(graph.weights.empty());
  EXPECT_EQ(loops, 0);
  EXPECT_EQ(duplicates, 0);
}

TEST(EdgeList, NumbersSparseNamesAsWellAsDenseOnes) {
  const auto list = parse_list("9223372036854775807 -9223372036854775808\n0 9223372036854775807\n");

  EXPECT_EQ(list.graph.names, (NodeNames{-9223372036854775807 - 1, 0, 9223372036854775807}));
  EXPECT_EQ(list.graph.edges, (Edges{{0, 2}, {1, 2}}));
}

TEST(EdgeList, MergesDuplicatesAndDropsLoopsAndCountsThem) {
  const auto list = parse_list("1 2\n2 1\n1 2\n3 3\n2 3\n4,4\n");

  EXPECT_EQ(list.graph.edges, (Edges{{0, 1}, {1, 2}}));
  EXPECT_EQ(list.graph.nodes, 4) << "a node with nothing but a loop is a node all the same";
  EXPECT_EQ(list.duplicates_merged, 2);
  EXPECT_EQ(list.loops_dropped, 2);
}

TEST(EdgeList, KeepsTheLargestWeightOfAnEdge) {
  const auto list = parse_list("1,2,0.5\n2, 1, 2.5\n1 3 1e-3\n1 2 1\n");

  EXPECT_EQ(list.graph.edges, (Edges{{0, 1}, {0, 2}}));
  EXPECT_EQ(list.graph.weights, (std::vector<double>{2.5, 1e-3}));
}

TEST(EdgeList, ReadsGzip) {
  const test::TempDir dir;

  EXPECT_EQ(read_edge_list(dir.file("g.txt.gz", test::gzipped("0 1\r\n1 2\r\n"))).graph.nodes, 3);
}

TEST(EdgeListError, SaysWhichLineIsAtFault) {
  expect_bad_list("1 2\n3\n", {"g.txt:2:2: an edge needs two nodes"});
  expect_bad_list("1 2\n3 x\n", {"g.txt:2:2: 'x' is not a whole number"});
  expect_bad_list("1.5 2\n", {"g.txt:1:1: '1.5' is not a whole number"});
  expect_bad_list("1 99999999999999999999\n", {"g.txt:1:2", "is not a whole number"});
  expect_bad_list("1 2\n1 3 0.5\n", {"g.txt:2:3: a weight, where the first edge has none"});
  expect_bad_list("1 2 1\n1 3\n", {"g.txt:2:3: the weight is missing"});
  expect_bad_list("1 2 0\n", {"g.txt:1:3: the weight '0' is not positive and finite"});
  expect_bad_list("1 2 -1\n", {"g.txt:1:3: the weight '-1'"});
  expect_bad_list("1 2 nan\n", {"g.txt:1:3: the weight 'nan'"});
  expect_bad_list("1 2 inf\n", {"g.txt:1:3: the weight 'inf'"});
  expect_bad_list("1 2 w\n", {"g.txt:1:3: 'w' is not a number"});
  expect_bad_list("1 2 3 4\n", {"g.txt:1:4: '4' is more than an edge and its weight"});
}

TEST(EdgeListError, SaysThatThereIsNoEdge) {
  expect_bad_list("", {"g.txt: holds no edges"});
  expect_bad_list("# only\n% comments\n", {"g.txt: holds no edges"});
}

}  // namespace
}  // namespace hearsay::io

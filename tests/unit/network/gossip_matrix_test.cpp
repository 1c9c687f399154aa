#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/network.hpp>

#include "support/sparse.hpp"

namespace hearsay {
namespace {

Block<double> dense(const GossipMatrix& W) {
  const CsrMatrix<double>& sparse = W.matrix();
  Block<double> full = Block<double>::Zero(sparse.rows, sparse.cols);
  for (Index i = 0; i < sparse.rows; ++i)
    for (auto e = sparse.row_start[static_cast<std::size_t>(i)]; e < sparse.row_start[static_cast<std::size_t>(i) + 1];
         ++e)
      full(i, sparse.columns[static_cast<std::size_t>(e)]) = sparse.values[static_cast<std::size_t>(e)];
  return full;
}

Block<double> matrix(std::initializer_list<std::initializer_list<double>> rows) {
  Block<double> out(static_cast<Index>(rows.size()), static_cast<Index>(rows.begin()->size()));
  Index i = 0;
  for (const auto& row : rows) {
    Index j = 0;
    for (const double value : row) out(i, j++) = value;
    ++i;
  }
  return out;
}

std::string refusal(const auto& make) {
  try {
    (void)make();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(GossipMatrix, OfARingIsThePapers) {
  EXPECT_EQ(dense(GossipMatrix::ring(4)),
            matrix({{0.5, 0.25, 0, 0.25}, {0.25, 0.5, 0.25, 0}, {0, 0.25, 0.5, 0.25}, {0.25, 0, 0.25, 0.5}}));
}

TEST(GossipMatrix, OfARingOfOneOrTwoKeepsTheWeightsInTheFamily) {
  EXPECT_EQ(dense(GossipMatrix::ring(1)), matrix({{1}}));
  EXPECT_EQ(dense(GossipMatrix::ring(2)), matrix({{0.5, 0.5}, {0.5, 0.5}}));
}

TEST(GossipMatrix, OfMetropolisFollowsTheLargerDegree) {
  const Block<double> W = dense(GossipMatrix::metropolis(star_graph(4)));

  EXPECT_DOUBLE_EQ(W(0, 1), 0.25);
  EXPECT_DOUBLE_EQ(W(0, 0), 0.25);
  EXPECT_DOUBLE_EQ(W(2, 2), 0.75);
  EXPECT_EQ(W(1, 2), 0);
}

TEST(GossipMatrix, IsSymmetricAndDoublyStochasticHoweverItIsMade) {
  const Graph graph = erdos_renyi_graph(40, 0.2, 2);
  for (const GossipMatrix& W :
       {GossipMatrix::ring(9), GossipMatrix::metropolis(graph), GossipMatrix::lazy(GossipMatrix::metropolis(graph)),
        GossipMatrix::from(dense(GossipMatrix::metropolis(graph)))}) {
    const Block<double> full = dense(W);

    EXPECT_EQ(full, Block<double>(full.transpose()));
    EXPECT_LE((full.rowwise().sum().array() - 1).abs().maxCoeff(), 4e-16);
    EXPECT_GE(full.minCoeff(), 0);
  }
}

TEST(GossipMatrix, ThatIsLazyKeepsHalfOfItself) {
  const GossipMatrix W = GossipMatrix::ring(5);

  EXPECT_EQ(dense(GossipMatrix::lazy(W)), Block<double>((Block<double>::Identity(5, 5) + dense(W)) / 2));
}

TEST(GossipMatrix, KnowsItsEdgesAndItsDiameter) {
  EXPECT_EQ(GossipMatrix::ring(10).edges(), 10);
  EXPECT_EQ(GossipMatrix::ring(10).diameter(), 5);
  EXPECT_EQ(GossipMatrix::metropolis(path_graph(10)).diameter(), 9);
  EXPECT_EQ(GossipMatrix::metropolis(complete_graph(10)).diameter(), 1);
  EXPECT_EQ(GossipMatrix::ring(1).diameter(), 0);
}

TEST(GossipMatrix, BoundsTheDiameterOfALargeGraphWithinTwice) {
  const Index diameter = GossipMatrix::ring(20000).diameter();

  EXPECT_GE(diameter, 10000);
  EXPECT_LE(diameter, 20000);
}

TEST(GossipMatrix, OfAUserIsRefusedWithEntryValueAndRule) {
  EXPECT_EQ(refusal([] {
              return GossipMatrix::from(matrix({{0.5, 0.5}, {0.4, 0.6}}));
            }),
            "gossip matrix: W(0, 1) = 0.5: must equal W(1, 0) = 0.4, for W is symmetric");
  EXPECT_EQ(refusal([] {
              return GossipMatrix::from(matrix({{1.5, -0.5}, {-0.5, 1.5}}));
            }),
            "gossip matrix: W(0, 1) = -0.5: must be finite and not negative");
  EXPECT_EQ(refusal([] {
              return GossipMatrix::from(matrix({{0.5, 0.4}, {0.4, 0.5}}));
            }),
            "gossip matrix: row 0 sums to 0.9: must sum to 1, for W is doubly stochastic");
  EXPECT_EQ(refusal([] {
              return GossipMatrix::from(matrix({{0, 1}, {1, 0}}));
            }),
            "gossip matrix: W(0, 0) = 0: must be positive, because an agent keeps a part of its own block");
  EXPECT_EQ(refusal([] {
              return GossipMatrix::from(matrix({{1.0, 0.0}}));
            }),
            "gossip matrix of 1 x 2: must be square and not empty");
  EXPECT_NE(refusal([] {
              return GossipMatrix::from(matrix({{std::nan(""), 0.5}, {0.5, 0.5}}));
            }).find("W(0, 0) = nan: must be finite and not negative"),
            std::string::npos);
}

TEST(GossipMatrix, OfAUserMustCoverTheGraphAndNothingElse) {
  const CsrMatrix<double> ring = test::sparse(dense(GossipMatrix::ring(4)));

  EXPECT_EQ(refusal([&] { return GossipMatrix::from(ring, ring_graph(4)); }), "no error");
  EXPECT_EQ(refusal([&] { return GossipMatrix::from(ring, path_graph(4)); }),
            "gossip matrix: W(0, 3) = 0.25: must be 0, for no edge joins 0 and 3");
  EXPECT_EQ(refusal([&] { return GossipMatrix::from(ring, complete_graph(4)); }),
            "gossip matrix: W(0, 2) = 0: must be positive, because an edge joins 0 and 2");
  EXPECT_EQ(refusal([&] { return GossipMatrix::from(ring, ring_graph(5)); }),
            "gossip matrix of 4 x 4: must be 5 x 5, as the graph has 5 nodes");
}

TEST(GossipMatrix, OfADisconnectedGraphIsRefusedWithItsComponents) {
  const Graph graph{.nodes = 4, .edges = {{0, 1}, {2, 3}}};

  EXPECT_EQ(refusal([&] { return GossipMatrix::metropolis(graph); }),
            "graph of 4 nodes: must be connected, and has 2 components: 2 nodes with 0, 2 nodes with 2");
}

}  // namespace
}  // namespace hearsay

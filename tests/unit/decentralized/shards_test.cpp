#include <gtest/gtest.h>
#include <hearsay/decentralized.hpp>
#include <hearsay/dense_eigen.hpp>
#include <hearsay/error.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/operators/covariance.hpp>
#include <hearsay/operators/stored.hpp>

#include <set>

#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::random_block;

template <class Op>
Block<double> average(const std::vector<Op>& agents) {
  const SumOperator<double> A(operators_of(agents), 1 / static_cast<double>(agents.size()));
  const Block<double> identity = Block<double>::Identity(A.dim(), A.dim());
  Block<double> dense(A.dim(), A.dim());
  A.apply(identity, dense);
  return dense;
}

std::string shards_refusal(const auto& make) {
  try {
    (void)make();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Split, DealsOutEveryRowOnceInNearlyEqualShares) {
  for (const Split& split : {contiguous_split(23, 5), even_split(23, 5, 1)}) {
    std::set<Index> rows;
    for (const auto& part : split) {
      EXPECT_GE(part.size(), 4u);
      EXPECT_LE(part.size(), 5u);
      rows.insert(part.begin(), part.end());
    }

    EXPECT_EQ(rows.size(), 23u);
    EXPECT_EQ(*rows.rbegin(), 22);
  }
}

TEST(Split, BySeedDependsOnItAlone) {
  EXPECT_EQ(even_split(100, 7, 3), even_split(100, 7, 3));
  EXPECT_NE(even_split(100, 7, 3), even_split(100, 7, 4));
}

TEST(Split, ByLabelMakesOneAgentPerLabel) {
  EXPECT_EQ(label_split(std::vector<std::int32_t>{7, 2, 7, 5}), (Split{{1}, {3}, {0, 2}}));
}

TEST(Split, AsGivenMayLeaveAnAgentWithNothing) {
  EXPECT_EQ(given_split(std::vector<std::int32_t>{2, 0, 2}, 3), (Split{{1}, {}, {0, 2}}));
  EXPECT_EQ(shards_refusal([] {
              return given_split(std::vector<std::int32_t>{0, 3}, 3);
            }),
            "row 1 is given to agent 3: must lie in [0, 3)");
}

TEST(CovarianceShards, AverageToTheSecondMomentsOfAllTheData) {
  const Block<double> data = random_block(31, 8, 1);
  const Block<double> expected = data.transpose() * data / 31.0;

  // Unequal shards, one of them empty, some formed and some not.
  const auto agents = covariance_shards(data, given_split(
                                                  [&] {
                                                    std::vector<std::int32_t> to(31, 0);
                                                    for (std::size_t row = 0; row < 3; ++row) to[row] = 3;
                                                    for (std::size_t row = 3; row < 10; ++row) to[row] = 1;
                                                    return to;
                                                  }(),
                                                  4));

  EXPECT_EQ(agents[2].samples(), 0);
  EXPECT_LE((average(agents) - expected).norm(), 1e-14);
}

TEST(CovarianceShards, SubtractTheMeanTheyAreGiven) {
  const Block<double> data = random_block(40, 6, 2).array() + 3;
  const Vector<double> mean = data.colwise().mean();
  const Block<double> centred = data.rowwise() - mean.transpose();

  const auto agents = covariance_shards(data, contiguous_split(40, 4), &mean);

  EXPECT_LE((average(agents) - centred.transpose() * centred / 39.0).norm(), 1e-14);
}

// As scikit-learn, and pca(), have it: what was centred has one degree of freedom less.
TEST(CovarianceShards, AreDividedAsThoseOfPca) {
  const Block<double> data = random_block(40, 6, 2).array() + 3;
  const Vector<double> mean = data.colwise().mean();
  const Block<double> centred = data.rowwise() - mean.transpose();
  Block<double> A(6, 6);

  DenseCovariance<double>(data).apply(Block<double>::Identity(6, 6), A);
  EXPECT_LE((average(covariance_shards(data, contiguous_split(40, 4), &mean)) - A).norm(), 1e-14);
  EXPECT_LE((average(covariance_shards({centred.topRows(15), centred.bottomRows(25)}, true)) - A).norm(), 1e-14);
  DenseCovariance<double>(data, {.center = false}).apply(Block<double>::Identity(6, 6), A);
  EXPECT_LE((average(covariance_shards(data, contiguous_split(40, 4))) - A).norm(), 1e-13);

  EXPECT_EQ(covariance_divisor(40, true), 39);
  EXPECT_EQ(covariance_divisor(40, false), 40);
  EXPECT_EQ(covariance_divisor(1, true), 1);
}

TEST(CovarianceShards, RefuseTablesOfDifferentWidth) {
  const std::vector<Block<double>> tables{random_block(4, 3, 0), random_block(4, 2, 0)};

  EXPECT_EQ(shards_refusal([&] { return covariance_shards(tables); }),
            "shard 1 has 2 columns: must have 3, as shard 0 has");
}

TEST(NodeOperators, AverageToTheNormalisedGraph) {
  const Graph graph{.nodes = 5, .edges = {{0, 1}, {0, 2}, {1, 2}, {2, 3}}};  // node 4 has no edge
  Block<double> expected(5, 5);
  NormalisedGraph<double>(graph).apply(Block<double>::Identity(5, 5), expected);

  EXPECT_LE((average(node_operators(graph)) - expected).norm(), 1e-15);
}

TEST(NodeOperators, KnowOnlyTheirOwnRowAndColumn) {
  const Graph graph{.nodes = 4, .edges = {{0, 1}, {1, 2}, {2, 3}}};
  Block<double> A_1(4, 4);
  node_operators(graph)[1].apply(Block<double>::Identity(4, 4), A_1);

  EXPECT_DOUBLE_EQ(A_1(1, 1), 4);
  EXPECT_DOUBLE_EQ(A_1(1, 0), 4 / (2 * std::sqrt(2.0)));
  EXPECT_DOUBLE_EQ(A_1(2, 1), 1);
  EXPECT_EQ(A_1(2, 3), 0);
  EXPECT_EQ(A_1(0, 0), 0);
}

}  // namespace
}  // namespace hearsay

// The same configuration gives the same digest in one process and on any number of ranks.
#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/decentralized_on_ranks.hpp>
#include <hearsay/error.hpp>

#include "on_ranks.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"
#include "support/reference.hpp"
#include "unit/decentralized/problems.hpp"

namespace hearsay {
namespace {

using test::expect_error;
using test::on_ranks;
using test::planted_problem;
using test::Problem;

std::vector<OperatorRef<double>> operators_here(const RankNetwork& net, const Problem& problem) {
  const auto all = problem.operators();
  std::vector<OperatorRef<double>> here;
  for (const Index agent : net.local()) here.push_back(all[static_cast<std::size_t>(agent)]);
  return here;
}

void expect_same(const std::vector<DecentralizedEntry>& a, const std::vector<DecentralizedEntry>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t t = 0; t < a.size(); ++t) {
    EXPECT_EQ(a[t].residual, b[t].residual);
    EXPECT_EQ(a[t].disagreement, b[t].disagreement);
    EXPECT_EQ(a[t].rounds, b[t].rounds);
    EXPECT_EQ(a[t].bytes, b[t].bytes);
    EXPECT_EQ(a[t].momentum, b[t].momentum);
    EXPECT_EQ(a[t].sin_theta, b[t].sin_theta);
  }
}

void expect_same(Transport& ranks, const Problem& problem, const GossipMatrix& W, DecentralizedOptions options,
                 MessagePrecision precision = MessagePrecision::real64) {
  options.rank = problem.k;
  LocalNetwork local(W, precision);
  RankNetwork net(ranks, W, {.precision = precision});
  const auto expected = decentralized_pca(local, problem.operators(), options, {.reference = &problem.U});

  const auto result = decentralized_pca(net, operators_here(net, problem), options, {.reference = &problem.U});

  EXPECT_EQ(result.digest, expected.digest) << name(options.algorithm) << ", rank " << ranks.rank();
  EXPECT_EQ(result.status, expected.status);
  EXPECT_EQ(result.iterations, expected.iterations);
  EXPECT_EQ(result.residual, expected.residual);
  EXPECT_EQ(result.agreement, expected.agreement);
  EXPECT_EQ(result.bar.kind, expected.bar.kind);
  if (expected.bar.exists()) {
    EXPECT_EQ(result.bar.sin_theta, expected.bar.sin_theta);
    EXPECT_EQ(result.bar.spread, expected.bar.spread);
    EXPECT_EQ(result.bar.common, expected.bar.common);
  }
  EXPECT_EQ(result.message_noise.largest, expected.message_noise.largest);
  EXPECT_EQ(result.traffic, expected.traffic);
  EXPECT_EQ(result.notes, expected.notes);
  EXPECT_EQ(result.contributors, expected.contributors);
  ASSERT_EQ(result.epochs.size(), 1U);
  EXPECT_EQ(result.epochs[0].members, expected.epochs[0].members);
  expect_same(result.history, expected.history);
  if (ranks.rank() == 0) {
    EXPECT_EQ(result.digests, expected.digests);
    EXPECT_EQ(result.bases, expected.bases);
    EXPECT_EQ(result.eigenvalues, expected.eigenvalues);
  } else {
    EXPECT_EQ(result.bases.size(), static_cast<std::size_t>(net.local_agents()));
  }
}

TEST(DecentralizedOnRanks, GivesTheDigestOfOneProcessByEveryMethodOnManyGraphs) {
  const Problem problem = planted_problem(8, 200, 12, 3, 0.8, 1);
  on_ranks([&](Transport& ranks) {
    for (const GossipMatrix& W :
         {GossipMatrix::ring(8), GossipMatrix::metropolis(star_graph(8)), GossipMatrix::metropolis(grid_graph(2, 4)),
          GossipMatrix::metropolis(erdos_renyi_graph(8, 0.7, 3))})
      for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm, Algorithm::deepca, Algorithm::adeepca})
        expect_same(ranks, problem, W, {.algorithm = algorithm, .max_iterations = 25, .tolerance = 1e-8});
  });
}

TEST(DecentralizedOnRanks, StopsWhereOneProcessStops) {
  const Problem problem = planted_problem(6, 200, 10, 2, 0.6, 2);
  on_ranks([&](Transport& ranks) {
    RankNetwork net(ranks, problem.W);

    const auto result = decentralized_pca(net, operators_here(net, problem), {.rank = 2, .tolerance = 1e-9});

    EXPECT_EQ(result.status, Status::converged);
    expect_same(ranks, problem, problem.W, {.tolerance = 1e-9});
  });
}

TEST(DecentralizedOnRanks, TellsOfTheNoiseFloorAsOneProcessDoes) {
  const Problem problem = planted_problem(6, 200, 10, 2, 0.6, 2);
  on_ranks([&](Transport& ranks) {
    RankNetwork net(ranks, problem.W);
    const DecentralizedOptions options{.algorithm = Algorithm::depm, .rank = 2, .rounds = 3, .tolerance = 1e-6};

    EXPECT_EQ(decentralized_pca(net, operators_here(net, problem), options).status, Status::noise_floor);
    expect_same(ranks, problem, problem.W, options);
  });
}

TEST(DecentralizedOnRanks, GivesTheDigestOfOneProcessWithRoundedMessages) {
  const Problem problem = planted_problem(5, 200, 12, 3, 0.8, 3);
  on_ranks([&](Transport& ranks) {
    for (const auto precision : {MessagePrecision::real32, MessagePrecision::bfloat16})
      expect_same(ranks, problem, problem.W, {.max_iterations = 40, .tolerance = 1e-8}, precision);
  });
}

TEST(DecentralizedOnRanks, RunsWhereRankZeroHasNoAgent) {
  const Problem problem = planted_problem(4, 100, 8, 2, 0.7, 4);
  on_ranks([&](Transport& ranks) {
    LocalNetwork local(problem.W);
    RankNetwork net(ranks, problem.W, {.placement = std::vector<int>(4, ranks.size() - 1)});
    const DecentralizedOptions options{.rank = 2, .max_iterations = 20};

    const auto result = decentralized_pca(net, operators_here(net, problem), options);

    EXPECT_EQ(result.digest, decentralized_pca(local, problem.operators(), options).digest);
    EXPECT_LE(result.conservation_error, 1e-13);  // NaN fails: all agents are on one rank, which knows it
  });
}

TEST(DecentralizedOnRanks, BadOptionsAreRefusedAlikeEverywhere) {
  const Problem problem = planted_problem(4, 100, 8, 2, 0.7, 4);
  on_ranks([&](Transport& ranks) {
    RankNetwork net(ranks, problem.W);
    try {
      static_cast<void>(decentralized_pca(net, operators_here(net, problem), {.rank = 9}));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const InvalidArgument& error) {
      EXPECT_STREQ(error.what(), "rank = 9: must lie in [1, 8]");
    }
  });
}

// A product that fails after a while, at one agent.
struct Failing {
  using Scalar = double;
  const CovarianceShard* A;
  mutable int left;
  Index dim() const { return A->dim(); }
  void apply(ConstBlockView<double> X, BlockView<double> Y) const {
    if (left-- == 0) throw DataError("agent 3: its sensor went away");
    A->apply(X, Y);
  }
};

TEST(DecentralizedOnRanks, AnExceptionInOneAgentsProductEndsTheRunEverywhere) {
  const Problem problem = planted_problem(8, 200, 12, 3, 0.8, 1);
  on_ranks([&](Transport& ranks) {
    RankNetwork net(ranks, problem.W);
    std::vector<Failing> agents;
    for (const Index agent : net.local())
      agents.push_back({.A = &problem.shards[static_cast<std::size_t>(agent)], .left = agent == 3 ? 4 : 1000000});

    expect_error<DataError>(
        [&] { static_cast<void>(decentralized_pca(net, operators_of(agents), {.rank = 3, .tolerance = 0})); },
        {"agent 3: its sensor went away"});
  });
}

Shards shards_here(const RankNetwork& net, const Block<double>& data, const Split& split) {
  Shards shards{.agents = static_cast<Index>(split.size())};
  for (const Index agent : net.local()) {
    const auto& rows = split[static_cast<std::size_t>(agent)];
    shards.local.push_back(agent);
    shards.names.push_back("shard-" + std::to_string(agent) + ".csv");
    auto& block = shards.rows.emplace_back(static_cast<Index>(rows.size()), data.cols());
    for (std::size_t r = 0; r < rows.size(); ++r) block.row(static_cast<Index>(r)) = data.row(rows[r]);
  }
  return shards;
}

TEST(ShardTotals, AreTheSameBitsForAnyNumberOfRanks) {
  const Block<double> data = test::random_block(101, 6, 7).array() + 1e3;
  Split split = even_split(101, 7, 1);
  split[2].insert(split[2].end(), split[3].begin(), split[3].end());
  split[3].clear();  // an agent without rows
  AloneTransport alone;
  RankNetwork all_here(alone, GossipMatrix::ring(7));
  const auto expected = totals_of(alone, shards_here(all_here, data, split));
  on_ranks([&](Transport& ranks) {
    RankNetwork net(ranks, GossipMatrix::ring(7));

    const auto totals = totals_of(ranks, shards_here(net, data, split));

    EXPECT_EQ(totals.samples, 101);
    EXPECT_EQ(totals.dimension, 6);
    EXPECT_EQ(totals.sizes, expected.sizes);
    EXPECT_EQ(totals.sizes[3], 0);
    EXPECT_EQ(totals.mean, expected.mean);
    EXPECT_LE((totals.mean.transpose() - data.colwise().mean()).norm(), 1e-11);
  });
}

TEST(CovarianceShards, OnRanksAverageToTheCovarianceOfAllTheData) {
  const Block<double> data = test::random_block(90, 5, 8).array() + 10;
  const Split split = even_split(90, 6, 2);
  const Block<double> centred = data.rowwise() - data.colwise().mean();
  const Block<double> U = test::reference_right_vectors(centred).V.leftCols(2);
  on_ranks([&](Transport& ranks) {
    RankNetwork net(ranks, GossipMatrix::ring(6));
    Shards shards = shards_here(net, data, split);
    const auto totals = totals_of(ranks, shards);

    const auto A = covariance_shards(std::move(shards), totals, true);
    const auto result = decentralized_pca(net, operators_of(A), {.rank = 2, .max_iterations = 400, .tolerance = 1e-11});

    for (const Block<double>& V : result.bases) EXPECT_LE(sin_theta<double>(U, V), 1e-9);
  });
}

TEST(CovarianceShards, OnRanksAreDividedByAPowerOfTwoThatAllAgreeOn) {
  const Block<double> data = test::random_block(90, 5, 8).array() + 10;
  const Split split = contiguous_split(90, 6);
  on_ranks([&](Transport& ranks) {
    RankNetwork net(ranks, GossipMatrix::ring(6));
    const auto solve = [&](const Block<double>& all) {
      Shards shards = shards_here(net, all, split);
      const auto totals = totals_of(ranks, shards);
      const auto A = covariance_shards(std::move(shards), totals, true);
      return decentralized_pca(net, operators_of(A), {.rank = 2, .max_iterations = 30});
    };
    const auto ordinary = solve(data);
    for (const int exponent : {60, -60, 1015}) {
      const auto result = solve(std::ldexp(1.0, exponent) * data);

      EXPECT_EQ(result.digest, ordinary.digest);
      EXPECT_EQ(result.exponent != 0, exponent == 1015);
      for (Index i = 0; i < result.eigenvalues.rows(); ++i)
        EXPECT_EQ(std::ldexp(result.eigenvalues(i, 0), result.exponent - 2 * exponent), ordinary.eigenvalues(i, 0));
    }
    Block<double> one_shard = data;  // of one agent alone; the others must follow
    one_shard(0, 3) = 1e155;
    const auto result = solve(one_shard);
    for (const auto& basis : result.bases) EXPECT_GE(std::abs(basis(3, 0)), 1 - 1e-12);
  });
}

TEST(ShardTotals, NameTheShardsWhoseDimensionsDiffer) {
  on_ranks([](Transport& ranks) {
    RankNetwork net(ranks, GossipMatrix::ring(5));
    Shards shards = shards_here(net, test::random_block(20, 4, 1), contiguous_split(20, 5));
    for (std::size_t i = 0; i < shards.local.size(); ++i)
      if (shards.local[i] == 4) shards.rows[i] = test::random_block(4, 3, 1);

    try {
      static_cast<void>(totals_of(ranks, shards));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const DataError& error) {
      EXPECT_STREQ(error.what(), "shard-4.csv has 3 columns: must have 4, as shard-0.csv has");
    }
  });
}

TEST(ShardTotals, RefuseAgentsWithoutAShardAndShardsWithoutRows) {
  on_ranks([](Transport& ranks) {
    RankNetwork net(ranks, GossipMatrix::ring(5));
    Shards shards = shards_here(net, test::random_block(20, 4, 1), contiguous_split(20, 5));
    Shards nobody = shards, empty = shards;
    for (std::size_t i = 0; i < shards.local.size(); ++i) {
      if (shards.local[i] == 2) nobody.local[i] = 1;
      empty.rows[i].resize(0, 4);
    }

    expect_error<InvalidArgument>([&] { static_cast<void>(totals_of(ranks, nobody)); }, {"agent 1 has 2 shards"});
    expect_error<DataError>([&] { static_cast<void>(totals_of(ranks, empty)); }, {"at least one must have a row"});
  });
}

}  // namespace
}  // namespace hearsay

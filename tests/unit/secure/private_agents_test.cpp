// Private components among agents: what is told follows from the sum alone, what the trust costs in captured share, and
// what is refused. Noise is drawn from seeds, and so nothing here is private.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <hearsay/angles.hpp>
#include <hearsay/datasets.hpp>
#include <hearsay/io/built_in.hpp>
#include <hearsay/private_agents.hpp>
#include <secure/party.hpp>

#include "support/expect_error.hpp"
#include "support/planted.hpp"
#include "support/random_block.hpp"
#include "support/reference.hpp"

namespace hearsay::secure {
namespace {

using Shards = std::vector<Block<double>>;

struct Problem {
  Shards shards = {};
  double norm = 0;
  Index k = 2;

  Block<double> covariance() const {
    Block<double> C = Block<double>::Zero(shards.front().cols(), shards.front().cols());
    for (const Block<double>& shard : shards) C += shard.transpose() * shard;
    return C;
  }
};

Shards cut(const Block<double>& rows, Index agents) {
  Shards shards;
  for (const auto& part : contiguous_split(rows.rows(), agents)) {
    Block<double>& shard = shards.emplace_back(static_cast<Index>(part.size()), rows.cols());
    for (std::size_t i = 0; i < part.size(); ++i) shard.row(static_cast<Index>(i)) = rows.row(part[i]);
  }
  return shards;
}

// Centred by a mean that is taken as known, as the largest norm is.
Problem digits(Index agents) {
  const auto table = io::load_digits(io::built_in_directory());
  const Block<double> rows = table.values.rowwise() - table.values.colwise().mean();
  return {cut(rows, agents), rows.rowwise().norm().maxCoeff(), 5};
}

// Four hospitals; units and means that each took from its own rows are taken as known.
Problem heart() { return {io::load_fed_heart_disease(io::built_in_directory()).tables, std::sqrt(13.0), 2}; }

Problem planted(Index agents) {
  Block<double> rows = test::random_block(600, 6, 3);
  for (Index j = 0; j < 6; ++j) rows.col(j) /= static_cast<double>(j + 1);
  return {cut(rows, agents), 2.0, 2};
}

PrivateAgentsRequest asking(const Problem& problem, Trust trust, Party* party = nullptr, double epsilon = 1) {
  PrivateAgentsRequest request{.trust = trust};
  request.privacy = {.budget = {epsilon, 1e-6}, .row_norm = problem.norm};
  request.solve.settings.power.rank = request.solve.network.solver.rank = problem.k;
  settle(request.solve.settings);
  request.masked_sum = [party](std::vector<PrivateWords> parts) {
    std::vector<std::span<std::uint64_t>> blocks;
    for (PrivateWords& part : parts) blocks.push_back(part.span());
    PrivateWords sum(parts.front().size());
    std::ranges::copy(party->sum(blocks), sum.span().begin());
    return sum;
  };
  return request;
}

PrivateAgentsSolution solve(const Problem& problem, const PrivateAgentsRequest& request, std::uint64_t seed) {
  const GossipMatrix W = GossipMatrix::metropolis(complete_graph(static_cast<Index>(problem.shards.size())));
  return solve_private_agents(problem.shards, W, request, [seed](Index agent) {
    return insecure_words(seed * 1000 + static_cast<std::uint64_t>(agent));
  });
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

struct Medians {
  double share = 0, bar = 0;
};

Medians medians(const Problem& problem, Trust trust, Index colluders, int runs) {
  const Block<double> C = problem.covariance();
  const test::RightVectors eigen = test::reference_right_vectors(C);
  const Block<double> U = eigen.V.leftCols(problem.k);
  Party party(static_cast<int>(problem.shards.size()), new_run());
  PrivateAgentsRequest request = asking(problem, trust, &party);
  request.colluders = colluders;
  request.solve.network.solver.max_iterations = 60;  // far below the noise; the rest would change nothing that is seen
  std::vector<double> shares, bars;
  for (int run = 1; run <= runs; ++run) {
    const auto found = solve(problem, request, static_cast<std::uint64_t>(run));
    const Block<double>& V = found.pca.solution.power.basis;
    shares.push_back((V.transpose() * C * V).trace() / eigen.values.head(problem.k).sum());
    bars.push_back(found.pca.accuracy.sin_theta / sin_theta<double>(U, V));
  }
  return {median(shares), median(bars)};
}

TEST(PrivateAgents, CaptureWhatTheirTrustAllows) {
  struct Row {
    const char* name;
    Problem problem;
    Trust trust;
    Index colluders;
    double share, slack;
  };
  const Row rows[] = {{"heart_secure", heart(), Trust::secure, 1, 0.925, 0.02},
                      {"heart_neighbours", heart(), Trust::neighbours, 0, 0.933, 0.02},
                      {"heart_none", heart(), Trust::none, 0, 0.863, 0.03},
                      {"digits4_secure", digits(4), Trust::secure, 1, 0.91, 0.03},
                      {"digits4_none", digits(4), Trust::none, 0, 0.766, 0.05},
                      {"digits10_secure", digits(10), Trust::secure, 1, 0.93, 0.03},
                      {"digits10_none", digits(10), Trust::none, 0, 0.577, 0.05}};
  for (const Row& row : rows) {
    const Medians found = medians(row.problem, row.trust, row.colluders, 15);
    RecordProperty(row.name, fmt::format("share {:.4f}, bar {:.3f}", found.share, found.bar));
    EXPECT_NEAR(found.share, row.share, row.slack) << row.name;
    EXPECT_GE(found.bar, 0.5) << row.name;
    EXPECT_LE(found.bar, 2.0) << row.name;
  }
}

// The same rows at the same agents, the noise fixed: a part of noise each, added up in the clear or under masks.
TEST(PrivateAgents, TellTheSameUnderMasksAsInTheClear) {
  const Problem problem = planted(4);
  Party party(4, new_run());
  PrivateAgentsRequest masked = asking(problem, Trust::secure, &party);
  masked.colluders = 0;
  const auto hidden = solve(problem, masked, 5), clear = solve(problem, asking(problem, Trust::neighbours), 5);
  EXPECT_EQ(hidden.pca.release, clear.pca.release);
  EXPECT_EQ(hidden.bases.back(), clear.bases.front());
}

// Rows that move to another agent change nothing that is told, for only the sum is.
TEST(PrivateAgents, ThatAddUpTellNothingButTheSum) {
  Problem problem = planted(3);
  const auto before = solve(problem, asking(problem, Trust::neighbours), 2);
  std::swap(problem.shards[0], problem.shards[2]);
  EXPECT_EQ(solve(problem, asking(problem, Trust::neighbours), 2).pca.release, before.pca.release);
}

// Far above the noise all three are the components of the data.
TEST(PrivateAgents, FindTheComponentsWhereTheBudgetIsLarge) {
  const Problem problem = planted(4);
  Block<double> C = Block<double>::Zero(6, 6);
  for (Block<double> shard : problem.shards) {
    for (Index i = 0; i < shard.rows(); ++i) shard.row(i) *= std::min(1.0, problem.norm / shard.row(i).norm());
    C += shard.transpose() * shard;
  }
  const test::RightVectors eigen = test::reference_right_vectors(C);
  const Block<double> U = eigen.V.leftCols(2);
  Party party(4, new_run());
  for (const Trust trust : {Trust::none, Trust::neighbours, Trust::secure}) {
    const auto found = solve(problem, asking(problem, trust, &party, 60), 1);
    for (const Block<double>& basis : found.bases) EXPECT_LE(sin_theta<double>(U, basis), 0.1) << name(trust);
    EXPECT_NEAR(found.pca.accuracy.values(0) / eigen.values(0), 1.0, 0.02) << name(trust);
    EXPECT_NEAR(found.pca.accuracy.explained, (eigen.values.head(2).sum()) / eigen.values.sum(), 0.03) << name(trust);
  }
}

TEST(PrivateAgents, AddTheNoiseThatTheTrustAsksFor) {
  const Problem problem = planted(4);
  const double central = plan_release(asking(problem, Trust::none).privacy, 6).sigma;
  Party party(4, new_run());
  for (const auto& [trust, colluders, times] : {std::tuple{Trust::none, 0, 2.0},
                                                {Trust::neighbours, 0, 1.0},
                                                {Trust::secure, 0, 1.0},
                                                {Trust::secure, 1, std::sqrt(4.0 / 3)},
                                                {Trust::secure, 3, 2.0}}) {
    PrivateAgentsRequest request = asking(problem, trust, &party);
    request.colluders = colluders;
    EXPECT_NEAR(solve(problem, request, 1).pca.plan.sigma / central, times, 1e-3) << name(trust) << colluders;
  }
}

TEST(PrivateAgents, SayWhatIsPromisedToWhom) {
  const PromisedMu none = promised_mu(Trust::none, 4, 1, 0.2), near = promised_mu(Trust::neighbours, 4, 1, 0.2);
  EXPECT_EQ(none.outside, 0.2);
  EXPECT_EQ(none.all_others, 0.2);
  EXPECT_EQ(near.outside, 0.2);
  EXPECT_DOUBLE_EQ(near.one_agent, 0.4);
  const PromisedMu masked = promised_mu(Trust::secure, 4, 1, 0.2);
  EXPECT_DOUBLE_EQ(masked.one_agent, 0.2);
  EXPECT_LT(masked.outside, 0.2);
  EXPECT_DOUBLE_EQ(masked.all_others, 0.2 * std::sqrt(3.0));
}

TEST(PrivateAgents, GoOnWithoutWhoIsGoneWhereEachHasItsOwnNoise) {
  const Problem problem = planted(5);
  PrivateAgentsRequest request = asking(problem, Trust::none, nullptr, 8);
  request.solve.faults.agents = {{.kind = AgentFault::Kind::crash, .agent = 2, .iteration = 3}};
  const auto found = solve(problem, request, 4);
  EXPECT_EQ(found.contributors, 4);
  request.solve.faults.agents.push_back({.kind = AgentFault::Kind::rejoin, .agent = 2, .iteration = 6});
  int sent = 0;
  request.leaving = [&](Index, std::span<const std::uint64_t>) { ++sent; };
  EXPECT_EQ(solve(problem, request, 4).contributors, 5);
  EXPECT_EQ(sent, 5);  // who comes back brings what it released, and draws nothing anew
}

TEST(PrivateAgents, RefuseARoundThatLacksAnAgent) {
  const Problem problem = planted(3);
  Party party(3, new_run());
  PrivateAgentsRequest request = asking(problem, Trust::secure, &party);
  request.masked_sum = [&party](std::vector<PrivateWords> parts) {
    std::vector<std::span<std::uint64_t>> blocks;
    for (PrivateWords& part : parts) blocks.push_back(part.span());
    (void)party.sum(blocks, {true, false, true});
    return PrivateWords();
  };
  test::expect_error<CommunicationError>([&] { (void)solve(problem, request, 1); }, {"agents 1", "refused"});
  EXPECT_EQ(party.rounds(), 1U);  // and its masks are not used again
}

TEST(PrivateAgents, HaveRoomForOneWithoutRows) {
  Problem problem = planted(3);
  problem.shards[1].resize(0, 6);
  for (const Trust trust : {Trust::none, Trust::neighbours})
    EXPECT_TRUE(solve(problem, asking(problem, trust), 1).pca.solution.power.basis.allFinite()) << name(trust);
}

TEST(PrivateAgents, RefuseWhatNobodyHasAccountedFor) {
  const Problem problem = planted(3);
  Party party(3, new_run());
  const auto refuses = [&](Trust trust, auto&& change, const char* part) {
    PrivateAgentsRequest request = asking(problem, trust, &party);
    bool drawn = false;
    request.leaving = [&](Index, std::span<const std::uint64_t>) { drawn = true; };
    change(request);
    test::expect_error<InvalidArgument>([&] { (void)solve(problem, request, 1); }, {part});
    EXPECT_FALSE(drawn) << part;
  };
  const auto crash = [](PrivateAgentsRequest& r) { r.solve.faults.agents = {{.agent = 1, .iteration = 2}}; };
  refuses(Trust::neighbours, crash, "faults");
  refuses(Trust::secure, crash, "faults");
  refuses(
      Trust::secure, [](PrivateAgentsRequest& r) { r.colluders = 3; }, "colluders = 3");
  refuses(
      Trust::secure, [](PrivateAgentsRequest& r) { r.masked_sum = {}; }, "masks");
  refuses(
      Trust::none, [](PrivateAgentsRequest& r) { r.solve.exact_reference = true; }, "reference");
  refuses(
      Trust::none, [](PrivateAgentsRequest& r) { r.solve.settings.optimal_momentum = true; }, "momentum");
  refuses(
      Trust::none,
      [](PrivateAgentsRequest& r) { r.privacy.center = PrivateCenter::dp_mean, r.privacy.public_rows = 9; }, "dp-mean");
  refuses(
      Trust::none, [](PrivateAgentsRequest& r) { r.solve.settings.power.rank = 7; }, "rank = 7");
  refuses(
      Trust::none, [](PrivateAgentsRequest& r) { r.privacy.row_norm = 0; }, "row-norm");
}

}  // namespace
}  // namespace hearsay::secure

#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/random.hpp>
#include <hearsay/solve_decentralized.hpp>

#include <atomic>
#include <string>

#include "support/planted.hpp"

namespace hearsay {
namespace {

struct Agents {
  AgentData data;
  Block<double> covariance;
};

Agents five_agents() {
  Block<double> rows(200, 8);
  fill_normal<double>({.seed = 5}, rows);
  rows.col(1) *= 5;
  rows.col(4) *= 3;
  std::vector<Block<double>> shards;
  for (Index i = 0; i < 5; ++i) shards.push_back(rows.middleRows(40 * i, 40));
  return {.data = {.shards = covariance_shards(shards, false), .centred = false},
          .covariance = rows.transpose() * rows / 200};
}

DecentralizedRequest agents_asking_for(Index rank) {
  DecentralizedRequest request;
  request.settings.power.rank = rank;
  return request;
}

TEST(SolveDecentralized, ComparesWithTheExactAnswerOfThePooledData) {
  const Agents agents = five_agents();
  AloneTransport here;
  DecentralizedRequest request = agents_asking_for(2);
  request.exact_reference = true;
  request.settings.optimal_momentum = true;

  const auto solved = solve_decentralized(here, GossipMatrix::ring(5), agents.data, request);

  EXPECT_EQ(solved.result.status, Status::converged);
  ASSERT_TRUE(solved.reference);
  for (const Block<double>& basis : solved.result.bases)
    EXPECT_LE(test::reference_sin_theta(*solved.reference, basis), 1e-6);
  EXPECT_LE(solved.result.history.back().sin_theta, 1e-6);
  EXPECT_NE(solved.result.notes.front().find("of the pooled data"), std::string::npos);
  const Block<double>& U = *solved.reference;
  EXPECT_NEAR(solved.result.eigenvalues(0, 0), (agents.covariance * U.col(0)).norm(), 1e-6);
}

TEST(SolveDecentralized, GivesTheEigenvaluesOfThoseWhoStayed) {
  const Agents agents = five_agents();
  AloneTransport here;
  DecentralizedRequest request = agents_asking_for(2);
  request.faults.agents.push_back({.kind = AgentFault::Kind::crash, .agent = 4, .iteration = 3});

  const auto solved = solve_decentralized(here, GossipMatrix::ring(5), agents.data, request);

  const auto by_hand = [&] {
    FaultyNetwork net(GossipMatrix::ring(5), request.faults);
    return decentralized_pca(net, agents.data.operators(), solved.options);
  }();
  EXPECT_EQ(solved.result.contributors.size(), 4U);
  const double scale = covariance_scale(agents.data.shards, by_hand.contributors, false);
  EXPECT_EQ(solved.result.eigenvalues.row(0), by_hand.eigenvalues.row(0) * scale);
}

TEST(SolveDecentralized, CentresTheDampingOfNodesWhoseAverageHasNoNegativeEigenvalue) {
  const Graph graph = ring_graph(6);
  AloneTransport here;
  const AgentData nodes{.nodes = node_operators(graph), .are_nodes = true};

  const auto solved = solve_decentralized(here, GossipMatrix::metropolis(graph), nodes, agents_asking_for(1));

  EXPECT_EQ(solved.result.damping, Damping::centred);
  EXPECT_NEAR(solved.result.eigenvalues(0, 0), 2, 1e-6);
}

TEST(SolveDecentralized, RefusesToPoolWhatRanksHold) {
  const Agents agents = five_agents();
  std::atomic<int> refused = 0;
  run_on_threads(2, [&](Transport& ranks) {
    AgentData mine{.centred = false};
    for (Index i = ranks.rank(); i < 5; i += 2) mine.shards.push_back(agents.data.shards[static_cast<std::size_t>(i)]);
    DecentralizedRequest request = agents_asking_for(2);
    request.exact_reference = true;
    try {
      (void)solve_decentralized(ranks, GossipMatrix::ring(5), mine, request);
    } catch (const InvalidArgument& error) {
      if (std::string(error.what()).find("would pool the data of all ranks") != std::string::npos) ++refused;
    }
  });
  EXPECT_EQ(refused, 2);
}

}  // namespace
}  // namespace hearsay

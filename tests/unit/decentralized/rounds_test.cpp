// How many rounds: chosen automatically, or given and found to be too few.
#include <gtest/gtest.h>
#include <hearsay/angles.hpp>

#include <algorithm>

#include "problems.hpp"

namespace hearsay {
namespace {

using test::planted_problem;
using test::Problem;

// A long ring of agents that see very different data.
Problem hard_problem() { return planted_problem(16, 480, 24, 3, 0.9, 21); }

DecentralizedResult run_rounds(const Problem& problem, DecentralizedOptions options) {
  LocalNetwork net(problem.W);
  options.rank = problem.k;
  return decentralized_pca(net, problem.operators(), options, {.reference = &problem.U});
}

TEST(AutomaticRounds, SettleForATrackedMethodAndGrowForAnUntrackedOne) {
  const Problem problem = hard_problem();

  const auto tracked = run_rounds(problem, {.algorithm = Algorithm::adeepca, .tolerance = 1e-11});
  const auto untracked = run_rounds(problem, {.algorithm = Algorithm::adepm, .tolerance = 1e-11});

  EXPECT_EQ(tracked.status, Status::converged);
  EXPECT_EQ(untracked.status, Status::converged);
  EXPECT_GE(untracked.rounds_per_iteration, 2 * tracked.rounds_per_iteration);
  EXPECT_LT(tracked.traffic.rounds, untracked.traffic.rounds);
}

TEST(AutomaticRounds, WorkWithEveryKindOfGossip) {
  const Problem problem = hard_problem();
  std::vector<std::int64_t> rounds;
  for (const GossipKind kind : {GossipKind::chebyshev, GossipKind::accelerated, GossipKind::plain}) {
    const auto result = run_rounds(problem, {.gossip = kind, .tolerance = 1e-10});

    EXPECT_EQ(result.status, Status::converged) << name(kind);
    rounds.push_back(result.traffic.rounds);
  }

  EXPECT_TRUE(std::is_sorted(rounds.begin(), rounds.end())) << rounds[0] << ' ' << rounds[1] << ' ' << rounds[2];
}

TEST(AutomaticRounds, KeepTheNoiseBelowTheResidual) {
  const auto result = run_rounds(hard_problem(), {.tolerance = 1e-10});

  for (const auto& entry : result.history)
    if (entry.t >= 20) {
      EXPECT_LE(entry.disagreement, 2 * entry.residual) << entry.t;
    }
}

TEST(TooFewRounds, AreNoticedAndRaisedByTrackedMethods) {
  const Problem problem = hard_problem();

  for (const Algorithm algorithm : {Algorithm::deepca, Algorithm::adeepca}) {
    const auto result = run_rounds(problem, {.algorithm = algorithm, .rounds = 1, .tolerance = 1e-10});

    EXPECT_EQ(result.status, Status::converged);
    EXPECT_GE(result.restarts, 1);
    EXPECT_GT(result.rounds_per_iteration, 1);
    ASSERT_FALSE(result.notes.empty());
    EXPECT_NE(result.notes.front().find("rounds = 1: too few for tracking on this network, raised to "),
              std::string::npos);
    for (const auto& basis : result.bases) EXPECT_LE(sin_theta<double>(problem.U, basis), 1e-8);
  }
}

TEST(TooFewRounds, AreKeptWhenTheCallerInsists) {
  const auto result =
      run_rounds(hard_problem(), {.rounds = 1, .raise_rounds = false, .max_iterations = 200, .tolerance = 1e-10});

  EXPECT_EQ(result.status, Status::iteration_limit);
  EXPECT_EQ(result.restarts, 0);
  EXPECT_EQ(result.traffic.rounds, 200);
}

TEST(EnoughRounds, AreNeverRaised) {
  for (const Algorithm algorithm : {Algorithm::deepca, Algorithm::adeepca}) {
    const auto result =
        run_rounds(hard_problem(), {.algorithm = algorithm, .rounds = 25, .max_iterations = 3000, .tolerance = 1e-10});

    EXPECT_EQ(result.status, Status::converged) << name(algorithm);
    EXPECT_EQ(result.restarts, 0) << name(algorithm);
  }
}

}  // namespace
}  // namespace hearsay

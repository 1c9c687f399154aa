#include "experiments/agent_runs.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>

#include "support/random_block.hpp"

namespace hearsay::experiments {
namespace {

std::shared_ptr<const Agents> ring_of_four() {
  Block<double> data = test::random_block(200, 8, 3);
  for (Index j = 0; j < 8; ++j) data.col(j) *= std::pow(0.7, static_cast<double>(j));
  return std::make_shared<Agents>(covariance_shards(data, contiguous_split(200, 4)), GossipMatrix::ring(4));
}

AgentsRun small_agents_run(Algorithm algorithm, Index rounds) {
  return {.data = "random", .agents = ring_of_four(), .algorithm = algorithm, .rounds = rounds, .iterations = 120};
}

TEST(AgentsRun, EndsAtAFloorThatRoundsLowerUnlessTheMethodTracks) {
  const double few = trace(small_agents_run(Algorithm::adepm, 3), 1).error.back();
  const double many = trace(small_agents_run(Algorithm::adepm, 12), 1).error.back();
  const double tracked = trace(small_agents_run(Algorithm::adeepca, 3), 1).error.back();

  EXPECT_GT(few, 1e-4);
  EXPECT_LT(many, few / 10);
  EXPECT_LT(tracked, 1e-10);
}

TEST(AgentsRun, CountsRoundsAndBytes) {
  const Trace run = trace(small_agents_run(Algorithm::depm, 5), 1);

  ASSERT_EQ(run.error.size(), run.rounds.size());
  ASSERT_EQ(run.error.size(), run.bytes.size());
  EXPECT_EQ(run.rounds[10] - run.rounds[9], 5);
  EXPECT_GT(run.bytes[10], run.bytes[9]);
}

TEST(AgentsRun, KnowsTheAnswerOfAllTheData) {
  const AgentsRun run = small_agents_run(Algorithm::adepm, 5);
  const Trace done = trace(run, 1);

  EXPECT_NEAR(done.facts.at("gap_of_W"), 0.5, 1e-12);
  EXPECT_GT(done.facts.at("lambda_k"), done.facts.at("lambda_next"));
  EXPECT_GE(done.facts.at("local_norm"), run.agents->eigenvalue(0)) << "the average is no larger than its largest part";
}

TEST(AgentsRun, RefusesToRunWithoutItsData) {
  EXPECT_THROW(trace(AgentsRun{.data = "heart"}, 1), InvalidArgument);
  AgentsRun run = small_agents_run(Algorithm::depm, 5);
  run.rank = 8;
  EXPECT_THROW(trace(run, 1), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::experiments

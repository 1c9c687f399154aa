#include "experiments/rounds.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>

#include <algorithm>
#include <cmath>

#include "support/random_block.hpp"

namespace hearsay::experiments {
namespace {

RoundsRun small_rounds_run(Algorithm algorithm, std::vector<Index> rounds) {
  Block<double> data = test::random_block(200, 8, 3);
  for (Index j = 0; j < 8; ++j) data.col(j) *= std::pow(0.7, static_cast<double>(j));
  return {.agents = {.data = "random",
                     .agents = std::make_shared<Agents>(covariance_shards(data, contiguous_split(200, 4)),
                                                        GossipMatrix::ring(4)),
                     .algorithm = algorithm,
                     .iterations = 200},
          .rounds = std::move(rounds),
          .level = 1e-6};
}

TEST(RoundsRun, FindsTheSmallestNumberOfRoundsThatGetsThere) {
  const Trace done = trace(small_rounds_run(Algorithm::adepm, {1, 2, 4, 8, 16, 20}), 1);

  ASSERT_EQ(done.swept, (std::vector<double>{1, 2, 4, 8, 16, 20}));
  EXPECT_TRUE(std::isinf(done.error.front())) << "one round leaves a floor above the level";
  const auto first =
      std::find_if(done.error.begin(), done.error.end(), [](double total) { return std::isfinite(total); });
  ASSERT_NE(first, done.error.end());
  EXPECT_EQ(done.facts.at("least_rounds"), done.swept[static_cast<std::size_t>(first - done.error.begin())]);
  EXPECT_EQ(done.facts.at("best_total"), *std::min_element(done.error.begin(), done.error.end()));
  EXPECT_EQ(done.facts.at("best_total"), done.facts.at("best_rounds") * done.facts.at("best_iterations"));
}

TEST(RoundsRun, AgreesWithTheWholeRun) {
  const RoundsRun sweep = small_rounds_run(Algorithm::adeepca, {3});
  AgentsRun whole = sweep.agents;
  whole.rounds = 3;

  const Trace swept = trace(sweep, 1), run = trace(whole, 1);

  const auto first =
      std::find_if(run.error.begin(), run.error.end(), [&](double error) { return error <= sweep.level; });
  EXPECT_EQ(swept.facts.at("least_iterations"), static_cast<double>(first - run.error.begin()));
}

TEST(RoundsRun, PromisesOnlyWhatIsProved) {
  const Trace proved = trace(small_rounds_run(Algorithm::adepm, {16}), 1),
              ours = trace(small_rounds_run(Algorithm::adeepca, {4}), 1);

  EXPECT_GE(proved.facts.at("promised_rounds"), proved.facts.at("least_rounds"));
  EXPECT_TRUE(proved.facts.contains("promised_by_xu"));
  EXPECT_FALSE(ours.facts.contains("promised_rounds"));
}

TEST(RoundsRun, RefusesRoundsOutOfOrder) {
  EXPECT_THROW(trace(small_rounds_run(Algorithm::depm, {4, 2}), 1), InvalidArgument);
  EXPECT_THROW(trace(small_rounds_run(Algorithm::depm, {}), 1), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::experiments

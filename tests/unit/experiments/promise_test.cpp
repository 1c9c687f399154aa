#include "experiments/promise.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>

#include <cmath>

#include "support/random_block.hpp"

namespace hearsay::experiments {
namespace {

PromiseRun small_promise_run() {
  Block<double> data = test::random_block(200, 8, 3);
  for (Index j = 0; j < 8; ++j) data.col(j) *= std::pow(0.7, static_cast<double>(j));
  return {.agents = {.data = "random",
                     .agents = std::make_shared<Agents>(covariance_shards(data, contiguous_split(200, 4)),
                                                        GossipMatrix::ring(4))},
          .level = 1e-3,
          .audit = true};
}

TEST(PromiseRun, IsKeptByEveryAgentFromTToTwiceT) {
  const Trace run = trace(small_promise_run(), 1);

  EXPECT_LE(run.facts.at("worst_over_level"), 1);
  EXPECT_GE(static_cast<double>(run.error.size()), 2 * run.facts.at("T"));
  EXPECT_EQ(run.rounds[3] - run.rounds[2], std::ceil(run.facts.at("promised_rounds")));
}

TEST(PromiseRun, HasAMeanIterateWhoseNoiseTheProofBounds) {
  const Trace run = trace(small_promise_run(), 1);

  EXPECT_LE(run.facts.at("noise_over_allowed"), 1);
  EXPECT_GT(run.facts.at("noise_over_allowed"), 0);
  EXPECT_LE(run.facts.at("X_over_allowed"), 1);
  EXPECT_LE(run.facts.at("Y_over_allowed") * run.facts.at("Y_allowed"), 1e-13) << "rounding: it asks for 4e-17";
  EXPECT_LE(run.facts.at("shadow_deviation"), 1e-13) << "the iterates beside the run are those of the run";
}

TEST(PromiseRun, BreaksItsConditionsWithTooFewRounds) {
  PromiseRun few = small_promise_run();
  few.rounds = 2;

  const Trace run = trace(few, 1);

  EXPECT_GT(run.facts.at("noise_over_allowed"), 1);
  EXPECT_GT(run.facts.at("worst_over_level"), 1);
  EXPECT_LE(run.facts.at("shadow_deviation"), 1e-11);
}

TEST(PromiseRun, RefusesALevelThatIsNoSine) {
  PromiseRun run = small_promise_run();
  run.level = 1;
  EXPECT_THROW(trace(run, 1), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::experiments

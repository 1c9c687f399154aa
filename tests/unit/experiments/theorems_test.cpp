#include <gtest/gtest.h>
#include <hearsay/error.hpp>

#include "experiments/runs.hpp"

namespace hearsay::experiments {
namespace {

using Theorem = TheoremRun::Theorem;

TEST(TheoremRun, FollowsTheClosedFormOfTheLowerBound) {
  const TheoremRun measured{.theorem = Theorem::lower_bound, .lambda_next = 0.99, .iterations = 120};
  TheoremRun closed = measured;
  closed.theorem = Theorem::closed_form;

  const Trace run = trace(measured, 2), formula = trace(closed, 2);

  EXPECT_LE(run.facts.at("deviation"), 1e-8);
  ASSERT_EQ(run.error.size(), formula.error.size());
  EXPECT_NEAR(run.error[50] / formula.error[50], 1, 1e-8);
  EXPECT_LT(run.error[120], 1e-3 * run.error[0]);
}

TEST(TheoremRun, NeverReachesEpsilonInTheTightExamples) {
  const Trace outside = trace(TheoremRun{.theorem = Theorem::tight_outside, .lambda_next = 0.9}, 0);
  const Trace inside = trace(TheoremRun{.theorem = Theorem::tight_inside, .lambda_next = 0.9}, 0);

  EXPECT_GT(outside.facts.at("least_over_epsilon"), 1);
  EXPECT_NEAR(outside.error.back(), 8 * 1e-2, 1e-3);  // psi/(l_k - l_{k+1})
  EXPECT_LE(inside.facts.at("drift"), 1e-9);
}

class Guarantees : public testing::TestWithParam<Theorem> {};

TEST_P(Guarantees, AreKeptWithTheNoiseTheyAllow) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const Trace run = trace(TheoremRun{.theorem = GetParam(), .beta = 0.1, .iterations = 1000}, seed);

    EXPECT_LE(run.facts.at("worst_over_epsilon"), 1);
    EXPECT_GT(run.facts.at("worst_over_epsilon"), 1e-4) << "there must be noise for this to mean anything";
    EXPECT_EQ(run.facts.at("violations"), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Theorems, Guarantees,
                         testing::Values(Theorem::main, Theorem::small_beta, Theorem::no_momentum));

TEST(TheoremRun, RefusesToEndBeforeThePromiseBegins) {
  EXPECT_THROW(trace(TheoremRun{.theorem = Theorem::main, .iterations = 10}, 1), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::experiments

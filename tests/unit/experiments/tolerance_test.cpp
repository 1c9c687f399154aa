#include "experiments/tolerance.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>

#include <cmath>

namespace hearsay::experiments {
namespace {

using Analysis = ToleranceRun::Analysis;
using Part = ToleranceRun::Part;

ToleranceRun small_tolerance_run(Analysis analysis, Part part) {
  return {.analysis = analysis, .part = part, .dimension = 12, .rank = 2, .lambda_next = 0.8, .most = 8, .levels = 5};
}

TEST(ToleranceRun, FindsTheNoiseAtWhichAConstantPushEndsAtEpsilon) {
  // A push psi along u_{k+1} ends at tan = psi/(l_k - l_{k+1}) for every admissible beta, so at size 1 of these units.
  for (const Analysis analysis : {Analysis::hardt_price, Analysis::this_paper}) {
    const Trace done = trace(small_tolerance_run(analysis, Part::outside), 1);

    EXPECT_NEAR(done.facts.at("broken_at"), 1, 0.05);
    EXPECT_NEAR(done.facts.at("margin"), 32, 1.6) << "the condition allows 1/32";
    EXPECT_GT(done.facts.at("broken_at_random"), done.facts.at("broken_at"));
  }
}

TEST(ToleranceRun, NeverConvergesInTimeOnceTheNoiseInsideTakesTheWholeGap) {
  const Trace done = trace(small_tolerance_run(Analysis::this_paper, Part::inside), 2);

  EXPECT_GT(done.facts.at("broken_at"), 1.0 / 32);
  EXPECT_LE(done.facts.at("broken_at"), 1);
}

TEST(ToleranceRun, AllowsByTheEarlierAnalysisFarLess) {
  const double here = trace(small_tolerance_run(Analysis::this_paper, Part::outside), 1).facts.at("allowed");
  const double earlier = trace(small_tolerance_run(Analysis::xu, Part::outside), 1).facts.at("allowed");

  EXPECT_DOUBLE_EQ(here, 1.0 / 32);
  EXPECT_LT(earlier, here / 100);
  EXPECT_GT(earlier, 0);
}

TEST(ToleranceRun, ShowsTheErrorAgainstTheSizeOfTheNoise) {
  const ToleranceRun run = small_tolerance_run(Analysis::this_paper, Part::outside);

  const Trace done = trace(run, 1);

  ASSERT_EQ(done.swept.size(), 5u);
  EXPECT_DOUBLE_EQ(done.swept.front(), run.least);
  EXPECT_NEAR(done.swept.back(), run.most, 1e-12);
  EXPECT_LE(done.error.front(), 1);
  EXPECT_GT(done.error.back(), 1);
}

TEST(ToleranceRun, RefusesWhatCannotBeSwept) {
  ToleranceRun run = small_tolerance_run(Analysis::xu, Part::inside);
  run.least = run.most;
  EXPECT_THROW(trace(run, 1), InvalidArgument);
  run = small_tolerance_run(Analysis::xu, Part::inside);
  run.lambda_1 = 0.9;
  EXPECT_THROW(trace(run, 1), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::experiments

#include "experiments/exponents.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>

#include <cmath>

namespace hearsay::experiments {
namespace {

using Analysis = ToleranceRun::Analysis;
using Part = ToleranceRun::Part;

double exponent(Analysis analysis, Part part, double lambda_next) {
  return trace(ExponentRun{.analysis = analysis, .part = part, .lambda_next = lambda_next}, 1).facts.at("exponent");
}

TEST(ExponentRun, IsOneAndZeroInTheMainTheorem) {
  EXPECT_NEAR(exponent(Analysis::this_paper, Part::outside, 0.9), 1, 1e-12);
  EXPECT_NEAR(exponent(Analysis::this_paper, Part::inside, 0.9), 0, 1e-12);
}

TEST(ExponentRun, GrowsWithTheRootOfTheGapInTheEarlierAnalysis) {
  for (const Part part : {Part::outside, Part::inside}) {
    const double wide = exponent(Analysis::xu, part, 0.9), narrow = exponent(Analysis::xu, part, 0.99);

    EXPECT_NEAR(std::log(narrow / wide) / std::log(10), 0.5, 0.1);
    EXPECT_GT(wide, trace(ExponentRun{.part = part, .lambda_next = 0.9}, 1).facts.at("mu"));
  }
}

TEST(ExponentRun, RefusesEigenvaluesOutOfOrder) {
  EXPECT_THROW(trace(ExponentRun{.lambda_next = 1}, 1), InvalidArgument);
  EXPECT_THROW(trace(ExponentRun{.least = 0.5, .most = 0.1}, 1), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::experiments

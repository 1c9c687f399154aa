#include <gtest/gtest.h>

#include <cmath>
#include <hearsay/error.hpp>
#include <hearsay/theory.hpp>
#include <limits>

namespace hearsay::theory {
namespace {

TEST(GapFunction, LiesBetweenOneAndRootTwo) {
  for (int i = 0; i <= 1000; ++i) {
    const double f = f_delta(i / 1000.0);
    EXPECT_LE(1.0, f);
    EXPECT_LE(f, std::sqrt(2.0) + 1e-15);
  }
}

TEST(GapFunction, IsRootSixMinusRootTwoAtOneHalf) { EXPECT_NEAR(f_delta(0.5), std::sqrt(6.0) - std::sqrt(2.0), 1e-15); }

TEST(GapFunction, GivesTheExactRatioOfRootBetaToTheUpperRoot) {
  const double beta = 0.2, lambda_k = 1.0;
  const double gap = delta(lambda_k, beta);

  EXPECT_NEAR(std::sqrt(beta) / upper_root(lambda_k, beta), 1 - std::sqrt(gap) * f_delta(gap), 1e-15);
}

TEST(AsymptoticRate, IsTheLogarithmOfTheEigenvalueRatioWithoutMomentum) {
  EXPECT_NEAR(asymptotic_rate(1.0, 0.99, 0.0), std::log(1 / 0.99), 1e-15);
}

TEST(AsymptoticRate, IsTheLogarithmOfTheUpperRootOverRootBeta) {
  EXPECT_NEAR(asymptotic_rate(1.0, 0.9, 0.2025), std::log(upper_root(1.0, 0.2025) / 0.45), 1e-14);
}

TEST(AsymptoticRate, IsLargestAtTheOptimalMomentum) {
  const double best = asymptotic_rate(1.0, 0.99, optimal_beta(0.99));

  for (const double beta : {0.0, 0.1, 0.2, 0.24, 0.2455, 0.2475, 0.249})
    EXPECT_LE(asymptotic_rate(1.0, 0.99, beta), best);
}

TEST(AsymptoticRate, StaysAccurateAtATinyGap) {
  const double gap = 1e-12;

  EXPECT_NEAR(asymptotic_rate(1.0, 1.0 - gap, optimal_beta(1.0 - gap)) / std::sqrt(2 * gap), 1.0, 1e-4);
}

TEST(AsymptoticRate, IsInfiniteWhereNothingUnwantedIsLeft) { EXPECT_TRUE(std::isinf(asymptotic_rate(1.0, 0.0, 0.0))); }

TEST(PromisedContraction, IsNeverFasterThanTheExactRate) {
  for (const double gap : {1e-6, 1e-3, 0.1, 0.5, 0.9}) {
    const double next = 1 - gap, beta = optimal_beta(next);
    EXPECT_LE(-std::log(contraction_anpm(1.0, beta)), asymptotic_rate(1.0, next, beta));
    EXPECT_LE(-std::log(contraction_npm(1.0, next)), asymptotic_rate(1.0, next, 0.0));
    EXPECT_LE(-std::log(contraction_small_beta(1.0, next, beta / 2)), asymptotic_rate(1.0, next, beta / 2));
  }
}

TEST(SmallBetaContraction, HasTheConstantOfTheErratum) {
  EXPECT_NEAR(small_beta_constant, 0.904, 2e-4);
  EXPECT_NEAR(contraction_small_beta(1.0, 0.9, 0.0), contraction_npm(1.0, 0.9), 1e-15);
}

TEST(SmallBetaContraction, ImprovesWithMomentum) {
  EXPECT_LT(contraction_small_beta(1.0, 0.9, 0.1), contraction_npm(1.0, 0.9));
  EXPECT_LT(contraction_small_beta(1.0, 0.9, 0.2), contraction_small_beta(1.0, 0.9, 0.1));
}

TEST(CentredDamping, NearlyDoublesTheRelativeGap) {
  const Damped centred = damped(1.0, 0.99, Damping::centred), symmetric = damped(1.0, 0.99, Damping::symmetric);

  EXPECT_NEAR(centred.delta, 0.01 / 0.505, 1e-15);
  EXPECT_NEAR(symmetric.delta, 0.01, 1e-15);
  EXPECT_NEAR(delta(centred.lambda_k, centred.beta), centred.delta, 1e-14);
}

TEST(CentredDamping, LeavesTheNoiseToleranceAlone) {
  const Damped centred = damped(1.0, 0.99, Damping::centred), symmetric = damped(1.0, 0.99, Damping::symmetric);

  EXPECT_NEAR(noise_anpm(centred.lambda_k, centred.beta, 1e-2, 0.5).outside,
              noise_anpm(symmetric.lambda_k, symmetric.beta, 1e-2, 0.5).outside, 1e-17);
}

TEST(CentredDamping, PredictsTheMeasuredSaving) {  // 80 -> 57 iterations at gap 1e-2, 250 -> 185 at 1e-3
  for (const double gap : {1e-2, 1e-3}) {
    const double b = 1 - gap;
    const Damped seen = damped(1.0, b, Damping::centred);
    const double saving =
        asymptotic_rate(seen.lambda_k, b - seen.shift, seen.beta) / asymptotic_rate(1.0, b, b * b / 4);
    EXPECT_NEAR(saving, 1.4, 0.03);
  }
}

TEST(Rates, RefuseArgumentsOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();

  EXPECT_THROW(delta(1.0, 0.25), InvalidArgument);
  EXPECT_THROW(delta(nan, 0.1), InvalidArgument);
  EXPECT_THROW(f_delta(1.5), InvalidArgument);
  EXPECT_THROW(contraction_npm(1.0, 1.0), InvalidArgument);
  EXPECT_THROW(contraction_small_beta(1.0, 0.5, 0.1), InvalidArgument);
  EXPECT_THROW(damped(1.0, nan, Damping::centred), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::theory

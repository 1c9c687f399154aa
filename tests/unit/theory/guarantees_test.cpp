#include <gtest/gtest.h>

#include <cmath>
#include <hearsay/error.hpp>
#include <hearsay/theory.hpp>
#include <limits>

#include "dense_anpm.hpp"

namespace hearsay::theory {
namespace {

using test::Dense;

TEST(LowerBoundInstance, FollowsItsClosedFormDownToRounding) {
  const double lambda_k = 1.0, beta = 0.99 * 0.99 / 4;
  std::mt19937_64 generator(3);
  const Dense X_0 = test::positive_qr(test::gaussian_block(30, 3, generator)).Q;
  const double h0 = test::tangent_to_first_axes(X_0);
  const auto compare = [&](std::int64_t t, const Dense& X, const Dense&) {
    const double expected = lower_bound_tangent(t, lambda_k, beta, h0);
    if (expected < 1e-10) return;
    EXPECT_NEAR(test::tangent_to_first_axes(X), expected, 1e-8 * expected) << "t = " << t;
  };

  test::dense_anpm(test::lower_bound_matrix(30, 3, lambda_k, beta), X_0, beta, 200, test::no_noise, compare);

  EXPECT_LT(lower_bound_tangent(200, lambda_k, beta, h0), 1e-10);
}

TEST(LowerBoundInstance, IsTheRatioOfTheTwoPolynomials) {
  for (const std::int64_t t : {0, 1, 2, 10, 60})
    EXPECT_NEAR(lower_bound_tangent(t, 1.0, 0.16, 5.0), 5.0 * p(t, 0.8, 0.16) / p(t, 1.0, 0.16), 1e-12);
}

TEST(LowerBoundInstance, FallsToZeroInsteadOfFailingAtLargeT) {
  EXPECT_EQ(lower_bound_tangent(1000000000, 1.0, 0.2, 3.0), 0.0);
  EXPECT_EQ(lower_bound_tangent(5, 1.0, 0.0, 3.0), 0.0);
  EXPECT_EQ(lower_bound_tangent(0, 1.0, 0.0, 3.0), 3.0);
}

TEST(PrintedEnvelope, FailsAtTheFirstStepOfTheLowerBoundInstance) {
  const double beta = optimal_beta(0.99);
  const Target target{.epsilon = 1e-2, .h0 = 10.0};

  EXPECT_GT(lower_bound_tangent(1, 1.0, beta, target.h0), envelope_as_printed(1, 1.0, beta, target));
}

TEST(Envelope, HoldsOnTheLowerBoundInstanceForEveryGap) {
  for (const double gap : {1e-6, 1e-4, 1e-2, 0.1, 0.25, 0.5, 0.9})
    for (const double h0 : {0.01, 1.0, 1e3})
      for (std::int64_t t = 0; t < 3000; t += 1 + t / 10) {
        const double beta = optimal_beta(1 - gap);
        EXPECT_LE(lower_bound_tangent(t, 1.0, beta, h0), envelope(t, 1.0, beta, {.epsilon = 1e-9, .h0 = h0}));
      }
}

TEST(MainTheorem, PromisesTheTargetAtT) {
  const Target target{.epsilon = 1e-3, .h0 = 50.0};
  const double T = iterations_anpm(1.0, 0.2025, target);

  EXPECT_NEAR(envelope_as_printed(static_cast<std::int64_t>(std::ceil(T)), 1.0, 0.2025, target), target.epsilon, 1e-4);
  EXPECT_NEAR(T, std::log(1e5) / -std::log(1 - std::sqrt(0.1) / 2), 1e-9);
}

// The proof bounds tan(theta_k) by kappa_1 + c_1 h_0 rho^t with this sharper rho. The printed T rests on it where
// h_0 >= epsilon; the worst case is epsilon = h_0 = 1.
TEST(MainTheorem, KeepsItsTAfterTheStartConstantIsPutBack) {
  const double c = noise_constant, c_1 = start_constant, eta_constant = 2.0 / 15.0;
  for (int i = 1; i < 2000; ++i) {
    const double gap = std::pow(10.0, -8.0 * (1 - i / 2000.0)), root_beta = (1 - gap) / 2;
    const double gamma = root_beta / ((1 - c) * upper_root(1.0, root_beta * root_beta) + c * root_beta);
    const double eta = eta_constant * gap;  // the worst, epsilon = 1
    const double rho = gamma + eta / 2 + std::sqrt(eta * gamma + eta * eta / 4);
    const double kappa_1 = eta / ((1 - gamma) * (1 - gamma) - eta);
    const double T = iterations_anpm(1.0, root_beta * root_beta, {.epsilon = 0.999999, .h0 = 0.999999});

    EXPECT_LE(rho, 1 - std::sqrt(gap) / 2);
    EXPECT_LE(kappa_1 + c_1 * std::pow(rho, T), 1.0);
  }
}

TEST(Iterations, AreZeroFromAStartThatIsGoodEnough) {
  EXPECT_EQ(iterations_anpm(1.0, 0.2, {.epsilon = 0.1, .h0 = 0.01}), 0.0);
  EXPECT_EQ(predicted_iterations(0.1, {.epsilon = 0.1, .h0 = 0.01}), 0.0);
}

TEST(Iterations, PredictWhatTheFirstFigureShows) {  // 64-98 with momentum, 517-940 without, over five random starts
  const Target target{.epsilon = 1e-2, .h0 = random_start_tangent(1000, 10)};
  const double accelerated = predicted_iterations(asymptotic_rate(1.0, 0.99, optimal_beta(0.99)), target);
  const double plain = predicted_iterations(asymptotic_rate(1.0, 0.99, 0.0), target);

  EXPECT_GE(accelerated, 64);
  EXPECT_LE(accelerated, 98);
  EXPECT_GE(plain, 517);
  EXPECT_LE(plain, 1.1 * 940);
}

TEST(Iterations, ReduceToTheStatedFormsWithoutMomentum) {
  const Target target{.epsilon = 1e-3, .h0 = 7.0};

  EXPECT_NEAR(iterations_npm(1.0, 0.9, target), std::log(14e3) / -std::log(1 - small_beta_constant * 0.1), 1e-9);
  EXPECT_NEAR(iterations_small_beta(1.0, 0.9, 0.0, target) / iterations_npm(1.0, 0.9, target),
              std::log(434.0 / 195.0 * 7e3) / std::log(14e3), 1e-12);
  EXPECT_NEAR(iterations_hardt_price_order(1.0, 0.9, 1e-3), 10 * std::log(1e3), 1e-9);
  EXPECT_NEAR(iterations_xu_order(1.0, 0.2025, target), std::sqrt(10.0) * std::log(7e3), 1e-9);
}

TEST(RandomStart, HasTheStatedTangent) {
  EXPECT_NEAR(random_start_tangent(1000, 10), std::sqrt(1000.0) / (std::sqrt(10.0) - 3.0), 1e-9);
  EXPECT_NEAR(random_start_tangent(16, 1, 2.0), 8.0, 1e-14);
}

TEST(NoiseTolerance, ScalesWithTheGap) {
  const Tolerance tolerance = noise_anpm(1.0, 0.2025, 1e-2, 0.3);

  EXPECT_NEAR(tolerance.outside, 0.1 * 1e-2 / 32, 1e-17);
  EXPECT_NEAR(tolerance.inside, 0.1 * 0.3 / 32, 1e-16);
  EXPECT_NEAR(noise_npm(1.0, 0.9, 1e-2, 0.3).outside, tolerance.outside, 1e-17);
}

TEST(EarlierNoiseTolerance, IsWorstWhereItsMinimumLies) {
  for (const std::int64_t T : {1, 2, 50, 400})
    for (const double lambda_1 : {1.0, 1.01, 3.0}) {
      Tolerance least = noise_xu_order(0, T, lambda_1, 1.0, 0.2025, 5.0);
      for (std::int64_t t = 1; t <= T; ++t) {
        const Tolerance here = noise_xu_order(t, T, lambda_1, 1.0, 0.2025, 5.0);
        least = {.outside = std::min(least.outside, here.outside), .inside = std::min(least.inside, here.inside)};
      }
      const Tolerance worst = noise_xu_worst_order(T, lambda_1, 1.0, 0.2025, 5.0);
      EXPECT_DOUBLE_EQ(worst.outside, least.outside);
      EXPECT_DOUBLE_EQ(worst.inside, least.inside);
    }
}

TEST(EarlierNoiseTolerance, IsFarBelowTheMainTheorems) {
  const double beta = optimal_beta(0.99);

  EXPECT_LT(noise_xu_worst_order(100, 2.0, 1.0, beta, 10.0).outside, 1e-20 * noise_anpm(1.0, beta, 1e-2, 0.1).outside);
}

TEST(Guarantees, RefuseArgumentsOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();

  EXPECT_THROW(iterations_anpm(1.0, 0.2, {.epsilon = 1.0, .h0 = 1.0}), InvalidArgument);
  EXPECT_THROW(iterations_npm(1.0, 0.9, {.epsilon = 0.1, .h0 = nan}), InvalidArgument);
  EXPECT_THROW(predicted_iterations(0.0, {.epsilon = 0.1, .h0 = 1.0}), InvalidArgument);
  EXPECT_THROW(noise_anpm(1.0, 0.2, 0.1, 1.5), InvalidArgument);
  EXPECT_THROW(noise_xu_order(3, 2, 1.0, 1.0, 0.2, 1.0), InvalidArgument);
  EXPECT_THROW(noise_xu_order(0, 2, 0.5, 1.0, 0.2, 1.0), InvalidArgument);
  EXPECT_THROW(random_start_tangent(3, 4), InvalidArgument);
  EXPECT_THROW(lower_bound_tangent(-1, 1.0, 0.2, 1.0), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::theory

// Below the noise floor: what averages of noisy products reach, and whether their error bar is true.
#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/error.hpp>
#include <hearsay/noise.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/subspace.hpp>

#include <cmath>

#include "support/planted.hpp"

namespace hearsay {
namespace {

using test::paper_spectrum;
using test::planted_spectrum;
using test::reference_sin_theta;

// sigma sqrt(k) / (sqrt(N/k) gap): k entries of the mean of N/k errors, over the gap to the one eigenvalue that is
// near.
double statistical_limit(double sigma, double gap, double k, double products) {
  return sigma * std::sqrt(k) / (std::sqrt(products / k) * gap);
}

struct Averages : testing::Test {
  const test::Planted planted = planted_spectrum(paper_spectrum(300, 5, 0.01), 21);
  const DenseSymmetric<double> exact{planted.A};
  const Block<double> U = planted.top(5);

  PowerResult<double> solve(const NoiseModel<double>& model, PowerOptions options, const Hooks<double>& hooks = {}) {
    options.rank = 5;
    return principal_subspace<double>(noisy(exact, model), options, hooks);
  }
};

TEST_F(Averages, AreWhatNoisyProductsGetByDefault) {
  const auto result = solve(gaussian_noise<double>(1e-5, 1), {});

  EXPECT_EQ(result.method, SolveMethod::averaged);
  EXPECT_EQ(result.status, Status::noise_floor);
  EXPECT_EQ(result.columns, 6);
  EXPECT_GE(result.bar.steps, 30);
  EXPECT_EQ(result.bar.kind, BarKind::calibrated);
  EXPECT_EQ(result.sin_theta_estimate, result.bar.sin_theta);
  EXPECT_EQ(result.certificate.sin_theta, Knowledge::estimate);
  EXPECT_EQ(result.certificate.sin_theta_estimate, result.bar.sin_theta);
}

TEST_F(Averages, FollowTheStatisticalLimitAsProductsGrow) {
  for (const Index budget : {500, 2000, 8000}) {
    double error = 0;
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      const auto result = solve(gaussian_noise<double>(1e-5, seed), {.product_budget = budget, .seed = seed});

      EXPECT_LE(result.products, budget);
      EXPECT_GT(result.products, budget - 12);
      error += reference_sin_theta(U, result.basis) / 5;
    }
    EXPECT_LE(error / statistical_limit(1e-5, 0.01, 5, static_cast<double>(budget)), 1.5) << budget;
  }
}

TEST_F(Averages, ComeWithABarThatIsTrue) {
  int within = 0, runs = 0;
  for (const double sigma : {1e-6, 1e-5, 1e-4})
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7}) {
      const auto result = solve(gaussian_noise<double>(sigma, seed), {.product_budget = 1000, .seed = seed});

      const double ratio = result.bar.sin_theta / reference_sin_theta(U, result.basis);
      within += ratio >= 1 / bar_factor && ratio <= bar_factor;
      ++runs;
    }

  EXPECT_GE(within, runs - 1);
}

TEST_F(Averages, GoOnUntilTheBarMeetsTheAccuracy) {
  const auto result = solve(gaussian_noise<double>(1e-5, 3), {.accuracy = 1e-4});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_LE(result.bar.sin_theta, 1e-4);
  EXPECT_LE(reference_sin_theta(U, result.basis), 3e-4);
}

TEST_F(Averages, SayHowManyProductsAnAccuracyOutOfReachWouldTake) {
  const auto result = solve(gaussian_noise<double>(1e-5, 3), {.accuracy = 1e-7});

  EXPECT_EQ(result.status, Status::noise_floor);
  // (limit / 1e-7)^2 k products by the statistical limit
  const double needed = std::pow(statistical_limit(1e-5, 0.01, 5, 1) / 1e-7, 2);
  EXPECT_NEAR(std::log(result.bar.products_needed / needed), 0, std::log(2.0));
  EXPECT_LE(result.iterations, 200);
}

TEST_F(Averages, MeetTheEigenvaluesWithinTheirBars) {
  const auto result = solve(gaussian_noise<double>(1e-4, 5), {.product_budget = 3000});

  ASSERT_EQ(result.bar.eigenvalues.size(), 5);
  for (Index i = 0; i < 5; ++i) {
    EXPECT_GT(result.bar.eigenvalues(i), 0);
    // the five are one eigenvalue: sorting spreads them by a little more than their errors
    EXPECT_NEAR(result.eigenvalues(i), 1.0, 6 * result.bar.eigenvalues(i));
  }
}

TEST_F(Averages, ResolveNoSingleVectorOfADegenerateEigenvalue) {
  const auto result = solve(gaussian_noise<double>(1e-5, 6), {.product_budget = 1000});

  EXPECT_EQ(result.bar.resolved, 0);  // five equal eigenvalues: the space is known, its vectors are not
  EXPECT_LE(result.bar.sin_theta, 1e-2);
}

TEST_F(Averages, OfABiasedErrorAreIndicative) {
  const auto result = solve(adversarial_noise<double>(planted.U, 1e-3, 4), {});

  EXPECT_EQ(result.bar.kind, BarKind::indicative);
  EXPECT_GT(result.bar.bias, 3);
}

TEST_F(Averages, TakeANormOfTheErrorsIntoTheBar) {
  const auto result =
      solve(adversarial_noise<double>(planted.U, 1e-4, 4), {.product_budget = 2000, .noise_norm = 1e-4});

  EXPECT_EQ(result.bar.kind, BarKind::bound);
  EXPECT_LE(reference_sin_theta(U, result.basis), result.bar.sin_theta);
  EXPECT_LE(result.bar.sin_theta, 2e-2);  // 1e-4 / 1e-2, and a little
}

TEST_F(Averages, HaveNoBarWhereTheBudgetEndsInTheTransient) {
  const auto result = solve(gaussian_noise<double>(1e-5, 7), {.product_budget = 40});

  EXPECT_EQ(result.status, Status::iteration_limit);
  EXPECT_EQ(result.bar.kind, BarKind::none);
  EXPECT_LE(result.products, 40);
}

TEST_F(Averages, LeaveThePapersIterationToThoseWhoNameIt) {
  const auto named = solve(gaussian_noise<double>(1e-5, 1), {.method = SolveMethod::anpm});
  const auto direct = accelerated_power<double>(noisy(exact, gaussian_noise<double>(1e-5, 1)), {.rank = 5});

  EXPECT_EQ(named.method, SolveMethod::anpm);
  EXPECT_EQ(named.cooldown_steps, 20);
  EXPECT_EQ(named.bar.kind, BarKind::none);
  EXPECT_EQ(named.basis, direct.basis);
}

TEST_F(Averages, GoOnFromACheckpointToTheSameBits) {
  const auto model = gaussian_noise<double>(1e-5, 8);
  const PowerOptions options{.product_budget = 900, .seed = 8};
  std::vector<PowerState<double>> states;
  Hooks<double> hooks;
  hooks.checkpoint_every = 7;
  hooks.checkpoint = [&](const PowerState<double>& state) { states.push_back(state); };
  const auto whole = solve(model, options, hooks);
  ASSERT_GE(states.size(), 8u);

  for (const PowerState<double>& state : states) {
    Hooks<double> from;
    from.resume = &state;
    const auto resumed = solve(model, options, from);

    EXPECT_EQ(resumed.basis, whole.basis) << state.t;
    EXPECT_EQ(resumed.eigenvalues, whole.eigenvalues) << state.t;
    EXPECT_EQ(resumed.bar.sin_theta, whole.bar.sin_theta) << state.t;
    EXPECT_EQ(resumed.products, whole.products) << state.t;
  }
}

TEST_F(Averages, AreNotGoneOnWithByThePapersIteration) {
  std::optional<PowerState<double>> saved;
  Hooks<double> hooks;
  hooks.checkpoint_every = 30;
  hooks.checkpoint = [&](const PowerState<double>& state) { saved = state; };
  (void)solve(gaussian_noise<double>(1e-5, 8), {}, hooks);
  ASSERT_TRUE(saved && saved->averaging.begun());
  Hooks<double> from;
  from.resume = &*saved;

  EXPECT_THROW((void)solve(gaussian_noise<double>(1e-5, 8), {.method = SolveMethod::anpm}, from), InvalidArgument);
}

TEST_F(Averages, FollowNoiseThatNobodyAnnounced) {
  const auto hidden = noisy(exact, gaussian_noise<double>(1e-6, 12));
  const CallbackOperator<double> callback(300,
                                          [&](ConstBlockView<double> X, BlockView<double> Y) { hidden.apply(X, Y); });

  const auto result = principal_subspace<double>(callback, {.rank = 5});

  EXPECT_EQ(result.status, Status::noise_floor);
  EXPECT_EQ(result.method, SolveMethod::averaged);
  const double ratio = result.bar.sin_theta / reference_sin_theta(U, result.basis);
  EXPECT_GE(ratio, 1 / bar_factor);
  EXPECT_LE(ratio, bar_factor);
}

// Of a basis in its eigenvectors every column is pushed the same way at every step.
TEST_F(Averages, OfAConstantPushNeedRandomSigns) {
  const auto push = adversarial_noise<double>(planted.U, 1e-4, 4);

  const auto plain = solve(push, {.product_budget = 3000});
  const auto turned = solve(push, {.product_budget = 3000, .turning = Turning::signs});

  const double before = reference_sin_theta(U, plain.basis), after = reference_sin_theta(U, turned.basis);
  EXPECT_EQ(plain.bar.kind, BarKind::indicative);
  EXPECT_EQ(turned.bar.kind, BarKind::calibrated);
  EXPECT_LE(after, before / 5);
  EXPECT_LE(after / turned.bar.sin_theta, bar_factor);
  EXPECT_GE(after / turned.bar.sin_theta, 1 / bar_factor);
}

// X and Y rounded to eight bits of their largest entry: the same errors whenever the same block is multiplied.
TEST_F(Averages, OfRoundedProductsTurnTheBlockByThemselves) {
  const auto rounded = [](auto&& block) {
    const double step = block.cwiseAbs().maxCoeff() / 127;
    return Block<double>((block / step).array().round() * step);
  };
  const CallbackOperator<double> callback(
      300, [&](ConstBlockView<double> X, BlockView<double> Y) { Y = rounded(Block<double>(planted.A * rounded(X))); },
      {.positive_semidefinite = true, .approximate = true});

  const auto plain =
      principal_subspace<double>(callback, {.rank = 5, .product_budget = 4000, .turning = Turning::none});
  const auto turned = principal_subspace<double>(callback, {.rank = 5, .product_budget = 4000});

  const double before = reference_sin_theta(U, plain.basis), after = reference_sin_theta(U, turned.basis);
  EXPECT_EQ(turned.bar.kind, BarKind::calibrated);
  EXPECT_LE(after, before / 2) << "not turned: " << before;
  EXPECT_LE(after / turned.bar.sin_theta, bar_factor);
  EXPECT_GE(after / turned.bar.sin_theta, 1 / bar_factor);
}

TEST_F(Averages, OfTurnedBlocksGoOnFromACheckpointToTheSameBits) {
  const auto push = adversarial_noise<double>(planted.U, 1e-4, 4);
  const PowerOptions options{.product_budget = 700, .turning = Turning::rotations};
  std::optional<PowerState<double>> saved;
  Hooks<double> hooks;
  hooks.checkpoint_every = 33;
  hooks.checkpoint = [&](const PowerState<double>& state) { saved = saved.value_or(state); };
  const auto whole = solve(push, options, hooks);
  ASSERT_TRUE(saved);
  Hooks<double> from;
  from.resume = &*saved;

  EXPECT_EQ(solve(push, options, from).basis, whole.basis);
}

TEST(AveragesOfScaledMatrices, ScaleWithThem) {
  const auto planted = planted_spectrum(paper_spectrum(200, 4, 0.05), 3);
  const double scale = std::ldexp(1.0, 660);  // exact, and its square overflows
  const Block<double> large = scale * planted.A;
  const DenseSymmetric<double> A(planted.A), B(large);

  const auto one = principal_subspace<double>(noisy(A, gaussian_noise<double>(1e-5, 1)), {.rank = 4});
  const auto other = principal_subspace<double>(noisy(B, gaussian_noise<double>(1e-5 * scale, 1)), {.rank = 4});

  EXPECT_LE(sin_theta<double>(one.basis, other.basis), 1e-12);
  EXPECT_NEAR(other.bar.sin_theta / one.bar.sin_theta, 1, 1e-10);
  EXPECT_NEAR(std::ldexp(other.bar.eigenvalues(0), other.exponent) / scale / one.bar.eigenvalues(0), 1, 1e-10);
}

TEST(AveragesInSinglePrecision, HaveTrueBarsToo) {
  const auto planted = planted_spectrum(paper_spectrum(200, 4, 0.05), 3);
  const Block<float> rounded = planted.A.cast<float>();
  const DenseSymmetric<float> A(rounded);

  const auto result =
      principal_subspace<float>(noisy(A, gaussian_noise<float>(1e-4, 1)), {.rank = 4, .product_budget = 1500});

  const double sine = reference_sin_theta(planted.top(4), Block<double>(result.basis.cast<double>()));
  EXPECT_LE(sine / result.bar.sin_theta, bar_factor);
  EXPECT_GE(sine / result.bar.sin_theta, 1 / bar_factor);
}

}  // namespace
}  // namespace hearsay

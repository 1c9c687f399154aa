// Under noise: an honest status, the floors the theory gives in closed form, and what the cool-down buys.
#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/noise.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>

#include <cmath>

#include "support/planted.hpp"

namespace hearsay {
namespace {

using test::paper_spectrum;
using test::planted_spectrum;
using test::reference_sin_theta;

TEST(NoiseFloor, IsReportedInsteadOfConvergence) {
  const auto planted = planted_spectrum(paper_spectrum(300, 4, 0.05), 1);
  const DenseSymmetric<double> exact(planted.A);
  for (const auto& model : {gaussian_noise<double>(1e-5, 2), sphere_noise<double>(1e-4, 3),
                            adversarial_noise<double>(planted.U, 1e-4, 4)}) {
    const auto result = accelerated_power<double>(noisy(exact, model), {.rank = 4});

    EXPECT_EQ(result.status, Status::noise_floor) << model.name;
    EXPECT_EQ(result.noise_floor, result.residual);
    EXPECT_GT(result.noise_floor, 1e-10);
    EXPECT_LE(reference_sin_theta(planted.top(4), result.basis), 1e-2) << model.name;
  }
}

TEST(NoiseFloor, IsNotReachedBeforeTheSubspaceIs) {
  // The residual meets the noise when sin(theta) is still near 3e-2 here; the floor of the subspace is at 3e-4.
  const auto planted = planted_spectrum(paper_spectrum(500, 5, 0.01), 5);
  const DenseSymmetric<double> exact(planted.A);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto result =
        accelerated_power<double>(noisy(exact, sphere_noise<double>(1e-4, seed)), {.rank = 5, .seed = seed});

    EXPECT_EQ(result.status, Status::noise_floor);
    EXPECT_LE(reference_sin_theta(planted.top(5), result.basis), 6e-4);
  }
}

TEST(NoiseFloor, OfGaussianNoiseComesWithTheNoiseLevel) {
  const auto planted = planted_spectrum(paper_spectrum(300, 6, 0.05), 6);
  const DenseSymmetric<double> exact(planted.A);

  const auto result = accelerated_power<double>(noisy(exact, gaussian_noise<double>(2e-5, 7)), {.rank = 6});

  EXPECT_NEAR(result.noise_level / 2e-5, 1.0, 0.3);
}

TEST(NoiseFloor, OfAConstantPushIsPsiOverTheGapForEveryMomentum) {
  // Xi = psi [0 .. 0, u_{k+1}] settles at tan = psi / (lambda_k - lambda_{k+1}), for beta = 0 and beta* alike.
  const Index d = 40, k = 3;
  Vector<double> values = Vector<double>::Constant(d, 0.3);
  values.head(k).setOnes();
  values(k) = 0.8;
  const Block<double> A = values.asDiagonal().toDenseMatrix();
  const DenseSymmetric<double> exact(A);
  const Block<double> U = Block<double>::Identity(d, k);
  const double psi = 1e-3;
  for (const double beta : {0.0, 0.1, 0.16}) {
    double tangent = 0;
    Hooks<double> hooks;
    hooks.observe = [&](const Iteration<double>& now) {
      tangent = tan_theta<double>(U, now.X);
      return now.entry.t < 600;
    };
    // Columns in the eigenbasis, so that the pushed column stays the k-th.
    const Block<double> start = Block<double>::Identity(d, k) + 1e-3 * Block<double>::Ones(d, k);
    hooks.start = &start;
    static_cast<void>(
        accelerated_power<double>(noisy(exact, tight_outside_noise<double>(Vector<double>::Unit(d, k), k, psi)),
                                  {.rank = k,
                                   .momentum = Momentum::fixed(beta),
                                   .oversample = 0,
                                   .tolerance = 1e-14,
                                   .stop_at_noise_floor = false},
                                  hooks));

    // The push is not divided by cos(theta), which leaves (psi / gap)^2 / 2 = 1.25e-5.
    EXPECT_NEAR(tangent / (psi / 0.2), 1.0, 2e-5) << "beta = " << beta;
  }
}

TEST(CoolDown, LowersAWhiteNoiseFloorAndSaysSo) {
  const auto planted = planted_spectrum(paper_spectrum(500, 5, 0.01), 8);
  const DenseSymmetric<double> exact(planted.A);
  const Block<double> U = planted.top(5);
  Hooks<double> hooks;
  hooks.reference = &U;
  double gain = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto result = accelerated_power<double>(noisy(exact, sphere_noise<double>(1e-4, seed)),
                                                  {.rank = 5, .damping = Damping::symmetric}, hooks);
    EXPECT_EQ(result.cooldown_steps, 20);
    EXPECT_NE(std::find_if(result.notes.begin(), result.notes.end(),
                           [](const std::string& note) { return note.starts_with("cool-down"); }),
              result.notes.end());
    const double before = result.history[result.history.size() - 21].sin_theta, after = result.history.back().sin_theta;
    gain += before / after / 3;
  }

  EXPECT_GE(gain, 1.4);
}

TEST(CoolDown, CanBeTurnedOff) {
  const auto planted = planted_spectrum(paper_spectrum(200, 4, 0.05), 9);
  const DenseSymmetric<double> exact(planted.A);

  const auto result =
      accelerated_power<double>(noisy(exact, gaussian_noise<double>(1e-5, 10)), {.rank = 4, .cooldown = 0});

  EXPECT_EQ(result.status, Status::noise_floor);
  EXPECT_EQ(result.cooldown_steps, 0);
}

TEST(UnannouncedNoise, IsNoticedByTheAsymmetryItLeaves) {
  const auto planted = planted_spectrum(paper_spectrum(200, 4, 0.1), 11);
  const DenseSymmetric<double> exact(planted.A);
  const auto hidden = noisy(exact, gaussian_noise<double>(1e-6, 12));
  const CallbackOperator<double> callback(200,
                                          [&](ConstBlockView<double> X, BlockView<double> Y) { hidden.apply(X, Y); });

  const auto result = accelerated_power<double>(callback, {.rank = 4});

  EXPECT_EQ(result.status, Status::noise_floor);
  EXPECT_NEAR(result.noise_level / 1e-6, 1.0, 0.3);
  EXPECT_LE(reference_sin_theta(planted.top(4), result.basis), 1e-3);
}

TEST(ExactProducts, OfAWideSpectrumAreNotMistakenForNoise) {
  std::vector<double> spectrum;
  for (int i = 0; i < 60; ++i) spectrum.push_back(std::pow(10.0, 12 - 0.5 * i));
  const auto planted = planted_spectrum(spectrum, 16);

  const auto result = accelerated_power<double>(DenseSymmetric<double>(planted.A), {.rank = 20});

  EXPECT_EQ(result.status, Status::converged);
  for (const auto& note : result.notes) EXPECT_EQ(note.find("asymmetric"), std::string::npos) << note;
}

TEST(RoundingFloor, IsNoNoiseFloorWhenTheToleranceAsksForMoreThanDoubleHolds) {
  const auto planted = planted_spectrum({5, 4, 3, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.1, 0.1, 0.1}, 13);

  const auto result =
      accelerated_power<double>(DenseSymmetric<double>(planted.A), {.rank = 3, .oversample = 1, .tolerance = 1e-18});

  EXPECT_EQ(result.status, Status::rounding_floor);
  EXPECT_LE(result.residual, 1e-14);
  EXPECT_FALSE(result.notes.empty());
}

TEST(ALooseTolerance, IsMetUnderNoiseAndCalledConverged) {
  const auto planted = planted_spectrum(paper_spectrum(200, 4, 0.2), 14);
  const DenseSymmetric<double> exact(planted.A);

  const auto result =
      accelerated_power<double>(noisy(exact, gaussian_noise<double>(1e-6, 15)), {.rank = 4, .tolerance = 1e-3});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_LE(result.residual, 1e-3);
}

}  // namespace
}  // namespace hearsay

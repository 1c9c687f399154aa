#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/noise.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>
#include <hearsay/random.hpp>

#include "experiments/runs.hpp"
#include "support/planted.hpp"

namespace hearsay::experiments {
namespace {

PlantedRun small_planted_run(double momentum_value = 1) {
  return {.spectrum = {.dimension = 60, .rank = 4, .gap = 0.1},
          .noise_level = 1e-4,
          .momentum = {MomentumChoice::Rule::times_optimal, momentum_value},
          .iterations = 80};
}

// The paper's way: a dense matrix with random eigenvectors, the start and the noise turned with it.
std::vector<double> turned(const PlantedRun& run, std::uint64_t seed) {
  const auto [d, k, gap, rest] = run.spectrum;
  const auto planted = test::planted_spectrum(test::paper_spectrum(d, k, gap), 9);
  Block<double> normal(d, k);
  fill_normal<double>({.seed = seed, .stream = Stream::start_block}, normal);
  const Block<double> start = planted.U * normal, U = planted.top(k);
  const DenseSymmetric<double> exact(planted.A);
  const auto A = noisy(exact, adversarial_noise<double>(planted.U, run.noise_level, seed));
  Hooks<double> hooks;
  hooks.start = &start;
  hooks.reference = &U;
  const auto result = accelerated_power<double>(A,
                                                {.rank = k,
                                                 .momentum = Momentum::fixed(beta_of(run.momentum, run.spectrum)),
                                                 .oversample = 0,
                                                 .tolerance = 1e-300,
                                                 .max_iterations = run.iterations,
                                                 .extraction = Extraction::nested,
                                                 .stop_at_noise_floor = false},
                                                hooks);
  std::vector<double> sines;
  for (const auto& entry : result.history) sines.push_back(entry.sin_theta);
  return sines;
}

TEST(PlantedRun, InTheEigenbasisIsTheRunOnTheTurnedMatrix) {
  for (const double fraction : {0.0, 0.9, 1.0}) {
    const PlantedRun run = small_planted_run(fraction);

    const Trace here = trace(run, 3);
    const std::vector<double> there = turned(run, 3);

    ASSERT_EQ(here.error.size(), there.size());
    for (std::size_t t = 0; t < there.size(); ++t) EXPECT_NEAR(here.error[t] / there[t], 1, 1e-8) << "t = " << t;
  }
}

TEST(PlantedRun, GivesTheSameBitsAgainAndOthersForAnotherSeed) {
  EXPECT_EQ(trace(small_planted_run(), 1).error, trace(small_planted_run(), 1).error);
  EXPECT_NE(trace(small_planted_run(), 1).error, trace(small_planted_run(), 2).error);
}

TEST(PlantedRun, StartsTheAdaptiveMethodFromTheColumnsOfTheOthers) {
  PlantedRun adaptive = small_planted_run();
  adaptive.momentum = {MomentumChoice::Rule::paper, 0};

  EXPECT_NEAR(trace(adaptive, 5).error.front(), trace(small_planted_run(), 5).error.front(), 1e-12);
}

TEST(PlantedRun, PredictsTheFloorOfAdversarialNoise) {
  const Trace run = trace(small_planted_run(), 1);

  EXPECT_NEAR(run.error.back() / run.facts.at("predicted_floor"), 1, 0.15);
}

TEST(PlantedRun, PredictsTheFloorOfWhiteNoiseAndWhatMomentumMakesOfIt) {
  PlantedRun plain = small_planted_run();
  plain.spectrum = {.dimension = 300, .rank = 5, .gap = 0.05};
  plain.noise = NoiseChoice::Kind::sphere;
  plain.momentum.value = 0;
  plain.iterations = 600;
  PlantedRun optimal = plain;
  optimal.momentum.value = 1;

  const Trace without = trace(plain, 1), with = trace(optimal, 1);

  EXPECT_NEAR(without.error.back() / without.facts.at("predicted_floor"), 1, 0.2);
  EXPECT_NEAR(with.error.back() / with.facts.at("predicted_floor"), 1, 0.3);
  EXPECT_DOUBLE_EQ(without.facts.at("white_amplification"), 1);
  EXPECT_NEAR(with.facts.at("white_amplification"), std::pow(1 - 0.95 * 0.95, -0.25), 1e-12);
  optimal.momentum = {MomentumChoice::Rule::between, 1};
  EXPECT_FALSE(trace(optimal, 1).facts.contains("predicted_floor")) << "the critical momentum has no floor";
}

TEST(PlantedRun, TellsWhatAnAdaptiveMomentumCameTo) {
  PlantedRun run = small_planted_run();
  run.noise = NoiseChoice::Kind::none;
  run.momentum = {MomentumChoice::Rule::automatic, 0};

  const Trace adapted = trace(run, 1);

  EXPECT_LE(adapted.facts.at("beta_most"), 1 + 1e-9) << "without noise a Ritz value never exceeds its eigenvalue";
  EXPECT_EQ(adapted.facts.at("beta_above") > 0, adapted.facts.at("beta_most") > 1);
  EXPECT_GT(adapted.facts.at("beta_last"), 0.9);
}

TEST(PlantedRun, TakesItsMomentumFromTheSpectrum) {
  const PlantedSpectrum spectrum{.gap = 0.2};

  EXPECT_DOUBLE_EQ(beta_of({MomentumChoice::Rule::times_optimal, 0}, spectrum), 0);
  EXPECT_DOUBLE_EQ(beta_of({MomentumChoice::Rule::times_optimal, 0.5}, spectrum), 0.08);
  EXPECT_DOUBLE_EQ(beta_of({MomentumChoice::Rule::between, 0}, spectrum), 0.16);
  EXPECT_DOUBLE_EQ(beta_of({MomentumChoice::Rule::between, 1}, spectrum), 0.25);
  EXPECT_THROW(beta_of({MomentumChoice::Rule::paper, 0}, spectrum), InvalidArgument);
}

TEST(PlantedRun, RefusesASpectrumThatIsNone) {
  PlantedRun run = small_planted_run();
  run.spectrum.rank = 60;
  EXPECT_THROW(trace(run, 1), InvalidArgument);
  run = small_planted_run();
  run.spectrum.gap = 0;
  EXPECT_THROW(trace(run, 1), InvalidArgument);
  run = small_planted_run();
  run.spectrum.rest = 0.95;
  EXPECT_THROW(trace(run, 1), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::experiments

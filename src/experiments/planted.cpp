#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/diagonal.hpp"
#include "experiments/papers_steps.hpp"
#include "experiments/runs.hpp"
#include "hearsay/error.hpp"
#include "hearsay/noise.hpp"
#include "hearsay/power.hpp"
#include "hearsay/theory.hpp"

namespace hearsay::experiments {
namespace {

void check(const PlantedRun& run) {
  const auto& [dimension, rank, gap, rest] = run.spectrum;
  require(rank >= 1 && rank < dimension, fmt::format("rank = {}: must lie in [1, {}]", rank, dimension - 1));
  require(gap > 0 && gap < 1, fmt::format("gap = {}: must lie between 0 and 1", gap));
  require(rest >= 0 && rest <= 1 - gap, fmt::format("rest = {}: must lie in [0, 1 - gap] = [0, {}]", rest, 1 - gap));
  require(run.iterations >= 1, fmt::format("iterations = {}: must be at least 1", run.iterations));
}

NoiseModel<double> model_of(const PlantedRun& run, std::uint64_t seed) {
  switch (run.noise) {
    case NoiseChoice::Kind::gaussian:
      return gaussian_noise<double>(run.noise_level, seed);
    case NoiseChoice::Kind::sphere:
      return sphere_noise<double>(run.noise_level, seed);
    case NoiseChoice::Kind::adversarial:
      return adversarial_noise<double>(run.noise_level, seed);
    case NoiseChoice::Kind::none:
      break;
  }
  return {};
}

bool adapts(const MomentumChoice& choice) {
  return choice.rule == MomentumChoice::Rule::paper || choice.rule == MomentumChoice::Rule::automatic;
}

Momentum momentum_of(const PlantedRun& run) {
  if (run.momentum.rule == MomentumChoice::Rule::paper) return Momentum::paper();
  if (run.momentum.rule == MomentumChoice::Rule::automatic) return {};
  return Momentum::fixed(beta_of(run.momentum, run.spectrum));
}

// Every column is pushed against every eigenvector by about xi/sqrt(d k), and each component settles at its own floor.
double adversarial_floor(const PlantedRun& run) {
  const double psi = run.noise_level / std::sqrt(static_cast<double>(run.spectrum.dimension));
  double sum = 0;
  const Vector<double> values = run.spectrum.eigenvalues();
  for (const double lambda_j : values.tail(run.spectrum.dimension - run.spectrum.rank))
    sum += std::pow(theory::floor_constant_push(psi, 1, lambda_j), 2);
  return std::sqrt(sum / (1 + sum));
}

// White noise drives every component of H by itself. The row of u_{k+1} has k entries of one size, the others d - k - 1
// rows of another, whose columns are nearly orthogonal; so the squares of the row and of a column add up.
double white_floor(const PlantedRun& run, double beta) {
  const auto& [d, k, gap, rest] = run.spectrum;
  const double columns = static_cast<double>(k), others = static_cast<double>(d - k - 1);
  // Of a block of spectral norm xi, which that of N(0, 1) entries exceeds sqrt(d) + sqrt(k) times.
  const double sigma = run.noise == NoiseChoice::Kind::gaussian
                           ? run.noise_level
                           : run.noise_level / (std::sqrt(static_cast<double>(d)) + std::sqrt(columns));
  const double next = theory::floor_white_entry(sigma, 1, run.spectrum.lambda_next(), beta);
  const double other = theory::floor_white_entry(sigma, 1, rest, beta);
  const double squared = columns * next * next + others * other * other;
  return std::sqrt(squared / (1 + squared));
}

// What a momentum that adapts came to, beside the optimal one.
void add_momentum(const std::vector<HistoryEntry>& history, double optimal, std::map<std::string, double>& facts) {
  double most = 0, above = 0, steps = 0;
  for (const HistoryEntry& entry : history) {
    if (entry.t == 0) continue;  // the first step has none
    most = std::max(most, entry.momentum / optimal);
    above += entry.momentum > optimal ? 1 : 0;
    ++steps;
  }
  facts["beta_most"] = most;
  facts["beta_above"] = above / steps;
  facts["beta_last"] = history.back().momentum / optimal;
}

}  // namespace

Vector<double> PlantedSpectrum::eigenvalues() const {
  Vector<double> values = Vector<double>::Constant(dimension, rest);
  values.head(rank).setOnes();
  values(rank) = lambda_next();
  return values;
}

double beta_of(const MomentumChoice& choice, const PlantedSpectrum& spectrum) {
  const double optimal = spectrum.lambda_next() * spectrum.lambda_next() / 4, critical = 1.0 / 4;
  require(!adapts(choice), "momentum: an adaptive one has no beta of its own");
  require(choice.value >= 0, fmt::format("momentum value = {}: must not be negative", choice.value));
  return choice.rule == MomentumChoice::Rule::between ? optimal + choice.value * (critical - optimal)
                                                      : choice.value * optimal;
}

Trace trace(const PlantedRun& run, std::uint64_t seed) {
  check(run);
  const DiagonalOperator exact(run.spectrum.eigenvalues());
  const auto A = noisy(exact, model_of(run, seed));
  const Block<double> U = Block<double>::Identity(run.spectrum.dimension, run.spectrum.rank);
  Hooks<double> hooks;
  hooks.reference = &U;
  const auto result = accelerated_power<double>(
      A, papers_steps(run.spectrum.rank, momentum_of(run), adapts(run.momentum) ? 1 : 0, run.iterations, seed), hooks);
  Trace trace;
  trace.error.reserve(result.history.size());
  for (const HistoryEntry& entry : result.history) trace.error.push_back(entry.sin_theta);
  trace.facts["beta"] = result.momentum;
  if (run.noise == NoiseChoice::Kind::adversarial) trace.facts["predicted_floor"] = adversarial_floor(run);
  if (adapts(run.momentum)) {
    add_momentum(result.history, theory::optimal_beta(run.spectrum.lambda_next()), trace.facts);
    return trace;
  }
  const double beta = beta_of(run.momentum, run.spectrum);
  const bool white = run.noise == NoiseChoice::Kind::gaussian || run.noise == NoiseChoice::Kind::sphere;
  if (white && 4 * beta < 1) {
    trace.facts["predicted_floor"] = white_floor(run, beta);
    trace.facts["white_amplification"] = theory::white_amplification(1, beta);
  }
  return trace;
}

}  // namespace hearsay::experiments

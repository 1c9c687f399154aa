#include "solver/choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/error.hpp"
#include "solver/tuning.hpp"

namespace hearsay {

Momentum Momentum::fixed(double beta) {
  require(std::isfinite(beta) && beta >= 0, fmt::format("momentum = {}: must be finite and not negative", beta));
  return beta == 0 ? none() : Momentum{Rule::fixed, 2 * std::sqrt(beta)};
}

Momentum Momentum::optimal(double lambda_next) {
  require(std::isfinite(lambda_next) && lambda_next >= 0,
          fmt::format("lambda_(k+1) = {}: must be finite and not negative", lambda_next));
  return {Rule::fixed, lambda_next};
}

const char* name(SolveMethod method) {
  switch (method) {
    case SolveMethod::anpm:
      return "anpm";
    case SolveMethod::krylov:
      return "krylov";
    case SolveMethod::direct:
      return "direct";
    case SolveMethod::averaged:
      return "averaged";
  }
  return "unknown";
}

const char* name(Which which) {
  switch (which) {
    case Which::largest:
      return "LA";
    case Which::smallest:
      return "SA";
    case Which::magnitude:
      return "LM";
    case Which::both_ends:
      return "BE";
  }
  return "unknown";
}

const char* name(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::noise_floor:
      return "noise_floor";
    case Status::rounding_floor:
      return "rounding_floor";
    case Status::ambiguous:
      return "ambiguous";
    case Status::iteration_limit:
      return "iteration_limit";
    case Status::stopped_by_observer:
      return "stopped_by_observer";
    case Status::breakdown:
      return "breakdown";
    case Status::communication_failed:
      return "communication_failed";
  }
  return "unknown";
}

void detail::require_sound(const PowerOptions& options, Index d) {
  require(options.rank >= 1 && options.rank <= d, fmt::format("rank = {}: must lie in [1, {}]", options.rank, d));
  const double tolerance = options.tolerance.value_or(1), accuracy = options.accuracy.value_or(0.5);
  require(std::isfinite(tolerance) && tolerance > 0,
          fmt::format("tolerance = {}: must be finite and positive", tolerance));
  require(accuracy > 0 && accuracy < 1, fmt::format("accuracy = {}: must lie between 0 and 1", accuracy));
  const Index limit = options.max_iterations.value_or(1), budget = options.product_budget.value_or(1);
  require(limit >= 0, fmt::format("max_iterations = {}: must not be negative", limit));
  require(budget >= 1, fmt::format("products = {}: must be at least 1", budget));
  const double noise_norm = options.noise_norm.value_or(0);
  require(std::isfinite(noise_norm) && noise_norm >= 0,
          fmt::format("noise_norm = {}: must be finite and not negative", noise_norm));
  const Index oversample = options.oversample.value_or(0), qr_every = options.qr_every.value_or(1);
  require(oversample >= 0, fmt::format("oversample = {}: must not be negative", oversample));
  require(options.cooldown >= 0, fmt::format("cooldown = {}: must not be negative", options.cooldown));
  require(qr_every >= 1, fmt::format("qr_every = {}: must be at least 1", qr_every));
}

namespace detail {

Index whole_lines(Index columns) { return (columns + tuning::line - 1) / tuning::line * tuning::line; }

bool qr_is_costly(Index d, Index p, const OperatorFacts& facts) {
  return facts.exact && facts.multiply_adds > 0 && d * p >= tuning::large_block &&
         tuning::qr_multiply_adds * static_cast<double>(d) * static_cast<double>(p) >
             tuning::costly_beside_product * facts.multiply_adds;
}

bool may_average(const PowerOptions& options) {
  const bool adapts = options.momentum.rule == Momentum::Rule::automatic;
  return adapts && !options.extraction && !options.qr_every && options.stop_at_noise_floor;
}

Plan choose(Index d, const OperatorFacts& facts, const PowerOptions& options) {
  const Index k = options.rank;
  require_sound(options, d);

  const bool adaptive =
      options.momentum.rule == Momentum::Rule::automatic || options.momentum.rule == Momentum::Rule::paper;
  const bool noisy = options.products.value_or(facts.noisy || facts.approximate ? Products::noisy : Products::exact) ==
                         Products::noisy ||
                     options.method == SolveMethod::averaged;
  const bool averages = options.method == SolveMethod::averaged || (!options.method && may_average(options));
  require(!(adaptive && options.oversample == 0 && k < d),
          "oversample = 0: adaptive momentum needs at least one column more than the rank");
  const Index extra = options.oversample   ? *options.oversample
                      : noisy && !averages ? 1
                      : qr_is_costly(d, 2 * k + tuning::least_oversample, facts)
                          ? whole_lines(k + tuning::least_extra) - k
                          : std::max(k, tuning::least_oversample);
  // A momentum given as a number, and the paper's own rule, mean the paper's recurrence unless told otherwise.
  const bool papers = options.momentum.rule == Momentum::Rule::paper || options.momentum.rule == Momentum::Rule::fixed;
  return {.d = d,
          .k = k,
          .p = std::min(d, k + extra),
          .noisy = noisy,
          .damping = options.damping                          ? *options.damping
                     : facts.positive_semidefinite && !papers ? Damping::centred
                                                              : Damping::symmetric,
          .extraction = options.extraction   ? *options.extraction
                        : noisy && !averages ? Extraction::nested
                                             : Extraction::ritz,
          .averages = averages};
}

}  // namespace detail

}  // namespace hearsay

// The theorems on the instances of their proofs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "experiments/diagonal.hpp"
#include "experiments/papers_steps.hpp"
#include "experiments/random_start.hpp"
#include "experiments/recursions.hpp"
#include "experiments/runs.hpp"
#include "hearsay/angles.hpp"
#include "hearsay/audit.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/noise.hpp"
#include "hearsay/power.hpp"
#include "hearsay/random.hpp"
#include "hearsay/theory.hpp"

namespace hearsay::experiments {
namespace {

using Theorem = TheoremRun::Theorem;

void check(const TheoremRun& run) {
  require(run.rank >= 1 && run.rank < run.dimension,
          fmt::format("rank = {}: must lie in [1, {}]", run.rank, run.dimension - 1));
  require(run.lambda_next >= 0 && run.lambda_next < run.lambda_k,
          fmt::format("lambda_next = {}: must lie in [0, lambda_k = {})", run.lambda_next, run.lambda_k));
  require(run.epsilon > 0 && run.epsilon < 1, fmt::format("epsilon = {}: must lie between 0 and 1", run.epsilon));
  require(run.iterations >= 1, fmt::format("iterations = {}: must be at least 1", run.iterations));
}

double beta_of(const TheoremRun& run) {
  if (run.theorem == Theorem::no_momentum) return 0;
  if (run.theorem == Theorem::small_beta) return run.beta;
  return theory::optimal_beta(run.lambda_next);
}

// diag(l_k x k, l_{k+1} x (d-k)).
DiagonalOperator two_levels(const TheoremRun& run) {
  Vector<double> values = Vector<double>::Constant(run.dimension, run.lambda_next);
  values.head(run.rank).setConstant(run.lambda_k);
  return DiagonalOperator(std::move(values));
}

// The wanted eigenvalues rise from l_k to 2 l_k, the unwanted ones fall from l_{k+1} to zero.
DiagonalOperator ramps(const TheoremRun& run) {
  const Index unwanted = run.dimension - run.rank;
  Vector<double> values(run.dimension);
  for (Index j = 0; j < run.rank; ++j)
    values(j) = run.lambda_k * (1 + static_cast<double>(run.rank - 1 - j) / static_cast<double>(run.rank));
  for (Index j = 0; j < unwanted; ++j)
    values(run.rank + j) = run.lambda_next * (1 - static_cast<double>(j) / static_cast<double>(unwanted));
  return DiagonalOperator(std::move(values));
}

Block<double> first_axes(const TheoremRun& run) { return Block<double>::Identity(run.dimension, run.rank); }

// [v_1 .. v_{k-1}, cos(th) v_k + sin(th) v_{k+1}], th = arctan(2 epsilon).
Block<double> tight_start(const TheoremRun& run) {
  Block<double> X = first_axes(run);
  const double angle = std::atan(2 * run.epsilon);
  X(run.rank - 1, run.rank - 1) = std::cos(angle);
  X(run.rank, run.rank - 1) = std::sin(angle);
  return X;
}

PowerOptions options_of(const TheoremRun& run, std::uint64_t seed) {
  return papers_steps(run.rank, Momentum::fixed(beta_of(run)), 0, run.iterations, seed);
}

// tan(theta_k) at every iteration.
Trace tangents(const TheoremRun& run, const NoiseModel<double>& noise, const Block<double>* start, std::uint64_t seed) {
  const DiagonalOperator exact = two_levels(run);
  const auto A = noisy(exact, noise);
  const Block<double> U = first_axes(run);
  Trace trace;
  Hooks<double> hooks;
  hooks.start = start;
  hooks.observe = [&](const Iteration<double>& now) {
    trace.error.push_back(tan_theta<double>(U, now.X));
    return true;
  };
  (void)accelerated_power<double>(A, options_of(run, seed), hooks);
  return trace;
}

double closed_form(const TheoremRun& run, std::size_t t, double h0) {
  return theory::lower_bound_tangent(static_cast<std::int64_t>(t), run.lambda_k, beta_of(run), h0);
}

constexpr double rounding_floor = 1e-13;  // below it the tangent is that of rounding errors

Trace lower_bound(const TheoremRun& run, std::uint64_t seed) {
  Trace trace = tangents(run, {}, nullptr, seed);
  double deviation = 0;
  for (std::size_t t = 0; t < trace.error.size(); ++t) {
    const double expected = closed_form(run, t, trace.error.front());
    if (expected > rounding_floor / 1e-5) deviation = std::max(deviation, std::abs(trace.error[t] / expected - 1));
    trace.error[t] = std::max(trace.error[t], rounding_floor);
  }
  trace.facts["deviation"] = deviation;
  return trace;
}

Trace closed_forms(const TheoremRun& run, std::uint64_t seed) {
  TheoremRun one_step = run;
  one_step.iterations = 1;
  const double h0 = tangents(one_step, {}, nullptr, seed).error.front();
  Trace trace;
  for (std::size_t t = 0; t <= static_cast<std::size_t>(run.iterations); ++t)
    trace.error.push_back(std::max(closed_form(run, t, h0), rounding_floor));
  return trace;
}

Trace tight(const TheoremRun& run, const NoiseModel<double>& noise) {
  const Block<double> start = tight_start(run);
  Trace trace = tangents(run, noise, &start, 0);
  const auto [low, high] = std::minmax_element(trace.error.begin(), trace.error.end());
  trace.facts["least_over_epsilon"] = *low / run.epsilon;
  trace.facts["drift"] = std::max(*high / (2 * run.epsilon) - 1, 1 - *low / (2 * run.epsilon));
  return trace;
}

Trace tight_outside(const TheoremRun& run) {
  Vector<double> v_next = Vector<double>::Zero(run.dimension);
  v_next(run.rank) = 1;
  // The product's own noise is halved with it at t = 0, and tight_outside_noise doubles it there.
  return tight(run, tight_outside_noise<double>(v_next, run.rank, 8 * (run.lambda_k - run.lambda_next) * run.epsilon));
}

Trace tight_inside(const TheoremRun& run) {
  return tight(run, tight_inside_noise<double>(first_axes(run), run.lambda_k, run.lambda_next));
}

// The worst direction of each part, in the coordinates of U_k, however the columns turn.
void push(const TheoremRun& run, ConstBlockView<double> X, BlockView<double> Xi) {
  Xi.setZero();
  Xi.row(run.rank) = X.row(run.rank - 1);
  Xi.row(run.rank - 1) = -X.row(run.rank - 1);
}

// Where that ends: (a) pushes by c gap epsilon, and (b) takes c gap from l_k.
double pushed_floor(const TheoremRun& run) {
  const theory::Tolerance allowed = theory::noise_npm(run.lambda_k, run.lambda_next, run.epsilon, 1);
  const double tangent = theory::floor_constant_push(allowed.outside, run.lambda_k - allowed.inside, run.lambda_next);
  return tangent / std::hypot(1, tangent);
}

// A direction, scaled so that both parts meet their bounds exactly. In Y_1 the product, and its noise, count half.
NoiseModel<double> noise_at_the_bounds(const TheoremRun& run, std::uint64_t seed) {
  const Block<double> U = first_axes(run);
  const Index k = run.rank, rest = run.dimension - run.rank;
  return {"at the bounds", 0, [=](std::uint64_t product, ConstBlockView<double> X, BlockView<double> Xi) {
            if (run.noise == TheoremRun::Noise::push)
              push(run, X, Xi);
            else
              fill_normal<double>(
                  {.seed = seed, .stream = Stream::noise, .iteration = static_cast<std::uint32_t>(product)}, Xi);
            const double cosine = cos_theta<double>(U, X);
            const theory::Tolerance allowed =
                theory::noise_npm(run.lambda_k, run.lambda_next, run.epsilon, cosine);  // 2 sqrt(beta*) = l_{k+1}
            const double first = product == 0 ? 2 : 1;
            constexpr double within = 1 - 1e-12;  // rounding must not break the condition
            Xi.topRows(k) *= within * first * allowed.inside / spectral_norm<double>(Xi.topRows(k));
            Xi.bottomRows(rest) *= within * first * allowed.outside / spectral_norm<double>(Xi.bottomRows(rest));
          }};
}

double promised_iterations(const TheoremRun& run, double h0) {
  const theory::Target target{.epsilon = run.epsilon, .h0 = h0};
  if (run.theorem == Theorem::no_momentum) return theory::iterations_npm(run.lambda_k, run.lambda_next, target);
  if (run.theorem == Theorem::small_beta)
    return theory::iterations_small_beta(run.lambda_k, run.lambda_next, run.beta, target);
  return theory::iterations_anpm(run.lambda_k, beta_of(run), target);
}

Trace audited(const TheoremRun& run, std::uint64_t seed) {
  const DiagonalOperator exact = ramps(run);
  const auto A = noisy(exact, noise_at_the_bounds(run, seed));
  theory::Audit audit(first_axes(run), run.lambda_k, run.lambda_next, run.epsilon);
  Recursions recursions(exact.eigenvalues(), run.rank, beta_of(run));
  Trace trace;
  Hooks<double> hooks;
  hooks.observe = [&](const Iteration<double>& now) {
    const Block<double> Xi = now.entry.t == 0 ? Block<double>(A.last_noise() / 2) : A.last_noise();
    trace.error.push_back(audit.check(now.entry.t, now.X, Xi, run.lambda_k, 2 * std::sqrt(beta_of(run))).sin_theta);
    recursions.follow(now.X, Xi);
    return true;
  };
  (void)accelerated_power<double>(A, options_of(run, seed), hooks);

  const theory::AuditReport& report = audit.report();
  const double T = promised_iterations(run, report.h0);
  require(T < static_cast<double>(run.iterations),
          fmt::format("iterations = {}: must exceed T = {:.0f}, from where the theorem promises", run.iterations, T));
  double worst = 0;
  for (auto t = static_cast<std::size_t>(std::ceil(T)); t < trace.error.size(); ++t)
    worst = std::max(worst, trace.error[t]);
  trace.facts["T"] = T;
  trace.facts["worst_over_epsilon"] = worst / run.epsilon;
  trace.facts["violations"] = report.first_violation.has_value() ? 1 : 0;
  if (run.noise == TheoremRun::Noise::push) trace.facts["predicted_floor"] = pushed_floor(run);
  recursions.tell(trace.facts);
  return trace;
}

}  // namespace

Trace trace(const TheoremRun& run, std::uint64_t seed) {
  check(run);
  switch (run.theorem) {
    case Theorem::lower_bound:
      return lower_bound(run, seed);
    case Theorem::closed_form:
      return closed_forms(run, seed);
    case Theorem::tight_outside:
      return tight_outside(run);
    case Theorem::tight_inside:
      return tight_inside(run);
    case Theorem::random_start:
      return random_starts(run.dimension, run.rank, run.iterations, seed);
    default:
      return audited(run, seed);
  }
}

}  // namespace hearsay::experiments

#include "experiments/noisy_solves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/diagonal.hpp"
#include "experiments/papers_steps.hpp"
#include "experiments/statistical_limit.hpp"
#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/noise.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/subspace.hpp"

namespace hearsay::experiments {
namespace {

// c of Oja's steps c/t, over 1 / (lambda_k - lambda_{k+1}).
constexpr double oja_steps[] = {0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64};
constexpr std::uint64_t oja_start_noise = 1000;  // the start's noise is another than the steps'

void check(const NoisyInstance& instance) {
  const auto& [spectrum, dimension, rank, gap, noise, noise_level] = instance;
  require(rank >= 1 && rank < dimension, fmt::format("rank = {}: must lie in [1, {}]", rank, dimension - 1));
  require(gap > 0 && gap <= 0.5, fmt::format("gap = {}: must lie in (0, 0.5]", gap));
  require(noise != NoiseChoice::Kind::none && noise_level > 0, "noise_level: must be positive");
}

void check_ascending(const std::vector<Index>& products) {
  require(!products.empty() && std::is_sorted(products.begin(), products.end()), "products: must be ascending");
}

NoiseModel<double> model_of(const NoisyInstance& instance, std::uint64_t seed) {
  switch (instance.noise) {
    case NoiseChoice::Kind::sphere:
      return sphere_noise<double>(instance.noise_level, seed);
    case NoiseChoice::Kind::adversarial:
      return adversarial_noise<double>(instance.noise_level, seed);
    case NoiseChoice::Kind::gaussian:
    case NoiseChoice::Kind::none:
      break;
  }
  return gaussian_noise<double>(instance.noise_level, seed);
}

double median_of_sweep(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<double> swept(const std::vector<Index>& products) { return {products.begin(), products.end()}; }

Trace limits(const BudgetRun& run) {
  require(run.instance.noise == NoiseChoice::Kind::gaussian, "limit: noise must be gaussian");
  const double one = error_of_one_product(run.instance.eigenvalues(), run.instance.rank);
  Trace trace;
  for (const Index columns : run.products)
    trace.error.push_back(statistical_limit(one, run.instance.noise_level, run.instance.rank, columns));
  return trace;
}

Trace solves(const BudgetRun& run, std::uint64_t seed) {
  const auto& instance = run.instance;
  const DiagonalOperator exact(instance.eigenvalues());
  const Block<double> U = Block<double>::Identity(instance.dimension, instance.rank);
  PowerOptions options{.rank = instance.rank, .seed = seed};
  if (run.solver == BudgetRun::Solver::last_block) options.method = SolveMethod::anpm;
  Trace trace;
  std::vector<double> ratios;
  for (const Index columns : run.products) {
    options.product_budget = columns;
    const auto found = principal_subspace<double>(noisy(exact, model_of(instance, seed)), options);
    const double sine = sin_theta<double>(U, found.basis);
    trace.error.push_back(run.solver == BudgetRun::Solver::error_bar ? found.bar.sin_theta : sine);
    ratios.push_back(found.bar.sin_theta / sine);
  }
  if (run.solver != BudgetRun::Solver::averaged) return trace;
  const auto within = std::count_if(ratios.begin(), ratios.end(),
                                    [](double ratio) { return ratio >= 1 / bar_factor && ratio <= bar_factor; });
  trace.facts["bars_within"] = static_cast<double>(within) / static_cast<double>(ratios.size());
  trace.facts["bar_over_error"] = median_of_sweep(ratios);
  return trace;
}

// The errors by one c, at each number of columns, from a basis that took some.
std::vector<double> oja(const BudgetRun& run, double c, const PowerResult<double>& start, std::uint64_t seed) {
  const auto& instance = run.instance;
  const Index d = instance.dimension, k = instance.rank;
  const DiagonalOperator exact(instance.eigenvalues());
  const auto A = noisy(exact, model_of(instance, seed));
  const Block<double> U = Block<double>::Identity(d, k);
  Block<double> X = start.basis, Y(d, k);
  Small<double> R;
  std::vector<double> errors;
  Index t = 0;
  for (const Index columns : run.products) {
    for (; start.products + (t + 1) * k <= columns; ++t) {
      A.apply(X, Y);
      X += c / static_cast<double>(t + 1) * Y;
      thin_qr<double>(X, R);
    }
    errors.push_back(sin_theta<double>(U, X));
  }
  return errors;
}

Trace best_oja(const BudgetRun& run, std::uint64_t seed) {
  const Vector<double> values = run.instance.eigenvalues();
  const double gap = values(run.instance.rank - 1) - values(run.instance.rank);
  const DiagonalOperator exact(values);
  const auto start =
      principal_subspace<double>(noisy(exact, model_of(run.instance, seed + oja_start_noise)),
                                 {.rank = run.instance.rank, .product_budget = run.products.front() / 2, .seed = seed});
  Trace trace;
  trace.error.assign(run.products.size(), std::numeric_limits<double>::infinity());
  for (const double step : oja_steps) {
    const std::vector<double> errors = oja(run, step / gap, start, seed);
    if (errors.back() < trace.error.back()) trace.facts["best_step"] = step;
    for (std::size_t i = 0; i < errors.size(); ++i) trace.error[i] = std::min(trace.error[i], errors[i]);
  }
  return trace;
}

}  // namespace

Vector<double> NoisyInstance::eigenvalues() const {
  Vector<double> values = Vector<double>::Constant(dimension, 0.5);
  values.head(rank).setOnes();
  values(rank) = 1 - gap;
  if (spectrum == Spectrum::planted) return values;
  for (Index i = 0; i < dimension; ++i) {
    const double place = static_cast<double>(i + 1);
    values(i) = spectrum == Spectrum::harmonic ? 1 / place : std::exp(-place / 50);
  }
  return values;
}

Trace trace(const BudgetRun& run, std::uint64_t seed) {
  check(run.instance);
  check_ascending(run.products);
  Trace trace = run.solver == BudgetRun::Solver::limit ? limits(run)
                : run.solver == BudgetRun::Solver::oja ? best_oja(run, seed)
                                                       : solves(run, seed);
  trace.swept = swept(run.products);
  return trace;
}

Trace trace(const SolveRun& run, std::uint64_t seed) {
  check(run.instance);
  const auto& instance = run.instance;
  const DiagonalOperator exact(instance.eigenvalues());
  const auto A = noisy(exact, model_of(instance, seed));
  const Block<double> U = Block<double>::Identity(instance.dimension, instance.rank);
  Trace trace;
  Hooks<double> hooks;
  hooks.reference = &U;
  hooks.observe = [&trace](const Iteration<double>& step) {
    const double before = trace.products.empty() ? 0 : trace.products.back();
    trace.products.push_back(before + static_cast<double>(step.X.cols()));
    return true;
  };
  const auto found =
      run.solver == SolveRun::Solver::paper
          ? accelerated_power<double>(A, papers_steps(instance.rank, Momentum::paper(), 1, run.iterations, seed), hooks)
          : principal_subspace<double>(A, {.rank = instance.rank, .max_iterations = run.iterations, .seed = seed},
                                       hooks);
  for (const HistoryEntry& entry : found.history) trace.error.push_back(entry.sin_theta);
  return trace;
}

Trace trace(const RecordedRun& run, std::uint64_t) {
  check_ascending(run.products);
  require(run.errors.size() == run.products.size(), "errors: must be as many as products");
  return {.error = run.errors, .swept = swept(run.products)};
}

}  // namespace hearsay::experiments

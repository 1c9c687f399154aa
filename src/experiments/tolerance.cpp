#include "experiments/tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/diagonal.hpp"
#include "experiments/papers_steps.hpp"
#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/noise.hpp"
#include "hearsay/power.hpp"
#include "hearsay/random.hpp"
#include "hearsay/theory.hpp"

namespace hearsay::experiments {
namespace {

using Analysis = ToleranceRun::Analysis;
using Part = ToleranceRun::Part;

void check(const ToleranceRun& run) {
  require(run.rank >= 1 && run.rank < run.dimension,
          fmt::format("rank = {}: must lie in [1, {}]", run.rank, run.dimension - 1));
  require(run.lambda_1 >= run.lambda_k,
          fmt::format("lambda_1 = {}: must be at least lambda_k = {}", run.lambda_1, run.lambda_k));
  require(run.lambda_next > 0 && run.lambda_next < run.lambda_k,
          fmt::format("lambda_next = {}: must lie in (0, lambda_k = {})", run.lambda_next, run.lambda_k));
  require(run.epsilon > 0 && run.epsilon < 1, fmt::format("epsilon = {}: must lie between 0 and 1", run.epsilon));
  require(run.least > 0 && run.least < run.most,
          fmt::format("least = {}: must lie between 0 and most = {}", run.least, run.most));
  require(run.levels >= 2, fmt::format("levels = {}: must be at least 2", run.levels));
}

DiagonalOperator instance(const ToleranceRun& run) {
  const auto unwanted = static_cast<double>(run.dimension - run.rank);
  Vector<double> values(run.dimension);
  values.head(run.rank).setLinSpaced(run.lambda_1, run.lambda_k);
  for (Index j = 0; j < run.dimension - run.rank; ++j)
    values(run.rank + j) = run.lambda_next * (1 - static_cast<double>(j) / unwanted);
  return DiagonalOperator(std::move(values));
}

double beta_of(const ToleranceRun& run) {
  return run.analysis == Analysis::hardt_price ? 0 : theory::optimal_beta(run.lambda_next);
}

// One part of the noise. Its worst direction takes from what u_k has grown to, or adds to u_{k+1} what belongs to u_k:
// always the same way in the coordinates of U_k, however the columns turn.
NoiseModel<double> one_part(const ToleranceRun& run, double size, bool random, std::uint64_t seed) {
  const Block<double> U = Block<double>::Identity(run.dimension, run.rank);
  const double gap = run.lambda_k - run.lambda_next;
  return {"one part", 0, [=](std::uint64_t product, ConstBlockView<double> X, BlockView<double> Xi) {
            const bool outside = run.part == Part::outside;
            const double unit = outside ? gap * run.epsilon : gap * cos_theta<double>(U, X);
            const double norm = (product == 0 ? 2 : 1) * size * unit;  // in Y_1 the product counts half
            if (random) {
              fill_normal<double>(
                  {.seed = seed, .stream = Stream::noise, .iteration = static_cast<std::uint32_t>(product)}, Xi);
              (outside ? Xi.topRows(run.rank) : Xi.bottomRows(run.dimension - run.rank)).setZero();
              Xi *= norm / spectral_norm<double>(Xi);
              return;
            }
            Xi.setZero();
            const auto u_k = X.row(run.rank - 1);
            Xi.row(outside ? run.rank : run.rank - 1) = (outside ? norm : -norm) / u_k.norm() * u_k;
          }};
}

// sin(theta_k) at every iteration.
std::vector<double> sines(const ToleranceRun& run, const NoiseModel<double>& noise, Index iterations,
                          std::uint64_t seed) {
  const DiagonalOperator exact = instance(run);
  const auto A = noisy(exact, noise);
  const Block<double> U = Block<double>::Identity(run.dimension, run.rank);
  Hooks<double> hooks;
  hooks.reference = &U;
  const auto result =
      accelerated_power<double>(A, papers_steps(run.rank, Momentum::fixed(beta_of(run)), 0, iterations, seed), hooks);
  std::vector<double> sines;
  for (const HistoryEntry& entry : result.history) sines.push_back(entry.sin_theta);
  return sines;
}

struct Promise {
  double T;
  double allowed;  // in the units of the sizes
};

Promise promise_of(const ToleranceRun& run, double h0) {
  const theory::Target target{.epsilon = run.epsilon, .h0 = h0};
  const double gap = run.lambda_k - run.lambda_next, beta = beta_of(run);
  const double T = run.analysis == Analysis::hardt_price ? theory::iterations_npm(run.lambda_k, run.lambda_next, target)
                                                         : theory::iterations_anpm(run.lambda_k, beta, target);
  if (run.analysis != Analysis::xu) return {.T = T, .allowed = theory::noise_constant};
  const theory::Tolerance least =
      theory::noise_xu_worst_order(static_cast<std::int64_t>(std::ceil(T)), run.lambda_1, run.lambda_k, beta, h0);
  // The least over the iterations; its part inside is in units of cos(theta_0), below that of any later iteration.
  return {.T = T,
          .allowed =
              run.part == Part::outside ? least.outside / (gap * run.epsilon) : least.inside * std::hypot(1, h0) / gap};
}

}  // namespace

Trace trace(const ToleranceRun& run, std::uint64_t seed) {
  check(run);
  const double sine_0 = sines(run, {}, 1, seed).front();
  const Promise promise = promise_of(run, sine_0 / std::sqrt((1 - sine_0) * (1 + sine_0)));
  const auto T = static_cast<Index>(std::ceil(promise.T));
  const auto worst = [&](double size, bool random) {
    const auto all = sines(run, one_part(run, size, random, seed), 2 * T, seed);
    const auto from = std::min(T, static_cast<Index>(all.size()) - 1);  // an exact answer ends a run early
    return *std::max_element(all.begin() + from, all.end()) / run.epsilon;
  };
  const auto broken_at = [&](bool random) {
    constexpr int halvings = 24;
    double kept = run.least, broken = run.most;
    if (!(worst(kept, random) <= 1)) return std::numeric_limits<double>::quiet_NaN();
    if (worst(broken, random) <= 1) return std::numeric_limits<double>::infinity();
    for (int i = 0; i < halvings; ++i) {
      const double middle = std::sqrt(kept * broken);
      (worst(middle, random) <= 1 ? kept : broken) = middle;
    }
    return broken;
  };

  Trace trace;
  for (Index i = 0; i < run.levels; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(run.levels - 1);
    trace.swept.push_back(run.least * std::pow(run.most / run.least, share));
    trace.error.push_back(worst(trace.swept.back(), false));
  }
  const auto exact = sines(run, {}, 2 * T, seed);
  const auto first = std::find_if(exact.begin(), exact.end(), [&](double sine) { return sine <= run.epsilon; });
  const double threshold = broken_at(false);
  trace.facts = {{"T", promise.T},
                 {"iterations", static_cast<double>(first - exact.begin())},
                 {"allowed", promise.allowed},
                 {"broken_at", threshold},
                 {"broken_at_random", broken_at(true)},
                 {"margin", threshold / promise.allowed},
                 {"white_tolerance", 1 / theory::white_amplification(run.lambda_k, beta_of(run))}};
  return trace;
}

}  // namespace hearsay::experiments

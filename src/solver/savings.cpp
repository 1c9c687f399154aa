#include "solver/savings.hpp"

#include <algorithm>
#include <cmath>

#include "solver/tuning.hpp"

namespace hearsay::detail {

namespace {

template <class S>
double pace(const PowerRun<S>& run, const HistoryEntry& entry) {
  return rate(run.stopping, entry, tuning::least_gap * entry.theta_k);
}

// At the pace that the Ritz values promise.
template <class S>
double steps_to_goal(const PowerRun<S>& run) {
  const HistoryEntry& now = run.latest();
  const double distance =
      std::max(now.residual / run.goal.tolerance, run.goal.sine > 0 ? now.sin_theta_estimate / run.goal.sine : 0.0);
  return std::log(distance) / pace(run, now);
}

// Columns come and go where their number is ours to choose.
template <class S>
bool columns_are_free(const PowerRun<S>& run) {
  return free_to_save(run) && !run.options.oversample && run.extraction() == Extraction::ritz;
}

}  // namespace

template <class S>
bool free_to_save(const PowerRun<S>& run) {
  return run.facts.exact && !run.plan.noisy && run.options.momentum.rule == Momentum::Rule::automatic &&
         run.d() * run.p() >= tuning::large_block;
}

// The leading column outgrows the damped ones by exp(acosh(..)) a step, and the block is kept well within what two
// passes of CholeskyQR can put right. The edge is learnt from the Ritz values, so a stride is at most twice the last,
// and short again where the recurrence has just begun anew; and none goes beyond where the end is expected.
template <class S>
Index stride(const PowerRun<S>& run, double beta) {
  if (run.plan.noisy || run.cooling()) return 1;
  const HistoryEntry& now = run.latest();
  const Index left = iteration_limit(run.options) - run.state.t;
  if (run.options.qr_every) return std::clamp<Index>(*run.options.qr_every, 1, std::max<Index>(1, left));
  if (!qr_is_costly(run.d(), run.p(), run.facts) || !free_to_save(run) || !(beta > 0)) return 1;
  constexpr bool single = sizeof(S) == 4;
  const double growth = std::acosh(1 + (now.theta_1 - now.edge) / (2 * std::sqrt(beta)));
  const double by_condition = std::log(single ? tuning::condition_single : tuning::condition_double) / growth;
  const double by_range = (single ? tuning::range_single : tuning::range_double) /
                          std::max(tuning::least_log, std::abs(std::log(std::sqrt(beta))));
  const auto& history = run.state.history;
  const Index last = history.size() < 2 ? 1 : now.t - (history.rbegin() + 1)->t;
  const bool afresh = last > 1 && !run.state.has_previous;
  const auto by_edge = static_cast<double>(afresh ? tuning::stride_afresh : tuning::stride_growth * last);
  const double steps = std::min({by_condition, by_range, std::ceil(steps_to_goal(run)), by_edge,
                                 static_cast<double>(tuning::longest_stride), static_cast<double>(left)});
  return std::max<Index>(1, static_cast<Index>(steps));
}

// A wide block buys a low edge b = theta_p, at a product that costs by columns.
template <class S>
std::optional<Index> narrower(const PowerRun<S>& run) {
  if (!columns_are_free(run) || run.state.t < tuning::narrow_after) return std::nullopt;
  HistoryEntry narrow = run.latest();
  const auto cost = [&](Index q) {
    narrow.edge = std::max(0.0, static_cast<double>(run.now.theta(q - 1)));
    return static_cast<double>(whole_lines(q) + tuning::product_overhead) / pace(run, narrow);
  };
  const double now = cost(run.p());
  Index best = run.p();
  for (Index q = run.k() + tuning::least_extra; q < run.p(); ++q)
    if (cost(q) < std::min(tuning::worth_narrowing * now, cost(best))) best = q;
  return best < run.p() ? std::optional(best) : std::nullopt;
}

// Once, where columns are few because a QR is costly, and the Ritz values have settled.
template <class S>
std::optional<Index> wider(const PowerRun<S>& run) {
  const Index k = run.k(), wide = std::min(run.d(), whole_lines(k + std::max(k / tuning::widen_by, tuning::line)));
  const auto& history = run.state.history;
  if (run.widened || wide <= run.p() || !columns_are_free(run) || !qr_is_costly(run.d(), run.p(), run.facts) ||
      history.size() < 2)
    return std::nullopt;
  const HistoryEntry &now = history.back(), &before = *(history.rbegin() + 1);
  const bool settled = now.residual <= tuning::settled_residual &&
                       std::abs(now.theta_k - before.theta_k) <= tuning::settled_ritz * std::abs(now.theta_k);
  if (!settled || pace(run, now) > tuning::slow_rate || steps_to_goal(run) < tuning::far_from_goal) return std::nullopt;
  return wide;
}

#define HEARSAY_INSTANTIATE(S)                                   \
  template bool free_to_save<S>(const PowerRun<S>&);             \
  template Index stride<S>(const PowerRun<S>&, double);          \
  template std::optional<Index> narrower<S>(const PowerRun<S>&); \
  template std::optional<Index> wider<S>(const PowerRun<S>&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay::detail

#include "decentralized/gossip_bar.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hearsay::detail {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

// Relative to theta_k: a gap that is as good as none, and makes the bar 1.
constexpr double none_at_all = 1e-12;

}  // namespace

double gap_of(const Vector<double>& theta, double next, std::span<const double> residuals) {
  const double theta_k = theta(theta.size() - 1);
  if (!std::isnan(next)) return std::max(theta_k - next, none_at_all * std::abs(theta_k));
  const std::size_t steps = residuals.size(), window = std::max<std::size_t>(1, steps / 4);
  const double slowest = 1 / static_cast<double>(steps + 1);
  if (steps < 2 || !(residuals[steps - 1 - window] > 0)) return theta_k * slowest;
  const double fall = residuals.back() / residuals[steps - 1 - window];
  return theta_k * std::max(slowest, 1 - std::pow(fall, 1 / static_cast<double>(window)));
}

ErrorBar gossip_bar(const Verified& told) {
  ErrorBar bar;
  if (told.told.evidence != Knowledge::bound) return bar;
  const Block<double>& V = told.common.V;
  bar.spread = told.told.apart;
  const bool all_of_space = V.rows() == V.cols();
  bar.common = std::isnan(told.error) ? not_known : std::min(1.0, told.error);
  if (all_of_space || told.told.residual == 0) bar.common = 0;
  const double sine = bar.spread + bar.common;
  if (!std::isfinite(sine)) return bar;
  bar.kind = BarKind::indicative;
  bar.sin_theta = std::min(1.0, sine);
  return bar;
}

bool may_have_bar(const DecentralizedResult& result) {
  const bool ended_early = result.status == Status::noise_floor || result.status == Status::iteration_limit ||
                           result.status == Status::stopped_by_observer;
  return ended_early && result.defined_rank == result.eigenvalues.cols();
}

}  // namespace hearsay::detail

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "hearsay/error.hpp"
#include "hearsay/privacy.hpp"

namespace hearsay {

namespace {

using Real = long double;  // so that a difference of double's last digits can be seen

constexpr Real least_mu = 1e-6L, largest_mu = 200.0L, largest_epsilon = 100.0L;

Real log_density(Real x) { return -x * x / 2 - 0.918938533204672741780329736405617639861397L; }  // log sqrt(2 pi)

// integral over t > 0 of exp(-x t - t^2/2) (1 - e^{-mu t}): the difference of two of Mills' ratios, at x and x + mu,
// without a difference. With t = e^u the trapezoidal rule converges faster than any power of its step: the
// integrand falls like e^{2u} to the left, twice exponentially to the right, and is analytic in a strip of width pi/4.
Real mills_difference(Real x, Real mu) {
  constexpr Real step = 0.08L;
  const Real scale = 1 + std::abs(x) + mu;  // nothing happens before 1/scale
  const Real left = -26 - std::log(scale), right = x > 0 ? std::log(std::min(60 / x, Real(12))) : std::log(12 - x);
  Real sum = 0;
  for (int i = 0; left + i * step <= right; ++i) {
    const Real t = std::exp(left + i * step);
    sum += std::exp(-x * t - t * t / 2) * -std::expm1(-mu * t) * t;
  }
  return step * sum;
}

// a = mu/2 - eps/mu, b = a - mu, and e^eps phi(b) = phi(a): so delta = phi(a) (M(-a) - M(-b)), M being Mills' ratio.
Real log_delta(Real mu, Real epsilon) {
  const Real a = mu / 2 - epsilon / mu;
  if (a <= 5) return log_density(a) + std::log(mills_difference(-a, mu));
  const Real root = std::sqrt(Real(2));
  const Real above = std::erfc(a / root) / 2;  // 1 - Phi(a); both terms are small where delta is nearly one
  return std::log1p(-above - std::exp(epsilon) * std::erfc((mu - a) / root) / 2);
}

void require_budget(double epsilon, double delta) {
  require(epsilon > 0 && epsilon <= static_cast<double>(largest_epsilon),
          fmt::format("epsilon = {}: must be above 0 and at most {}", epsilon, static_cast<double>(largest_epsilon)));
  require(delta >= 1e-300 && delta <= 0.5, fmt::format("delta = {}: must be positive and at most 0.5", delta));
}

void require_mu(double mu) {
  require(mu > 0 && mu <= static_cast<double>(largest_mu),
          fmt::format("mu = {}: must be above 0 and at most {}", mu, static_cast<double>(largest_mu)));
}

// Where a rising function of log mu has its zero: false position, with the end that stays halved (Illinois).
Real zero_of(const std::function<Real(Real)>& rising, Real low, Real high) {
  Real below = rising(low), above = rising(high);
  for (int i = 0, side = 0; i < 100 && high - low > 1e-17L * std::max(std::abs(low), std::abs(high)); ++i) {
    const Real at = low + (high - low) * (below / (below - above)), found = rising(at);
    if (found == 0 || at <= low || at >= high) return at;
    if (found < 0) {
      low = at, below = found;
      if (side == -1) above /= 2;
      side = -1;
    } else {
      high = at, above = found;
      if (side == 1) below /= 2;
      side = 1;
    }
  }
  return low;
}

double find_mu(const PrivacyBudget& budget) {
  const Real wanted = std::log(Real(budget.delta)), epsilon = budget.epsilon;
  const auto excess = [&](Real log_mu) { return log_delta(std::exp(log_mu), epsilon) - wanted; };
  const Real low = std::log(least_mu), high = std::log(largest_mu);
  require(excess(low) < 0, fmt::format("epsilon = {}, delta = {}: leave nothing to be released: mu would be below 1e-6",
                                       budget.epsilon, budget.delta));
  double mu = static_cast<double>(std::exp(zero_of(excess, low, high)));
  while (log_delta(mu, epsilon) > wanted) mu = std::nextafter(mu, 0.0);
  return mu;
}

}  // namespace

double gaussian_delta(double mu, double epsilon) {
  require_mu(mu);
  require(epsilon >= 0 && std::isfinite(epsilon), fmt::format("epsilon = {}: must be finite, at least 0", epsilon));
  const Real logarithm = log_delta(mu, epsilon);
  return logarithm < -707 ? 0.0 : static_cast<double>(std::exp(logarithm));
}

double gaussian_epsilon(double mu, double delta) {
  require_mu(mu);
  require(delta >= 1e-300 && delta < 1, fmt::format("delta = {}: must be positive and below 1", delta));
  const Real wanted = std::log(Real(delta)), m = mu;
  if (log_delta(m, 0) <= wanted) return 0;
  Real low = 0, high = m * m / 2 + m * std::sqrt(-2 * wanted) + 1;  // where the first term alone is below delta
  for (int i = 0; i < 300 && high > low; ++i) {
    const Real middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    (log_delta(m, middle) <= wanted ? high : low) = middle;
  }
  return static_cast<double>(high);
}

double gaussian_mu(const PrivacyBudget& budget) {
  require_budget(budget.epsilon, budget.delta);
  thread_local PrivacyBudget last = {};  // one budget is asked for again and again
  thread_local double mu = 0;
  if (budget.epsilon == last.epsilon && budget.delta == last.delta) return mu;
  mu = find_mu(budget);
  last = budget;
  return mu;
}

}  // namespace hearsay

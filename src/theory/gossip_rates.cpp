// How fast gossip averages, and how many rounds the decentralized methods ask for.
//
// On the eigenvector of W with eigenvalue mu, accelerated gossip is y_{l+1} = (1+omega) mu y_l - omega y_{l-1} from
// y_0 = y_{-1} = 1. With y_l = omega^{l/2} z_l and x = mu (1+omega)/(2 sqrt(omega)) = mu/(1-gamma) this is Chebyshev's
// recurrence, and z_{-1} = sqrt(omega) picks z_l = U_l(x) - sqrt(omega) U_{l-1}(x).
#include <algorithm>

#include "check.hpp"
#include "hearsay/theory.hpp"

namespace hearsay::theory {
namespace {

void check_gossip(std::int64_t L, double gamma) {
  check_at_least("L", L, 0);
  if (!(gamma > 0 && gamma <= 1)) refuse("gamma", gamma, "lie in (0, 1]");
}

void check_network(const NetworkFacts& network, double lambda_k) {
  check_at_least("agents", network.agents, 1);
  check_gossip(0, network.gamma);
  check_positive("lambda_k", lambda_k);
  if (!(network.local_norm >= lambda_k && std::isfinite(network.local_norm)))
    refuse("local_norm", network.local_norm, "be finite, and at least lambda_k, which the mean of the A_i has");
}

// (1 + L slope) omega^{L/2}
double double_root(std::int64_t L, double slope, double omega) {
  const double rounds = static_cast<double>(L);
  return (1 + rounds * slope) * std::pow(omega, rounds / 2);
}

double rounds_order(const NetworkFacts& network, double lambda_k, double lambda_next, double epsilon) {
  check_network(network, lambda_k);
  check_gap(lambda_k, lambda_next);
  return std::log(network.local_norm / (lambda_k - lambda_next) / epsilon) / std::sqrt(network.gamma);
}

}  // namespace

double gossip_omega(double gamma) {
  check_gossip(0, gamma);
  const double s = std::sqrt(gamma * (2 - gamma));
  return (1 - gamma) * (1 - gamma) / ((1 + s) * (1 + s));  // 1 - s = (1-gamma)^2/(1+s)
}

double accelerated_gossip_factor(std::int64_t L, double mu, double gamma) {
  check_gossip(L, gamma);
  if (!(std::abs(mu) <= 1 - gamma + 1e-12)) refuse("mu", mu, "be at most 1 - gamma in magnitude");
  if (L == 0) return 1.0;
  if (gamma == 1) return 0.0;
  const double x = std::clamp(mu / (1 - gamma), -1.0, 1.0);  // gamma itself came from a rounded 1 - |mu|
  const double root_omega = std::sqrt(gossip_omega(gamma));
  // U_l(x) = q_l(2x) at beta = 1: the same recurrence from the same start.
  const double z = q(L, 2 * x, 1.0) - root_omega * q(L - 1, 2 * x, 1.0);
  return z * std::pow(root_omega, static_cast<double>(L));
}

double accelerated_gossip_contraction(std::int64_t L, double gamma) {
  check_gossip(L, gamma);
  const double omega = gossip_omega(gamma);
  return double_root(L, 1 - std::sqrt(omega), omega);
}

double accelerated_gossip_bound(std::int64_t L, double gamma) {
  check_gossip(L, gamma);
  const double omega = gossip_omega(gamma);
  return double_root(L, 1 + std::sqrt(omega), omega);
}

double accelerated_gossip_as_printed(std::int64_t L, double gamma, std::int64_t agents) {
  check_gossip(L, gamma);
  check_at_least("agents", agents, 1);
  return std::pow(1 - std::sqrt(gamma), static_cast<double>(L)) * std::sqrt(static_cast<double>(agents));
}

double chebyshev_gossip_contraction(std::int64_t L, double lo, double hi) {
  check_at_least("L", L, 0);
  if (!(hi < 1)) refuse("hi", hi, "lie below 1");
  if (!(lo >= -1 && lo <= hi)) refuse("lo", lo, "lie in [-1, hi]");
  if (L == 0) return 1.0;
  if (lo == hi) return 0.0;                        // one step of (W - lo I)/(1 - lo) is exact
  const double excess = 2 * (1 - hi) / (hi - lo);  // z - 1
  const double growth = std::log1p(excess + std::sqrt(excess * (2 + excess)));
  const double exponent = static_cast<double>(L) * growth;
  return 2 * std::exp(-exponent) / (1 + std::exp(-2 * exponent));
}

double gossip_rounds_adepm(const NetworkFacts& network, std::int64_t rank, double lambda_k, double beta,
                           Target target) {
  check_network(network, lambda_k);
  check_at_least("rank", rank, 1);
  check_momentum(lambda_k, beta);
  const double root_nk = std::sqrt(static_cast<double>(network.agents) * static_cast<double>(rank));
  const double gap = lambda_k - 2 * std::sqrt(beta);
  return 6 / std::sqrt(network.gamma) *
         std::log(11 * root_nk * network.local_norm / gap / alpha_0(target) / target.epsilon);
}

double gossip_rounds_depm_order(const NetworkFacts& network, double lambda_k, double lambda_next, double epsilon) {
  check_fraction("epsilon", epsilon);
  return rounds_order(network, lambda_k, lambda_next, epsilon);
}

double gossip_rounds_deepca_order(const NetworkFacts& network, double lambda_k, double lambda_next) {
  return rounds_order(network, lambda_k, lambda_next, 1.0);
}

std::int64_t predicted_gossip_rounds(const NetworkFacts& network, double lambda_k, double epsilon) {
  check_network(network, lambda_k);
  check_fraction("epsilon", epsilon);
  const double goal = epsilon * lambda_k / network.local_norm;
  const auto enough = [&](std::int64_t L) { return accelerated_gossip_contraction(L, network.gamma) <= goal; };
  std::int64_t above = 1;  // the contraction falls with L, so bisection finds the least
  constexpr std::int64_t most = std::int64_t{1} << 52;
  while (!enough(above)) {
    if (above >= most) refuse("gamma", network.gamma, "be larger: no number of rounds that can be counted would do");
    above *= 2;
  }
  std::int64_t below = above / 2;
  while (above - below > 1) {
    const std::int64_t middle = below + (above - below) / 2;
    (enough(middle) ? above : below) = middle;
  }
  return above;
}

}  // namespace hearsay::theory

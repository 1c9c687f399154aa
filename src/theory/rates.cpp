// How fast the iteration contracts: what is promised, and what happens without noise.
#include <limits>

#include "check.hpp"
#include "hearsay/theory.hpp"

namespace hearsay::theory {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// log(l_k+/sqrt(beta)) = acosh(l_k/(2 sqrt(beta))), accurate where l_k is close to 2 sqrt(beta).
double log_growth(double lambda_k, double beta) {
  const double edge = 2 * std::sqrt(beta);
  if (edge == 0) return infinity;
  const double excess = (lambda_k - edge) / edge;
  return std::log1p(excess + std::sqrt(excess * (2 + excess)));
}

void check_small_beta(double lambda_k, double lambda_next, double beta) {
  check_gap(lambda_k, lambda_next);
  check_nonnegative("beta", beta);
  if (!(2 * std::sqrt(beta) <= lambda_next))
    throw InvalidArgument(
        fmt::format("beta = {}: must be at most lambda_next^2/4 = {}", beta, lambda_next * lambda_next / 4));
}

}  // namespace

double optimal_beta(double lambda_next) {
  check_nonnegative("lambda_next", lambda_next);
  return lambda_next * lambda_next / 4;
}

double delta(double lambda_k, double beta) {
  check_momentum(lambda_k, beta);
  return (lambda_k - 2 * std::sqrt(beta)) / lambda_k;
}

double f_delta(double delta) {
  if (!(delta >= 0 && delta <= 1)) refuse("delta", delta, "lie in [0, 1]");
  return 2 / (std::sqrt(2 - delta) + std::sqrt(delta));
}

double contraction_anpm(double lambda_k, double beta) { return 1 - std::sqrt(delta(lambda_k, beta)) / 2; }

double contraction_small_beta(double lambda_k, double lambda_next, double beta) {
  check_small_beta(lambda_k, lambda_next, beta);
  const double wanted = upper_root(lambda_k, beta);
  const double unwanted = upper_root(lambda_next, beta);
  return 1 - small_beta_constant * (wanted - unwanted) / wanted;
}

double contraction_npm(double lambda_k, double lambda_next) {
  check_gap(lambda_k, lambda_next);
  return 1 - small_beta_constant * (lambda_k - lambda_next) / lambda_k;
}

double asymptotic_rate(double lambda_k, double lambda_next, double beta) {
  check_gap(lambda_k, lambda_next);
  check_momentum(lambda_k, beta);
  if (lambda_next <= 2 * std::sqrt(beta)) return log_growth(lambda_k, beta);
  const double unwanted = upper_root(lambda_next, beta);
  return std::log1p((upper_root(lambda_k, beta) - unwanted) / unwanted);
}

Damped damped(double lambda_k, double b, Damping damping) {
  check_gap(lambda_k, b);
  const double shift = damping == Damping::centred ? b / 2 : 0.0;
  const double root_beta = damping == Damping::centred ? b / 4 : b / 2;
  const double effective = lambda_k - shift;
  return {.shift = shift, .lambda_k = effective, .beta = root_beta * root_beta, .delta = (lambda_k - b) / effective};
}

}  // namespace hearsay::theory

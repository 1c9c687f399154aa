// Iterations, envelopes and noise tolerances.
#include <algorithm>
#include <limits>

#include "check.hpp"
#include "hearsay/theory.hpp"

namespace hearsay::theory {
namespace {

// The small-beta proof gives tan <= epsilon/14 + c_1 h_0 contraction^t; this start factor makes the sum epsilon.
constexpr double small_beta_start = start_constant / (1.0 - 1.0 / 14.0);  // 434/195

void check_target(Target target) {
  check_fraction("epsilon", target.epsilon);
  check_positive("h0", target.h0);
}

double steps(double start_over_goal, double contraction) {
  return std::max(0.0, std::log(start_over_goal) / -std::log(contraction));
}

double cosine_of_tangent(double tangent) { return 1 / std::hypot(1.0, tangent); }

Tolerance noise_at_gap(double gap, double epsilon, double cos_theta) {
  check_fraction("epsilon", epsilon);
  if (!(cos_theta >= 0 && cos_theta <= 1)) refuse("cos_theta", cos_theta, "lie in [0, 1]");
  return {.outside = noise_constant * gap * epsilon, .inside = noise_constant * gap * cos_theta};
}

// ratio^t/(T(T-t+1)) is log-convex in t: its least value over 0..T lies beside the zero of the derivative.
std::int64_t worst_step(std::int64_t T, double ratio) {
  if (!(ratio < 1)) return 0;
  const double stationary = static_cast<double>(T) + 1 + 1 / std::log(ratio);
  const auto below = static_cast<std::int64_t>(std::floor(std::clamp(stationary, 0.0, static_cast<double>(T))));
  const auto above = std::min(T, below + 1);
  const auto log_value = [&](std::int64_t t) {
    return static_cast<double>(t) * std::log(ratio) - std::log(static_cast<double>(T - t + 1));
  };
  return log_value(above) < log_value(below) ? above : below;
}

}  // namespace

double iterations_anpm(double lambda_k, double beta, Target target) {
  check_target(target);
  return steps(2 * target.h0 / target.epsilon, contraction_anpm(lambda_k, beta));
}

double iterations_small_beta(double lambda_k, double lambda_next, double beta, Target target) {
  check_target(target);
  return steps(small_beta_start * target.h0 / target.epsilon, contraction_small_beta(lambda_k, lambda_next, beta));
}

double iterations_npm(double lambda_k, double lambda_next, Target target) {
  check_target(target);
  return steps(2 * target.h0 / target.epsilon, contraction_npm(lambda_k, lambda_next));
}

double iterations_hardt_price_order(double lambda_k, double lambda_next, double epsilon) {
  check_gap(lambda_k, lambda_next);
  check_fraction("epsilon", epsilon);
  return lambda_k / (lambda_k - lambda_next) * -std::log(epsilon);
}

double iterations_xu_order(double lambda_k, double beta, Target target) {
  check_target(target);
  return std::max(0.0, std::log(target.h0 / target.epsilon)) / std::sqrt(delta(lambda_k, beta));
}

double predicted_iterations(double rate, Target target) {
  check_target(target);
  if (!(rate > 0)) refuse("rate", rate, "be positive");
  return std::max(0.0, std::log(target.h0 / target.epsilon)) / rate;
}

double random_start_tangent(std::int64_t dimension, std::int64_t rank, double tau) {
  check_at_least("rank", rank, 1);
  check_at_least("dimension", dimension, rank);
  check_positive("tau", tau);
  // 1/(sqrt(k) - sqrt(k-1)) = sqrt(k) + sqrt(k-1)
  const double k = static_cast<double>(rank);
  return tau * std::sqrt(static_cast<double>(dimension)) * (std::sqrt(k) + std::sqrt(k - 1));
}

double envelope_as_printed(std::int64_t t, double lambda_k, double beta, Target target) {
  check_at_least("t", t, 0);
  check_target(target);
  return target.epsilon / 2 + target.h0 * std::pow(contraction_anpm(lambda_k, beta), static_cast<double>(t));
}

double envelope(std::int64_t t, double lambda_k, double beta, Target target) {
  return envelope_as_printed(t, lambda_k, beta, {.epsilon = target.epsilon, .h0 = start_constant * target.h0});
}

double worst_cosine(Target target) {
  check_target(target);
  return cosine_of_tangent(target.epsilon / 2 + start_constant * target.h0);
}

double alpha_0(Target target) {
  check_target(target);
  return cosine_of_tangent(target.epsilon / 2 + target.h0);
}

double lower_bound_tangent(std::int64_t t, double lambda_k, double beta, double h0) {
  check_at_least("t", t, 0);
  check_momentum(lambda_k, beta);
  check_nonnegative("h0", h0);
  if (t == 0) return h0;
  const double exponent = static_cast<double>(t) * asymptotic_rate(lambda_k, 2 * std::sqrt(beta), beta);
  return h0 * 2 * std::exp(-exponent) / (1 + std::exp(-2 * exponent));  // h_0/cosh(t log(l_k+/sqrt(beta)))
}

Tolerance noise_anpm(double lambda_k, double beta, double epsilon, double cos_theta) {
  check_momentum(lambda_k, beta);
  return noise_at_gap(lambda_k - 2 * std::sqrt(beta), epsilon, cos_theta);
}

Tolerance noise_npm(double lambda_k, double lambda_next, double epsilon, double cos_theta) {
  check_gap(lambda_k, lambda_next);
  return noise_at_gap(lambda_k - lambda_next, epsilon, cos_theta);
}

Tolerance noise_xu_order(std::int64_t t, std::int64_t T, double lambda_1, double lambda_k, double beta, double h0) {
  check_at_least("t", t, 0);
  check_at_least("T", T, std::max<std::int64_t>(t, 1));
  check_momentum(lambda_k, beta);
  check_positive("h0", h0);
  if (!(lambda_1 >= lambda_k && std::isfinite(lambda_1)))
    refuse("lambda_1", lambda_1, "be finite, and at least lambda_k");
  const double top = upper_root(lambda_1, beta);
  const double wanted = upper_root(lambda_k, beta);
  const double cos_start = cosine_of_tangent(h0);
  const double share = static_cast<double>(T) * static_cast<double>(T - t + 1);
  const auto power = [t](double ratio) { return std::pow(ratio, static_cast<double>(t)); };
  return {.outside = power(std::sqrt(beta) / top) * std::sqrt(beta) * h0 * cos_start / share,
          .inside = power(wanted / top) * wanted * cos_start / share};
}

Tolerance noise_xu_worst_order(std::int64_t T, double lambda_1, double lambda_k, double beta, double h0) {
  noise_xu_order(0, T, lambda_1, lambda_k, beta, h0);  // for its checks
  const double top = upper_root(lambda_1, beta);
  const std::int64_t outside_step = worst_step(T, std::sqrt(beta) / top);
  const std::int64_t inside_step = worst_step(T, upper_root(lambda_k, beta) / top);
  return {.outside = noise_xu_order(outside_step, T, lambda_1, lambda_k, beta, h0).outside,
          .inside = noise_xu_order(inside_step, T, lambda_1, lambda_k, beta, h0).inside};
}

}  // namespace hearsay::theory

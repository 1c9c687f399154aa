// p_t and q_t in closed form. Both have the parity of t, so only x >= 0 is computed:
//   x >= 2 sqrt(beta)   p = (x+)^t (1 + r^t)/2,       q = (x+)^t (1 - r^{t+1})/(1 - r)
//   x <  2 sqrt(beta)   p = beta^{t/2} cos(t phi),    q = beta^{t/2} sin((t+1) phi)/sin(phi)
// with r = x-/x+ in [0, 1] and x = 2 sqrt(beta) cos(phi).
//
// Sums of like signs in the first line, and no difference of nearly equal numbers in either: 1 - r is taken from
// sqrt(x^2 - 4 beta) factored, phi from atan2.
#include <limits>

#include "check.hpp"
#include "hearsay/theory.hpp"

namespace hearsay::theory {
namespace {

// value = mantissa * base^t
struct PowerForm {
  double mantissa;
  double base;
};

double root_of_discriminant(double x, double edge) {  // sqrt(|x^2 - edge^2|), without overflow or cancellation
  return std::sqrt(std::abs(x - edge)) * std::sqrt(x + edge);
}

PowerForm p_form(std::int64_t t, double x, double beta) {
  const double edge = 2 * std::sqrt(beta);
  if (x < edge) return {std::cos(static_cast<double>(t) * std::atan2(root_of_discriminant(x, edge), x)), edge / 2};
  const double plus = (x + root_of_discriminant(x, edge)) / 2;
  const double ratio = plus > 0 ? beta / plus / plus : 1.0;
  return {(1 + std::pow(ratio, static_cast<double>(t))) / 2, plus};
}

PowerForm q_form(std::int64_t t, double x, double beta) {
  const double edge = 2 * std::sqrt(beta);
  const double terms = static_cast<double>(t) + 1;
  const double width = root_of_discriminant(x, edge);
  if (x < edge) {
    const double phi = std::atan2(width, x);
    return {std::sin(terms * phi) / std::sin(phi), edge / 2};
  }
  const double plus = (x + width) / 2;
  const double distance = plus > 0 ? width / plus : 0.0;  // 1 - r
  if (distance == 0) return {plus > 0 || t == 0 ? terms : 0.0, plus};
  if (distance >= 1) return {1.0, plus};  // beta = 0, up to rounding: the sum has one term
  return {-std::expm1(terms * std::log1p(-distance)) / distance, plus};
}

template <class Form>
PowerForm with_sign(Form form, std::int64_t t, double x, double beta) {
  check_at_least("t", t, 0);
  check_finite("x", x);
  check_nonnegative("beta", beta);
  PowerForm value = form(t, std::abs(x), beta);
  if (x < 0 && t % 2 != 0) value.mantissa = -value.mantissa;
  return value;
}

double plain(const PowerForm& value, std::int64_t t) {
  return value.mantissa == 0 ? 0.0 : value.mantissa * std::pow(value.base, static_cast<double>(t));
}

Scaled scaled(const PowerForm& value, std::int64_t t) {
  if (t == 0) return {value.mantissa, 0.0};
  if (value.base == 0) return {0.0, 0.0};
  return {value.mantissa, static_cast<double>(t) * std::log(value.base)};
}

}  // namespace

double Scaled::log_abs() const {
  return mantissa == 0 ? -std::numeric_limits<double>::infinity() : std::log(std::abs(mantissa)) + log_scale;
}

Roots roots(double x, double beta) {
  check_finite("x", x);
  check_nonnegative("beta", beta);
  const double edge = 2 * std::sqrt(beta);
  const double half_width = root_of_discriminant(std::abs(x), edge) / 2;
  if (std::abs(x) < edge) return {{x / 2, half_width}, {x / 2, -half_width}};
  const double plus = std::copysign(std::abs(x) / 2 + half_width, x);
  return {plus, plus == 0 ? 0.0 : beta / plus};  // the product of the roots is beta: no cancellation in x-
}

double upper_root(double x, double beta) {
  check_nonnegative("beta", beta);
  const double edge = 2 * std::sqrt(beta);
  if (!(x >= edge && std::isfinite(x)))
    throw InvalidArgument(fmt::format("x = {}: must be at least 2 sqrt(beta) = {}", x, edge));
  return (x + root_of_discriminant(x, edge)) / 2;
}

double p(std::int64_t t, double x, double beta) { return plain(with_sign(p_form, t, x, beta), t); }
Scaled scaled_p(std::int64_t t, double x, double beta) { return scaled(with_sign(p_form, t, x, beta), t); }

double q(std::int64_t t, double x, double beta) { return plain(with_sign(q_form, t, x, beta), t); }
Scaled scaled_q(std::int64_t t, double x, double beta) { return scaled(with_sign(q_form, t, x, beta), t); }

}  // namespace hearsay::theory

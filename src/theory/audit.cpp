#include "hearsay/audit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "check.hpp"
#include "hearsay/theory.hpp"
#include "linalg/decompositions.hpp"

namespace hearsay::theory {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double rounding = 1e-9;  // relative: noise scaled exactly to its bound must pass

bool within(double value, double bound) { return value <= bound * (1 + rounding); }

double largest_singular_value(const Small<double>& M) {
  return M.size() == 0 ? 0.0 : detail::singular_values<double>(M)(0);
}

// Through the Gram matrix, scaled so that squares neither overflow nor vanish: good to rounding for the *largest* one.
double spectral_norm_of(const Block<double>& tall) {
  const double scale = tall.stableNorm();
  if (!(scale > 0)) return scale;
  const Block<double> scaled = tall / scale;
  return scale * std::sqrt(largest_singular_value(scaled.transpose() * scaled));
}

struct Parts {
  double outside, inside, inside_least;  // ||U_-k'Z||, ||U_k'Z||, smallest singular value of U_k'Z
};

// All NaN, which no bound admits, where Z is not finite.
Parts parts_of(const Block<double>& U, ConstBlockView<double> Z) {
  if (!Z.allFinite()) return {not_a_number, not_a_number, not_a_number};
  const Small<double> inner = U.transpose() * Z;
  const Block<double> rest = Z - U * inner;
  const Vector<double> singular_values = detail::singular_values<double>(inner);
  return {spectral_norm_of(rest), singular_values(0), singular_values(singular_values.size() - 1)};
}

// What the covering theorem says of one step.
struct Coverage {
  Regime regime;
  double gap;
  double contraction;
};

// The unwanted eigenvalues [0, l_{k+1}] appear as [-shift, l_{k+1} - shift]; their lower end must be damped as well.
Coverage coverage(double lambda_k, double lambda_next, double lambda_k_eff, double edge) {
  const double shift = lambda_k - lambda_k_eff;
  const double unwanted = lambda_next - shift;
  const double reach = std::max(edge, unwanted);
  const double slack = rounding * lambda_k;
  if (!(edge < lambda_k_eff) || !(shift <= reach + slack) || !(shift >= -slack)) return {Regime::none, 0.0, 1.0};
  const double beta = edge * edge / 4;
  if (unwanted <= edge + slack) return {Regime::main, lambda_k_eff - edge, contraction_anpm(lambda_k_eff, beta)};
  const Regime regime = edge == 0 ? Regime::npm : Regime::small_beta;
  return {regime, lambda_k - lambda_next, contraction_small_beta(lambda_k_eff, unwanted, beta)};
}

}  // namespace

Audit::Audit(Block<double> U_k, double lambda_k, double lambda_next, double epsilon)
    : U_(std::move(U_k)), lambda_k_(lambda_k), lambda_next_(lambda_next), epsilon_(epsilon) {
  check_gap(lambda_k, lambda_next);
  check_fraction("epsilon", epsilon);
  check_at_least("columns of U_k", U_.cols(), 1);
  check_at_least("rows of U_k", U_.rows(), U_.cols());
  const Small<double> gram = U_.transpose() * U_;
  const double defect = (gram - Small<double>::Identity(U_.cols(), U_.cols())).cwiseAbs().maxCoeff();
  if (!(defect <= 1e-8)) refuse("U_k: largest entry of |U'U - I|", defect, "be at most 1e-8");
}

AuditStep Audit::check(std::int64_t t, ConstBlockView<double> X, ConstBlockView<double> Xi, double lambda_k_eff,
                       double two_sqrt_beta) {
  check_positive("lambda_k_eff", lambda_k_eff);
  check_nonnegative("two_sqrt_beta", two_sqrt_beta);
  const auto expected = std::ssize(report_.steps);
  if (t != expected) throw InvalidArgument(fmt::format("t = {}: must be {}, the step after the last", t, expected));
  for (const auto& [what, Z] : {std::pair{"X", &X}, std::pair{"Xi", &Xi}})
    if (Z->rows() != U_.rows() || Z->cols() != U_.cols())
      throw InvalidArgument(
          fmt::format("{} is {} x {}: must be {} x {}", what, Z->rows(), Z->cols(), U_.rows(), U_.cols()));

  const Coverage covered = coverage(lambda_k_, lambda_next_, lambda_k_eff, two_sqrt_beta);
  const Parts angle = parts_of(U_, X);
  const Parts noise = parts_of(U_, Xi);
  const double tangent = angle.inside_least > 0 ? angle.outside / angle.inside_least : infinite;
  const double h0 = t == 0 ? tangent : report_.h0;
  const double shrunk = std::isinf(h0) ? infinite : h0 * decay_;  // infinity * 0 would be NaN
  report_.h0 = h0;

  record({.iteration = t,
          .regime = covered.regime,
          .lambda_k_eff = lambda_k_eff,
          .two_sqrt_beta = two_sqrt_beta,
          .noise_outside = noise.outside,
          .noise_outside_allowed = noise_constant * covered.gap * epsilon_,
          .noise_inside = noise.inside,
          .noise_inside_allowed = noise_constant * covered.gap * angle.inside_least,
          .sin_theta = angle.outside,
          .cos_theta = angle.inside_least,
          .tan_theta = tangent,
          .envelope = epsilon_ / 2 + start_constant * shrunk,
          .envelope_as_printed = epsilon_ / 2 + shrunk});

  const AuditStep& start = report_.steps.front();
  if (lambda_k_eff != start.lambda_k_eff || two_sqrt_beta != start.two_sqrt_beta) report_.momentum_varied = true;
  report_.covered_by_a_theorem = !promise_void_ && !report_.momentum_varied;
  decay_ *= covered.contraction;
  return report_.steps.back();
}

// X_t answers for the steps before t, so the envelope is judged first and by their promise; Xi_t counts from t + 1 on.
void Audit::record(const AuditStep& step) {
  report_.steps.push_back(step);
  if (!within(step.tan_theta, step.envelope_as_printed)) ++report_.steps_above_printed_envelope;
  if (!within(step.tan_theta, step.envelope))
    violate({step.iteration, Condition::envelope, step.tan_theta, step.envelope});

  if (step.iteration == 0 && !(step.cos_theta > 0)) violate({0, Condition::start, step.cos_theta, 0.0});
  if (step.regime == Regime::none)
    violate({step.iteration, Condition::momentum, step.two_sqrt_beta, step.lambda_k_eff});
  if (!within(step.noise_outside, step.noise_outside_allowed))
    violate({step.iteration, Condition::noise_outside, step.noise_outside, step.noise_outside_allowed});
  if (!within(step.noise_inside, step.noise_inside_allowed))
    violate({step.iteration, Condition::noise_inside, step.noise_inside, step.noise_inside_allowed});
}

void Audit::violate(const Violation& violation) {
  if (!report_.first_violation) report_.first_violation = violation;
  if (violation.condition == Condition::envelope) {
    if (!report_.first_envelope_violation) {
      report_.first_envelope_violation = violation;
      report_.envelope_promise_was_void = promise_void_ || report_.momentum_varied;
    }
    return;
  }
  promise_void_ = true;
  const bool noise = violation.condition == Condition::noise_outside || violation.condition == Condition::noise_inside;
  if (noise && !report_.first_noise_violation) report_.first_noise_violation = violation;
}

}  // namespace hearsay::theory

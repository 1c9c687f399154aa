// Holds a run against the theory, step by step, when the answer is known: were the noise conditions met, and did
// tan(theta_k) stay below what they promise?
//
//   (a)  ||U_-k' Xi_t|| <= c gap epsilon
//   (b)  ||U_k' Xi_t||  <= c gap cos(theta_k(U_k, X_t))
//   then tan(theta_k(U_k, X_t)) <= epsilon/2 + c_1 h_0 prod_{s<t} contraction_s
//
// with gap and contraction of the theorem that covers the momentum of the step: the main one for l_{k+1} <= 2
// sqrt(beta) < l_k, the small-beta one below, NPM's at zero. The envelope as printed in the paper has no c_1 = 31/15
// and fails at small t without any noise, so going above it is recorded but is no violation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay::theory {

/// Which theorem covers a step.
enum class Regime { npm, small_beta, main, none };

enum class Condition {
  start,          ///< cos(theta_k(U_k, X_0)) > 0; without it nothing is promised
  momentum,       ///< 2 sqrt(beta) < l_k, and the unwanted eigenvalues within reach: no theorem covers the step
  noise_outside,  ///< (a)
  noise_inside,   ///< (b)
  envelope,
};

struct AuditStep {
  std::int64_t iteration;  ///< t, of X_t and Xi_t
  Regime regime;
  double lambda_k_eff;   ///< lambda_k less the shift of A
  double two_sqrt_beta;  ///< the edge of the damped interval
  double noise_outside;  ///< ||U_-k' Xi_t||
  double noise_outside_allowed;
  double noise_inside;  ///< ||U_k' Xi_t||
  double noise_inside_allowed;
  double sin_theta, cos_theta;  ///< of theta_k(U_k, X_t)
  double tan_theta;             ///< infinite where U_k'X_t is singular
  double envelope;              ///< infinite from a singular start
  double envelope_as_printed;
};

struct Violation {
  std::int64_t iteration;
  Condition condition;
  double value;
  double bound;
};

struct AuditReport {
  std::vector<AuditStep> steps;
  double h0 = 0.0;                                   ///< tan(theta_k(U_k, X_0))
  std::optional<Violation> first_violation{};        ///< of any condition, the earliest step first
  std::optional<Violation> first_noise_violation{};  ///< of (a) or (b)
  std::optional<Violation> first_envelope_violation{};
  /// The envelope is promised only while start, momentum and noise were right, and the momentum constant, at every
  /// earlier step. True when they were not, so that the first violation of the envelope contradicts nothing.
  bool envelope_promise_was_void = false;
  bool momentum_varied = false;  ///< the theorems are for constant beta; the envelope then is a product
  /// Start, momentum and noise were right at every step and the momentum was constant: a theorem speaks of this run.
  bool covered_by_a_theorem = true;
  std::int64_t steps_above_printed_envelope = 0;
};

class HEARSAY_API Audit {
 public:
  /// U_k: d x k, orthonormal, the answer; its last eigenvalue and the next one, of A itself; the sine aimed at.
  Audit(Block<double> U_k, double lambda_k, double lambda_next, double epsilon);

  /// Looks at one step, in order, t = 0 first, and returns what it saw. X is X_t, d x k, orthonormal; Xi is the noise
  /// in Y_{t+1}: added to A X_t - beta X_{t-1} R_t^{-1}, and at t = 0 to A X_0/2, so half of what a product put there.
  /// lambda_k_eff is lambda_k less the shift of A, two_sqrt_beta the edge of the damped interval.
  AuditStep check(std::int64_t t, ConstBlockView<double> X, ConstBlockView<double> Xi, double lambda_k_eff,
                  double two_sqrt_beta);

  const AuditReport& report() const { return report_; }

 private:
  void record(const AuditStep& step);
  void violate(const Violation& violation);

  Block<double> U_;
  double lambda_k_, lambda_next_, epsilon_;
  double decay_ = 1.0;         // product of the contractions of the steps before
  bool promise_void_ = false;  // something but the envelope failed at an earlier step
  AuditReport report_;
};

}  // namespace hearsay::theory

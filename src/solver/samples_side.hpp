// A covariance of fewer samples than features, solved as the matrix of samples by samples: what leads back.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "hearsay/linalg.hpp"
#include "hearsay/power.hpp"
#include "solver/certificate.hpp"
#include "solver/extract.hpp"
#include "solver/power.hpp"

namespace hearsay::detail {

// sqrt(divisor * eigenvalue), with the eigenvalues' power of two halved rather than squared away.
template <class S>
Vector<S> singular_values(const PowerResult<S>& power, double divisor) {
  const int odd = power.exponent & 1, half = (power.exponent - odd) / 2;
  return power.eigenvalues.unaryExpr([=](S eigenvalue) {
    const double variance = std::max(0.0, static_cast<double>(eigenvalue));
    return static_cast<S>(std::ldexp(std::sqrt(std::ldexp(variance, odd)) * std::sqrt(divisor), half));
  });
}

// A second solve that starts at X, told as the continuation of the first.
template <class S>
PowerResult<S> refined_from(const PowerResult<S>& first, const Block<S>& X, OperatorRef<S> A,
                            const PowerOptions& options, const Hooks<S>& hooks) {
  const auto later = [&first](HistoryEntry entry) {
    entry.t += first.iterations;
    return entry;
  };
  Hooks<S> from_here;
  from_here.start = &X;
  from_here.reference = hooks.reference;
  from_here.observe_basis = hooks.observe_basis;
  from_here.observe_steps = hooks.observe_steps;
  if (hooks.observe)
    from_here.observe = [&](const Iteration<S>& now) {
      const HistoryEntry entry = later(now.entry);
      return hooks.observe(
          {.entry = entry, .X = now.X, .basis = now.basis, .shift = now.shift, .cooling = now.cooling});
    };
  PowerResult<S> again = subspace_from<S>(A, options, from_here, known_from<S>(first));
  again.iterations += first.iterations;
  again.products += first.products;
  again.passes += first.passes;
  std::vector<HistoryEntry> history = first.history;
  for (const HistoryEntry& entry : again.history) history.push_back(later(entry));
  again.history = std::move(history);
  return again;
}

// A certificate of the samples' side, for the residual that was measured on the features'.
template <class S>
void carry_over(double residual, PowerResult<S>& result) {
  Certificate& certificate = result.certificate;
  const double before = certificate.residual + certificate.rounding, now = residual + certificate.rounding;
  const double grown = before > 0 ? std::max(1.0, now / before) : 1.0;
  certificate.residual = residual;
  certificate.sin_theta_bound *= grown;
  certificate.sin_theta_estimate = std::min(1.0, certificate.sin_theta_estimate * grown);
  result.sin_theta_estimate = std::min(1.0, result.sin_theta_estimate * grown);
}

// Columns of about one: a spread far below a constant beside it leaves squares that are below the range.
template <class S>
void scale_columns(Block<S>& X) {
  constexpr int most = std::numeric_limits<S>::max_exponent - 2;  // a factor of 2^most is finite
  for (Index j = 0; j < X.cols(); ++j)
    if (const S largest = X.col(j).cwiseAbs().maxCoeff(); largest > 0 && std::isfinite(largest))
      X.col(j) *= std::ldexp(S(1), std::min(most, -std::ilogb(largest)));
}

// Phi Phi' v = lambda v gives the component Phi'v / ||Phi'v||. The claim is measured anew on the features' side; where
// the way back lost accuracy (tiny eigenvalues), a few iterations there restore it.
template <class S, class Features, class Samples>
PowerResult<S> on_features_side(PowerResult<S> result, const Features& A, const Samples& samples_side,
                                const PowerOptions& options, const Hooks<S>& hooks) {
  Block<S> X(A.dim(), options.rank);
  samples_side.to_features(result.basis, X);
  scale_columns(X);
  Extracted<S> measured = measure<S>(A, X, 0);
  if (result.status == Status::converged && !(measured.residual <= tolerance_of<S>(options)))
    return refined_from<S>(result, X, A, options, hooks);
  result.products += X.cols();
  ++result.passes;
  canonical_signs<S>(measured.V);
  result.basis = std::move(measured.V);
  result.eigenvalues = measured.theta.cwiseMax(S(0)).unaryExpr(
      [e = A.facts().exponent - result.exponent](S theta) { return std::ldexp(theta, e); });
  result.residual = measured.residual;
  carry_over(std::ldexp(measured.absolute_residual, A.facts().exponent - result.exponent), result);
  return result;
}

}  // namespace hearsay::detail

#include "hearsay/pca.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/operators/covariance.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/subspace.hpp"
#include "hearsay/threads.hpp"
#include "solver/certificate.hpp"
#include "solver/extract.hpp"
#include "solver/power.hpp"
#include "solver/tuning.hpp"

namespace hearsay {

namespace {

// sqrt(divisor * eigenvalue), with the eigenvalues' power of two halved rather than squared away.
template <class S>
Vector<S> singular_values(const PowerResult<S>& power, double divisor) {
  const int odd = power.exponent & 1, half = (power.exponent - odd) / 2;
  return power.eigenvalues.unaryExpr([=](S eigenvalue) {
    const double variance = std::max(0.0, static_cast<double>(eigenvalue));
    return static_cast<S>(std::ldexp(std::sqrt(std::ldexp(variance, odd)) * std::sqrt(divisor), half));
  });
}

template <class S>
CovarianceOptions covariance_options(const PcaOptions<S>& options) {
  return {.center = options.center,
          .gram_bytes_limit = options.gram_bytes_limit,
          .standardize = options.standardize,
          .missing_as_mean = options.missing_as_mean,
          .weights = options.weights,
          .column_names = options.column_names};
}

// What the covariance knows of its columns and rows.
template <class S, class Covariance>
void take_columns(const Covariance& A, Index rows, PcaResult<S>& result) {
  const ColumnMoments& moments = A.moments();
  const bool measured = moments.columns() > 0;
  result.mean = A.mean();
  result.scale = A.columns().scale;
  result.constant = A.columns().constant;
  result.samples = measured ? moments.rows : rows;
  result.weight = measured ? moments.total_weight : static_cast<double>(rows);
  result.missing.entries = moments.missing;
  result.missing.rows = moments.rows_missing;
  result.missing.empty_rows = moments.rows_empty;
  if (moments.missing > 0) result.missing.policy = Missing::mean;
}

template <class S, class Covariance>
PowerResult<S> solve(const Covariance& A, const PcaOptions<S>& options, const Hooks<S>& hooks) {
  if (!options.noise.fill) return principal_subspace<S>(A, options.power, hooks);
  return principal_subspace<S>(noisy(A, options.noise), options.power, hooks);
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
  if (hooks.observe)
    from_here.observe = [&](const Iteration<S>& now) {
      const HistoryEntry entry = later(now.entry);
      return hooks.observe(
          {.entry = entry, .X = now.X, .basis = now.basis, .shift = now.shift, .cooling = now.cooling});
    };
  PowerResult<S> again = detail::subspace_from<S>(A, options, from_here, detail::known_from<S>(first));
  again.iterations += first.iterations;
  again.products += first.products;
  again.passes += first.passes;
  std::vector<HistoryEntry> history = first.history;
  for (const HistoryEntry& entry : again.history) history.push_back(later(entry));
  again.history = std::move(history);
  return again;
}

template <class S>
PcaOptions<S> with_wish(PcaOptions<S> options) {
  options.power.tolerance = tolerance_of<S>(options.power);  // which a wish does not loosen
  if (!options.power.accuracy && !options.noise.fill) options.power.accuracy = options.wished_accuracy;
  return options;
}

// The tolerance was asked for, the sharper sine only wished for.
template <class S>
void accept_what_met_the_tolerance(PowerResult<S>& result, const PcaOptions<S>& options) {
  const bool gave_up = result.status == Status::noise_floor || result.status == Status::rounding_floor ||
                       result.status == Status::iteration_limit;
  if (!gave_up || options.noise.fill || !(result.residual <= tolerance_of<S>(options.power))) return;
  if (options.power.rank < result.basis.rows() && !(result.sin_theta_estimate < detail::believed_sine)) return;
  result.status = Status::converged;
  result.noise_floor = std::numeric_limits<double>::quiet_NaN();
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

// Mean, matrix, solve and variances together take less time than a second thread may need to wake up.
bool is_small(Index samples, Index features) {
  const auto m = static_cast<double>(samples), d = static_cast<double>(features);
  return m * d * std::min(m, d) < detail::tuning::small_solve;
}

// The samples' side: Phi Phi' v = lambda v gives the component Phi'v / ||Phi'v||. The claim is measured anew on the
// features' side; where the way back lost accuracy (tiny eigenvalues), a few iterations there restore it.
template <class S>
PowerResult<S> solve_by_samples(const BorrowedBlock<S>& data, const DenseCovariance<S>& A, CovarianceOptions covariance,
                                const PcaOptions<S>& options, const Hooks<S>& hooks, bool& formed) {
  covariance.by_samples = true;
  const DenseCovariance<S> samples_side(data, covariance);
  PowerResult<S> result = principal_subspace<S>(samples_side, options.power, hooks);
  formed = samples_side.formed();

  Block<S> X(A.dim(), options.power.rank);
  samples_side.to_features(result.basis, X);
  detail::Extracted<S> measured = detail::measure<S>(A, X, 0);
  if (result.status == Status::converged && !(measured.residual <= tolerance_of<S>(options.power)))
    return refined_from<S>(result, X, A, options.power, hooks);
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

}  // namespace

template <class S>
PcaResult<S> pca(const BorrowedBlock<S>& data, const PcaOptions<S>& asked, const Hooks<S>& hooks) {
  const PcaOptions<S> options = with_wish<S>(asked);
  const OneThread alone(is_small(data.rows(), data.cols()));
  const CovarianceOptions covariance = covariance_options(options);
  const DenseCovariance<S> A(data, covariance);
  PcaResult<S> result;
  result.centred = options.center;
  result.by_samples = data.rows() < data.cols() && options.power.rank < data.rows() && !options.noise.fill &&
                      hooks.reference == nullptr && hooks.start == nullptr;
  result.power = result.by_samples ? solve_by_samples<S>(data, A, covariance, options, hooks, result.formed)
                                   : solve<S>(A, options, hooks);
  if (asked.wished_accuracy) accept_what_met_the_tolerance<S>(result.power, asked);
  result.formed = result.formed || A.formed();
  take_columns<S>(A, data.rows(), result);
  result.singular_values = singular_values<S>(result.power, A.divisor());
  result.total_variance = std::ldexp(A.total_variance(), A.facts().exponent - result.power.exponent);
  return result;
}

template <class S>
PcaResult<S> pca(const Block<S>& data, const PcaOptions<S>& options, const Hooks<S>& hooks) {
  return pca<S>(borrow(data), options, hooks);
}

template <class S>
PcaResult<S> pca(const CsrView<S>& data, const PcaOptions<S>& asked, const Hooks<S>& hooks) {
  const PcaOptions<S> options = with_wish<S>(asked);
  const SparseCovariance<S> A(data, covariance_options(options));
  PcaResult<S> result;
  result.centred = options.center;
  result.power = solve<S>(A, options, hooks);
  if (asked.wished_accuracy) accept_what_met_the_tolerance<S>(result.power, asked);
  take_columns<S>(A, data.rows, result);
  result.singular_values = singular_values<S>(result.power, A.divisor());
  result.total_variance = A.total_variance();
  return result;
}

template <class S>
PcaResult<S> pca(const CsrMatrix<S>& data, const PcaOptions<S>& options, const Hooks<S>& hooks) {
  return pca<S>(borrow(data), options, hooks);
}

#define HEARSAY_INSTANTIATE(S)                                                                  \
  template PcaResult<S> pca<S>(const BorrowedBlock<S>&, const PcaOptions<S>&, const Hooks<S>&); \
  template PcaResult<S> pca<S>(const Block<S>&, const PcaOptions<S>&, const Hooks<S>&);         \
  template PcaResult<S> pca<S>(const CsrMatrix<S>&, const PcaOptions<S>&, const Hooks<S>&);     \
  template PcaResult<S> pca<S>(const CsrView<S>&, const PcaOptions<S>&, const Hooks<S>&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay

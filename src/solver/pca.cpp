#include "hearsay/pca.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/operators/covariance.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/subspace.hpp"
#include "hearsay/threads.hpp"
#include "solver/direct_pca.hpp"
#include "solver/pca_columns.hpp"
#include "solver/power.hpp"
#include "solver/samples_side.hpp"
#include "solver/tuning.hpp"

namespace hearsay {

using detail::covariance_options;
using detail::DirectPca;
using detail::take_columns;

namespace {

template <class S, class Covariance>
PowerResult<S> solve(const Covariance& A, const PcaOptions<S>& options, const Hooks<S>& hooks) {
  if (!options.noise.fill) return principal_subspace<S>(A, options.power, hooks);
  return principal_subspace<S>(noisy(A, options.noise), options.power, hooks);
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

// Mean, matrix, solve and variances together take less time than a second thread may need to wake up.
bool is_small(Index samples, Index features) {
  const auto m = static_cast<double>(samples), d = static_cast<double>(features);
  return m * d * std::min(m, d) < detail::tuning::small_solve;
}

template <class S>
PowerResult<S> solve_by_samples(const BorrowedBlock<S>& data, const DenseCovariance<S>& A, CovarianceOptions covariance,
                                const PcaOptions<S>& options, const Hooks<S>& hooks, bool& formed) {
  covariance.by_samples = true;
  const DenseCovariance<S> samples_side(data, covariance);
  PowerResult<S> result = principal_subspace<S>(samples_side, options.power, hooks);
  formed = samples_side.formed();
  return detail::on_features_side<S>(std::move(result), A, samples_side, options.power, hooks);
}

// Rows in single precision, whose matrix in double says more than the one that rounding ended a solve with.
template <class S>
PcaResult<S> settled(const DirectPca<S>& formed, const PowerResult<S>& before, const PcaOptions<S>& asked,
                     const Hooks<S>& hooks) {
  PcaResult<S> result = detail::pca_of<S>(formed, asked, hooks);
  result.power.passes += before.passes;
  result.power.products += before.products;
  result.power.notes.push_back("single precision did not settle the answer, so it was found again in double");
  return result;
}

}  // namespace

template <class S>
PcaResult<S> detail::pca_of(const DirectPca<S>& formed, const PcaOptions<S>& asked, const Hooks<S>& hooks) {
  PcaResult<S> result = formed.components(with_wish<S>(asked), hooks);
  if (asked.wished_accuracy) accept_what_met_the_tolerance<S>(result.power, asked);
  return result;
}

template <class S>
PcaResult<S> pca(const BorrowedBlock<S>& data, const PcaOptions<S>& asked, const Hooks<S>& hooks) {
  const PcaOptions<S> options = with_wish<S>(asked);
  if (DirectPca<S>::suits(data, options, hooks))
    if (const auto formed = DirectPca<S>::of(data, options)) return detail::pca_of<S>(*formed, asked, hooks);
  const OneThread alone(is_small(data.rows(), data.cols()));
  PcaResult<S> result;
  result.centred = options.center;
  result.by_samples = data.rows() < data.cols() && options.power.rank < data.rows() && !options.noise.fill &&
                      hooks.reference == nullptr && hooks.start == nullptr;
  CovarianceOptions covariance = covariance_options(options);
  const bool form_at_once = std::exchange(covariance.form_at_once, !result.by_samples);  // one product is made of it
  const DenseCovariance<S> A(data, covariance);
  covariance.form_at_once = form_at_once;
  result.power = result.by_samples ? solve_by_samples<S>(data, A, covariance, options, hooks, result.formed)
                                   : solve<S>(A, options, hooks);
  if (asked.wished_accuracy) accept_what_met_the_tolerance<S>(result.power, asked);
  if (DirectPca<S>::settles(result.power, data, asked, hooks))
    if (const auto formed = DirectPca<S>::of(data, options)) return settled<S>(*formed, result.power, asked, hooks);
  result.formed = result.formed || A.formed();
  take_columns<S>(A, data.rows(), result);
  result.singular_values = detail::singular_values<S>(result.power, A.divisor());
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
  result.singular_values = detail::singular_values<S>(result.power, A.divisor());
  result.total_variance = A.total_variance();
  return result;
}

template <class S>
PcaResult<S> pca(const CsrMatrix<S>& data, const PcaOptions<S>& options, const Hooks<S>& hooks) {
  return pca<S>(borrow(data), options, hooks);
}

#define HEARSAY_INSTANTIATE(S)                                                                         \
  template PcaResult<S> detail::pca_of<S>(const DirectPca<S>&, const PcaOptions<S>&, const Hooks<S>&); \
  template PcaResult<S> pca<S>(const BorrowedBlock<S>&, const PcaOptions<S>&, const Hooks<S>&);        \
  template PcaResult<S> pca<S>(const Block<S>&, const PcaOptions<S>&, const Hooks<S>&);                \
  template PcaResult<S> pca<S>(const CsrMatrix<S>&, const PcaOptions<S>&, const Hooks<S>&);            \
  template PcaResult<S> pca<S>(const CsrView<S>&, const PcaOptions<S>&, const Hooks<S>&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay

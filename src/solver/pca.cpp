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
#include "operators/covariance_direct.hpp"
#include "solver/costs.hpp"
#include "solver/direct.hpp"
#include "solver/power.hpp"
#include "solver/samples_side.hpp"
#include "solver/tuning.hpp"

namespace hearsay {

namespace {

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

// Of rows as they are, of which one reading forms the covariance.
template <class S>
bool goes_directly(const BorrowedBlock<S>& data, const PcaOptions<S>& options, const Hooks<S>& hooks) {
  const Index m = data.rows(), d = data.cols(), k = options.power.rank;
  if (m < d || d == 0 || d > detail::tuning::largest_direct || k < 1 || k > d) return false;
  if (options.standardize || options.missing_as_mean || !options.weights.empty() || options.noise.fill) return false;
  if (hooks.checkpoint || hooks.resume != nullptr) return false;
  if (options.power.which != Which::largest || options.power.turning.value_or(Turning::none) != Turning::none)
    return false;
  if (options.power.method) return options.power.method == SolveMethod::direct;
  return detail::leaves_the_way_open(options.power, hooks.observe || hooks.start != nullptr) &&
         detail::covariance_goes_directly({.rows = m, .columns = d, .wanted = k, .single = sizeof(S) == sizeof(float)});
}

template <class S>
std::optional<PcaResult<S>> pca_directly(const BorrowedBlock<S>& data, const PcaOptions<S>& options,
                                         const Hooks<S>& hooks) {
  std::optional<detail::FormedCovariance> made = detail::form_covariance<S>(data, options.center);
  if (!made) return std::nullopt;
  const detail::FormedMatrix matrix{.matrix = std::move(made->matrix),
                                    .rounding = made->rounding,
                                    .facts = {.positive_semidefinite = true, .exact = true},
                                    .passes = made->passes};
  PcaResult<S> result;
  result.power = detail::direct_solve<S>(matrix, options.power, hooks);
  result.centred = options.center;
  result.formed = true;
  result.mean = made->mean.template cast<S>();
  result.samples = data.rows();
  result.weight = static_cast<double>(data.rows());
  result.singular_values = detail::singular_values<S>(result.power, made->divisor);
  result.total_variance = std::ldexp(matrix.matrix.trace(), -result.power.exponent);
  return result;
}

}  // namespace

template <class S>
PcaResult<S> pca(const BorrowedBlock<S>& data, const PcaOptions<S>& asked, const Hooks<S>& hooks) {
  const PcaOptions<S> options = with_wish<S>(asked);
  if (goes_directly<S>(data, options, hooks))
    if (auto result = pca_directly<S>(data, options, hooks)) {
      if (asked.wished_accuracy) accept_what_met_the_tolerance<S>(result->power, asked);
      return *std::move(result);
    }
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

#define HEARSAY_INSTANTIATE(S)                                                                  \
  template PcaResult<S> pca<S>(const BorrowedBlock<S>&, const PcaOptions<S>&, const Hooks<S>&); \
  template PcaResult<S> pca<S>(const Block<S>&, const PcaOptions<S>&, const Hooks<S>&);         \
  template PcaResult<S> pca<S>(const CsrMatrix<S>&, const PcaOptions<S>&, const Hooks<S>&);     \
  template PcaResult<S> pca<S>(const CsrView<S>&, const PcaOptions<S>&, const Hooks<S>&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay

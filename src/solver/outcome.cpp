#include "solver/outcome.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "solver/scale.hpp"
#include "solver/stopping.hpp"
#include "solver/tuning.hpp"

namespace hearsay::detail {

bool Goal::out_of_reach(const RitzPairs& pairs, Index k, double residual, double rounding) const {
  if (sine == 0 || pairs.size() <= k || residual > tolerance) return false;
  const double gap = pairs.theta(k - 1) + pairs.residuals(k - 1) - pairs.theta(k) + pairs.residuals(k);
  return rounding >= 2 * sine * gap;
}

double frobenius_from_images(Index d, Index columns, double norm_of_images) {
  return std::sqrt(static_cast<double>(d) / static_cast<double>(columns)) * norm_of_images;
}

void require_a_basis(const std::vector<HistoryEntry>& history) {
  if (history.empty())
    throw DataError(
        "product: the first product with the matrix is not finite; a value overflows or the operator is faulty");
}

template <class S>
PowerResult<S> result_of(Ending<S>&& ending, const OperatorFacts& facts, const std::vector<HistoryEntry>& history) {
  const HistoryEntry& last = history.back();
  PowerResult<S> result;
  result.status = ending.status;
  result.method = ending.method;
  result.iterations = ending.iterations;
  result.residual = ending.residual;
  result.noise_level = std::ldexp(recent_noise(history), ending.exponent);
  result.gap = std::ldexp(last.theta_k - ending.theta_next, ending.exponent);
  result.columns = ending.columns;
  result.products = ending.products;
  result.passes = ending.passes + facts.extra_passes;
  result.workspace_bytes = static_cast<std::int64_t>(sizeof(S)) * ending.workspace_numbers;
  for (const HistoryEntry& entry : history) result.history.push_back(unscaled(entry, ending.exponent));
  if (facts.positive_semidefinite && ending.exact) ending.theta = ending.theta.cwiseMax(S(0));
  set_eigenvalues<S>(result, ending.theta, ending.exponent);
  result.norm_seen = static_cast<double>(result.eigenvalues.cwiseAbs().maxCoeff());
  canonical_signs<S>(ending.basis);
  result.basis = std::move(ending.basis);

  if (result.status == Status::rounding_floor)
    result.notes.push_back("rounding allows no better: what was asked for is more than the arithmetic holds");
  if (result.status == Status::ambiguous &&
      !(last.theta_k - last.theta_next > tuning::agree_to_rounding * std::abs(last.theta_k)))
    result.notes.push_back(
        "the k-th and the next eigenvalue agree to rounding: the subspace is one of many with the same residual");
  if (ending.unproven_start)
    result.notes.push_back("the start block was given, and it is not proved that it missed nothing");
  return result;
}

template PowerResult<float> result_of<float>(Ending<float>&&, const OperatorFacts&, const std::vector<HistoryEntry>&);
template PowerResult<double> result_of<double>(Ending<double>&&, const OperatorFacts&,
                                               const std::vector<HistoryEntry>&);

}  // namespace hearsay::detail

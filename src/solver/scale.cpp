#include "solver/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/error.hpp"
#include "solver/tuning.hpp"

namespace hearsay::detail {

template <class S>
int exponent_for(ConstBlockView<S> Y) {
  const S largest = Y.cwiseAbs().maxCoeff(), limit = std::cbrt(std::numeric_limits<S>::max());
  if (!std::isfinite(largest) || largest == S(0) || (largest <= limit && largest >= 1 / limit)) return 0;
  return std::clamp(std::ilogb(largest), 2 - std::numeric_limits<S>::max_exponent,
                    std::numeric_limits<S>::max_exponent - 2);
}

template <class S>
void rescale(BlockView<S> Y, int exponent) {
  if (exponent != 0) Y *= std::ldexp(S(1), -exponent);
}

HistoryEntry unscaled(HistoryEntry entry, int exponent) {
  entry.momentum = std::ldexp(entry.momentum, 2 * exponent);
  for (double* value : {&entry.edge, &entry.noise, &entry.theta_1, &entry.theta_k, &entry.theta_next})
    *value = std::ldexp(*value, exponent);
  return entry;
}

template <class S>
void set_eigenvalues(PowerResult<S>& result, const Vector<S>& theta, int exponent) {
  result.eigenvalues = theta.unaryExpr([exponent](S value) { return std::ldexp(value, exponent); });
  const bool lost =
      !result.eigenvalues.allFinite() || (exponent != 0 && !theta.isZero(0) &&
                                          !(result.eigenvalues.cwiseAbs().maxCoeff() >= std::numeric_limits<S>::min()));
  if (!lost || !theta.allFinite()) return;
  result.exponent = exponent;
  result.eigenvalues = theta;
  result.notes.push_back(fmt::format(
      "the eigenvalues lie outside the range of the number type: they are given divided by 2^{}", exponent));
}

void require_no_negative_eigenvalue(double least, double slack, int exponent, Index products, Index passes) {
  if (!(least < -slack)) return;
  NegativeEigenvalue met(
      fmt::format("matrix: has a negative eigenvalue (a Rayleigh quotient of {:.6g} was met), and the method needs a "
                  "positive semidefinite one; add a shift of at least its magnitude (`shift`)",
                  std::ldexp(least, exponent)),
      std::ldexp(least, exponent));
  met.products = products;
  met.passes = passes;
  throw met;
}

double slack_of_norm(double norm_bound, double epsilon, int exponent) {
  return std::isfinite(norm_bound) ? tuning::negative_by_norm * epsilon * std::ldexp(norm_bound, -exponent) : 0;
}

#define HEARSAY_INSTANTIATE(S)                     \
  template int exponent_for<S>(ConstBlockView<S>); \
  template void rescale<S>(BlockView<S>, int);     \
  template void set_eigenvalues<S>(PowerResult<S>&, const Vector<S>&, int);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay::detail

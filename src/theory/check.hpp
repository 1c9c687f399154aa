// The rules shared by the theory's functions. Each is written so that NaN fails it, and formats only when it does.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <cstdint>

#include "hearsay/error.hpp"

namespace hearsay::theory {

[[noreturn]] inline void refuse(const char* name, double value, const char* rule) {
  throw InvalidArgument(fmt::format("{} = {}: must {}", name, value, rule));
}

inline void check_finite(const char* name, double value) {
  if (!std::isfinite(value)) refuse(name, value, "be finite");
}

inline void check_positive(const char* name, double value) {
  if (!(value > 0 && std::isfinite(value))) refuse(name, value, "be positive and finite");
}

inline void check_nonnegative(const char* name, double value) {
  if (!(value >= 0 && std::isfinite(value))) refuse(name, value, "be zero or positive, and finite");
}

inline void check_fraction(const char* name, double value) {
  if (!(value > 0 && value < 1)) refuse(name, value, "lie in (0, 1)");
}

inline void check_at_least(const char* name, std::int64_t value, std::int64_t least) {
  if (!(value >= least)) throw InvalidArgument(fmt::format("{} = {}: must be at least {}", name, value, least));
}

/// l_k > l_{k+1} >= 0.
inline void check_gap(double lambda_k, double lambda_next) {
  check_positive("lambda_k", lambda_k);
  check_nonnegative("lambda_next", lambda_next);
  if (!(lambda_next < lambda_k))
    throw InvalidArgument(fmt::format("lambda_next = {}: must lie below lambda_k = {}", lambda_next, lambda_k));
}

/// l_k > 2 sqrt(beta) >= 0: where the iteration converges at all.
inline void check_momentum(double lambda_k, double beta) {
  check_positive("lambda_k", lambda_k);
  check_nonnegative("beta", beta);
  if (!(2 * std::sqrt(beta) < lambda_k))
    throw InvalidArgument(fmt::format("beta = {}: must lie below lambda_k^2/4 = {}", beta, lambda_k * lambda_k / 4));
}

}  // namespace hearsay::theory

// One step of the paper's recurrence, in numbers: the same for blocks of the host and for those of an engine.
#pragma once

#include "hearsay/damping.hpp"

namespace hearsay::detail {

/// What is damped, and how: Y_{t+1} = (A - shift I) X_t - beta X_{t-1} R_t^{-1}.
struct Recurrence {
  double edge = 0, shift = 0, beta = 0;
};

/// Eigenvalues from zero, or from -b, up to b.
inline Recurrence damped_below(double b, Damping damping) {
  if (damping == Damping::centred) return {.edge = b, .shift = b / 2, .beta = b * b / 16};
  return {.edge = b, .shift = 0, .beta = b * b / 4};
}

}  // namespace hearsay::detail

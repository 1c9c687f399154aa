// Results held against their data once more.
#pragma once

#include "hearsay/block.hpp"

namespace hearsay::app {

/// Up to here all eigenvalues are computed, to hold the certificate's words against them.
inline constexpr Index largest_verified_spectrum = 1000;

}  // namespace hearsay::app

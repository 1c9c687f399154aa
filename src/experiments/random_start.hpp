// The lemma on random starts: tan(theta_k) <= tau sqrt(d)/(sqrt(k) - sqrt(k-1)) but with probability tau^{-Omega(1)} +
// e^{-Omega(d)} (Hardt and Price, Lemma 2.4).
#pragma once

#include <cstdint>

#include "experiments/trace.hpp"
#include "hearsay/block.hpp"

namespace hearsay::experiments {

/// The error is the share of so many random starts that exceed the bound, against tau = 1, 2, 4, ... Facts: share_at_1,
/// and exponent, of tau^{-exponent} fitted to the shares of at least twenty starts.
Trace random_starts(Index dimension, Index rank, Index starts, std::uint64_t seed);

}  // namespace hearsay::experiments

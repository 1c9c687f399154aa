#pragma once

#include <limits>

#include "hearsay/power.hpp"

namespace hearsay::experiments {

/// The paper's iteration and nothing else: its damping, the first k columns, all the iterations, and no stopping on the
/// way, be it at a floor of noise or of rounding.
inline PowerOptions papers_steps(Index rank, Momentum momentum, Index oversample, Index iterations,
                                 std::uint64_t seed) {
  return {.rank = rank,
          .momentum = momentum,
          .damping = Damping::symmetric,
          .oversample = oversample,
          .tolerance = std::numeric_limits<double>::min(),
          .max_iterations = iterations,
          .seed = seed,
          .products = Products::noisy,
          .extraction = Extraction::nested,
          .stop_at_noise_floor = false,
          .check_momentum = false};
}

}  // namespace hearsay::experiments

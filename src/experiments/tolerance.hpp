// Table 1 as numbers: how much noise an analysis allows, and how much it takes to break its promise.
#pragma once

#include <cstdint>

#include "experiments/trace.hpp"
#include "hearsay/block.hpp"

namespace hearsay::experiments {

/// The promise is sin(theta_k) <= epsilon for all t >= T. It is tried out to 2T with one part of the noise alone, in
/// the direction of the paper's tight examples, at `levels` sizes; the size that breaks it is found by bisection. Sizes
/// are relative: to (l_k - l_{k+1}) epsilon outside U_k, to (l_k - l_{k+1}) cos(theta_k) inside.
///
/// The wanted eigenvalues fall from lambda_1 to lambda_k, the unwanted ones from lambda_next to zero. The error is the
/// worst sine from T on, over epsilon. Facts: T, iterations (without noise), allowed, broken_at, broken_at_random
/// (noise of random direction), margin (broken_at over allowed), and white_tolerance, what momentum leaves of
/// the white noise that the plain method bears, in closed form. Infinite is what no size up to `most` breaks.
struct ToleranceRun {
  enum class Analysis {
    hardt_price,  ///< no momentum
    xu,           ///< beta*, the conditions of Xu (2023), with 1 for the constants that are not given
    this_paper    ///< beta*, the main theorem
  };
  enum class Part { outside, inside };

  Analysis analysis = Analysis::this_paper;
  Part part = Part::outside;  ///< condition (a) or (b)
  Index dimension = 50, rank = 3;
  double lambda_1 = 2, lambda_k = 1, lambda_next = 0.95;
  double epsilon = 1e-2;
  double least = 1e-2, most = 100;  ///< sizes
  Index levels = 25;

  bool operator==(const ToleranceRun&) const = default;
};

Trace trace(const ToleranceRun& run, std::uint64_t seed);

}  // namespace hearsay::experiments

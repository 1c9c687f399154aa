// Table 1 as numbers: with which power of epsilon the noise that an analysis allows goes down.
#pragma once

#include <cstdint>

#include "experiments/tolerance.hpp"
#include "experiments/trace.hpp"

namespace hearsay::experiments {

/// The noise allowed at t = T/2, where the paper compares the analyses, against epsilon at `levels` values from `most`
/// down to `least`; no run is made. Facts: exponent, fitted, and mu, the paper's lower bound on that of Xu without its
/// constant: log(l_1/l_{k+1}) sqrt(l_k/(l_k - l_{k+1})) outside U_k, log(l_1/l_k) times the root inside.
struct ExponentRun {
  ToleranceRun::Analysis analysis = ToleranceRun::Analysis::xu;
  ToleranceRun::Part part = ToleranceRun::Part::outside;
  double lambda_1 = 2, lambda_k = 1, lambda_next = 0.95;
  double h0 = 10;                    ///< tan(theta_k) of the start
  double least = 1e-6, most = 1e-1;  ///< less would underflow at small gaps
  Index levels = 21;

  bool operator==(const ExponentRun&) const = default;
};

Trace trace(const ExponentRun& run, std::uint64_t seed);

}  // namespace hearsay::experiments

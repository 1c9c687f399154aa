#include "experiments/random_start.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "experiments/line.hpp"
#include "hearsay/angles.hpp"
#include "hearsay/random.hpp"
#include "hearsay/theory.hpp"

namespace hearsay::experiments {

Trace random_starts(Index dimension, Index rank, Index starts, std::uint64_t seed) {
  constexpr int doublings = 8;
  constexpr double fewest = 20;  // starts whose share is known to a quarter or better
  const Block<double> U = Block<double>::Identity(dimension, rank);
  std::vector<double> tangents;
  for (Index i = 0; i < starts; ++i)
    tangents.push_back(tan_theta<double>(
        U, random_orthonormal<double>(dimension, rank, {.seed = seed, .iteration = static_cast<std::uint32_t>(i)})));

  Trace trace;
  std::vector<double> log_tau, log_share;
  for (int i = 0; i < doublings; ++i) {
    const double tau = std::ldexp(1.0, i), bound = theory::random_start_tangent(dimension, rank, tau);
    const auto above = static_cast<double>(
        std::count_if(tangents.begin(), tangents.end(), [bound](double tangent) { return !(tangent <= bound); }));
    const double share = above / static_cast<double>(starts);
    trace.swept.push_back(tau);
    trace.error.push_back(share);
    if (above < fewest) continue;
    log_tau.push_back(std::log(tau));
    log_share.push_back(std::log(share));
  }
  trace.facts["share_at_1"] = trace.error.front();
  trace.facts["exponent"] = -fit(log_tau, log_share).slope;
  return trace;
}

}  // namespace hearsay::experiments

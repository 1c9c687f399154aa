// The theorem on ADePM, run as it is written: with the rounds of gossip it asks for, from its T on.
#pragma once

#include "experiments/agent_runs.hpp"

namespace hearsay::experiments {

/// ADePM with beta* and the L that its theorem asks for so that every agent's sin(theta_k) is at most `level` from T
/// on, looked at up to 2T. The error is sin(theta_k) of the worst agent. Facts: T, promised_rounds (L),
/// worst_over_level, the worst from T to 2T.
///
/// With `audit` the mean iterate of the proof is followed beside the run. It is an accelerated noisy power method whose
/// noise Xi_t is what gossip leaves behind. Facts, the largest of all t >= 1 in units of what (P_t) of the proof
/// allows: Y_over_allowed of max ||Y_{i,t} - Ybar_t||_F, X_over_allowed of max ||X_{i,t} - Xbar_t||_F,
/// noise_over_allowed of
/// ||Xi_t||. Y_allowed is the first bound itself: it has alpha_0^5 and is soon below what rounding leaves, which then
/// is what Y_over_allowed measures. shadow_deviation is the largest difference between the sines of the run and those
/// of the iterates made anew beside it.
struct PromiseRun {
  AgentsRun agents = {};  ///< `rounds`, `iterations`, `algorithm` and `momentum` are not used
  double level = 1e-2;
  Index rounds = 0;  ///< L; zero: as promised
  bool audit = false;

  bool operator==(const PromiseRun&) const = default;
};

Trace trace(const PromiseRun& run, std::uint64_t seed);

}  // namespace hearsay::experiments

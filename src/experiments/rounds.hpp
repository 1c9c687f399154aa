// Table 2 as numbers: gossip rounds in an iteration, promised and needed, and what they add up to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/agent_runs.hpp"

namespace hearsay::experiments {

/// A method among agents, run anew with each number of rounds L until every agent's sin(theta_k) is at most `level`.
/// The error is the total of rounds that took, infinite where it took more than `iterations`.
///
/// Facts, where there is something to say: least_rounds, the smallest L that gets there, and least_iterations, what it
/// took; best_rounds, the L with the smallest total, best_total and best_iterations; T and promised_rounds, what the
/// analysis of the method gives (its constants where it has them, else 1), and promised_by_xu, L by the analysis of Xu.
struct RoundsRun {
  AgentsRun agents = {};                                          ///< `rounds` is not used
  std::vector<Index> rounds = {1, 2, 3, 4, 5, 6, 8, 10, 15, 20};  ///< ascending
  double level = 1e-2;

  bool operator==(const RoundsRun&) const = default;
};

Trace trace(const RoundsRun& run, std::uint64_t seed);

}  // namespace hearsay::experiments

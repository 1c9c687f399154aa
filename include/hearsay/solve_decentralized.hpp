// The whole job of agents in one call: the answer to compare with, the momentum, one of three networks (of this
// process, of this process with faults, or spread over ranks), eigenvalues of the data of those who contributed.
//
//   AloneTransport here;
//   DecentralizedRequest request;
//   request.settings.power.rank = 5;
//   const auto found = solve_decentralized(here, GossipMatrix::ring(10), {.shards = agents}, request);
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "hearsay/decentralized_on_ranks.hpp"
#include "hearsay/export.hpp"
#include "hearsay/faults.hpp"
#include "hearsay/options.hpp"

namespace hearsay {

/// What the agents here hold: shards, or nodes of a graph.
struct AgentData {
  std::vector<CovarianceShard> shards = {};
  std::vector<NodeOperator> nodes = {};
  bool centred = true;     ///< the shards are, so that the divisor is that of centred data
  bool are_nodes = false;  ///< at every rank, one without agents too

  HEARSAY_API std::vector<OperatorRef<double>> operators() const;
};

struct DecentralizedRequest {
  DecentralizedSettings network = {};
  SolveSettings settings = {};                  ///< rank, momentum, damping, iterations, seed
  std::optional<Block<double>> reference = {};  ///< a known answer: d x k at least
  bool exact_reference = false;                 ///< find it from the pooled data, which only one process has
  Faults faults = {};                           ///< to order, in one process
  /// Called every iteration; when it returns false at any agent, all stop together a few rounds later.
  std::function<bool(const DecentralizedEntry&)> observe = {};
  std::function<bool()> patient = {};  ///< asked while votes are waited for on a network with faults
};

struct [[nodiscard]] DecentralizedSolution {
  DecentralizedResult result = {};
  DecentralizedOptions options = {};            ///< as used
  std::optional<Block<double>> reference = {};  ///< d x k: what the history compares with
  GossipSpectrum spectrum = {};
  double seconds = 0;  ///< of the run alone
};

/// Collective: if it throws, it throws at every rank.
HEARSAY_API DecentralizedSolution solve_decentralized(Transport& ranks, const GossipMatrix& W, const AgentData& data,
                                                      const DecentralizedRequest& request);

}  // namespace hearsay

// What the agents hold: shards of samples, or the nodes of a graph. Each rank loads what its own agents hold.
#pragma once

#include <optional>
#include <vector>

#include "decentralized_report.hpp"
#include "hearsay/decentralized.hpp"
#include "hearsay/graph.hpp"
#include "hearsay/transport.hpp"
#include "job.hpp"

namespace hearsay::app {

struct Federation {
  Index agents = 0;                          ///< n, everywhere
  Holdings held = {};                        ///< of all of them
  std::vector<std::string> notes = {};       ///< what was done to them
  std::vector<CovarianceShard> shards = {};  ///< of the agents here: either these
  std::vector<NodeOperator> nodes = {};      ///< or these
  std::optional<Graph> graph = {};           ///< that the nodes belong to

  std::vector<OperatorRef<double>> operators() const { return graph ? operators_of(nodes) : operators_of(shards); }
};

/// The agents whose data this rank holds.
std::vector<Index> agents_here(Index agents, const Transport& ranks);

/// By DATA, --split, --agents, --nodes, --label-column and --no-center. Throws, at every rank: InvalidArgument where
/// the agents asked for are not as many as the shards there are, DataError for shards of different dimensions, which it
/// names. Collective.
Federation load_federation(const Job& job, Transport& ranks);

}  // namespace hearsay::app

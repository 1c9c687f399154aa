// What the agents hold: shards of samples, or the nodes of a graph.
#pragma once

#include <optional>
#include <vector>

#include "decentralized_report.hpp"
#include "hearsay/decentralized.hpp"
#include "hearsay/graph.hpp"
#include "job.hpp"

namespace hearsay::app {

struct Federation {
  Holdings held = {};
  std::vector<CovarianceShard> shards = {};  ///< either these
  std::vector<NodeOperator> nodes = {};      ///< or these
  std::optional<Graph> graph = {};           ///< that the nodes belong to

  Index agents() const { return static_cast<Index>(graph ? nodes.size() : shards.size()); }
  std::vector<OperatorRef<double>> operators() const { return graph ? operators_of(nodes) : operators_of(shards); }
};

/// By DATA, --split, --agents, --nodes, --label-column and --no-center. Throws InvalidArgument where the agents asked
/// for are not as many as the shards there are, DataError for shards of different dimensions, which it names.
Federation load_federation(const Job& job);

}  // namespace hearsay::app

// From what the user says of a network to its gossip matrix.
#pragma once

#include "commands/job.hpp"
#include "hearsay/graph.hpp"
#include "hearsay/network.hpp"

namespace hearsay::app {

/// Gossip among more would take days on all but dense graphs: information travels a link a round.
inline constexpr Index most_agents = 10000;

/// Throws InvalidArgument, with that limit.
void require_agents(Index agents);

/// By --topology, --extra-edges, --weights and --network-seed. `data` is the graph that is analysed, if it is one: it
/// is the topology unless another is asked for.
GossipMatrix gossip_matrix(const Job& job, Index agents, const Graph* data = nullptr);

}  // namespace hearsay::app

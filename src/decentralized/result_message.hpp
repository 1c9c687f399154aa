// What ranks, or agents, tell each other of a run that ended: each agent's own, and the rest.
#pragma once

#include <vector>

#include "hearsay/decentralized.hpp"
#include "hearsay/network.hpp"
#include "network/bytes.hpp"

namespace hearsay::detail {

/// What an agent's rank knows of it.
struct AgentResult {
  Index agent;
  Block<double> basis;
  Block<double> eigenvalues;  // 1 x k
  double next_eigenvalue;
  std::uint64_t digest;
};

void put_agents(ByteWriter& writer, NetworkRef net, const DecentralizedResult& result);
std::vector<AgentResult> get_agents(ByteReader& reader);

/// Everything about the run that is not an agent's own; with it the message ends.
void put_summary(ByteWriter& writer, const DecentralizedResult& result);
void get_summary(ByteReader& reader, DecentralizedResult& result);

/// Throws CommunicationError unless these, by agent, are all agents there are, with bases and eigenvalues of one shape,
/// finite where there are any.
void require_whole(const std::vector<AgentResult>& agents, Index count, Index rank);

/// Throws CommunicationError unless each of them is one of so many agents.
void require_contributors(const std::vector<Index>& contributors, Index count);

}  // namespace hearsay::detail

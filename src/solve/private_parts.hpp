// What private components among agents are made of, wherever the agents run: in one process (private_agents.cpp), or
// each for itself over links (agent_private.cpp). Of the same words both make the same bits.
#pragma once

#include <optional>
#include <vector>

#include "hearsay/private_agents.hpp"

namespace hearsay::detail {

/// check(), but for the sums under masks, which are made differently.
void check_private(const PrivateAgentsRequest& request, std::optional<Index> agents);

/// What the rows and the request must be to each other. Throws InvalidArgument.
void require_dimension(const PrivateAgentsRequest& request, Index d);

/// What one agent sends: its sums, its own noise in them.
PrivateWords words_of_agent(RowSource<double>& rows, const PrivacySettings& privacy, const ReleasePlan& plan,
                            const SecretWords& words);

/// Of the words of all agents added up: of trust neighbours and secure.
PrivateAgentsSolution answer_of_sum(const PrivateWords& sum, Index agents, Index d, const PrivateAgentsRequest& request,
                                    const ReleasePlan& part);

// ---- Where they gossip: of matrices that are released, each by itself

/// In units of the noise, so that squares of any size stay within the range of double, and shifted by what the average
/// may lack to be positive semidefinite. Both are public.
struct Scale {
  int exponent = 0;
  double shift = 0;
};
Scale scale_of(const ReleasePlan& plan, Index d, Index agents);
Block<double> scaled_release(const PrivateWords& words, const ReleasePlan& plan, Index d, const Scale& scale);

/// Of an agent's scaled release, the trace that it stands for.
double trace_of(const Block<double>& scaled, const Scale& scale);

DecentralizedOptions private_options(const DecentralizedSettings& network, const SolveSettings& settings);

/// `trace` is that of all contributors.
PrivateAgentsSolution answer_of_gossip(const DecentralizedResult& result, double trace, const Scale& scale, Index d,
                                       const PrivateAgentsRequest& request, const ReleasePlan& plan);

}  // namespace hearsay::detail

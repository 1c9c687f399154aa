#include "decentralized/assembly.hpp"

#include <algorithm>
#include <iterator>

#include "decentralized/definition.hpp"
#include "decentralized/gossip_bar.hpp"
#include "decentralized/result_message.hpp"

namespace hearsay::detail {

void take_larger(ErrorBar& bar, const ErrorBar& other) {
  if (bar.exists() && other.exists() && other.sin_theta > bar.sin_theta) bar = other;
}

namespace {

// Each rank saw the worst of its own agents; the network's worst is the worst of these.
void merge(DecentralizedResult& into, const DecentralizedResult& other) {
  into.residual = std::max(into.residual, other.residual);
  into.disagreement = std::max(into.disagreement, other.disagreement);
  into.message_noise.last = std::max(into.message_noise.last, other.message_noise.last);
  into.message_noise.largest = std::max(into.message_noise.largest, other.message_noise.largest);
  into.momentum = std::max(into.momentum, other.momentum);
  take_larger(into.bar, other.bar);
  for (std::size_t t = 0; t < into.history.size() && t < other.history.size(); ++t) {
    DecentralizedEntry& entry = into.history[t];
    const DecentralizedEntry& there = other.history[t];
    entry.residual = std::max(entry.residual, there.residual);
    entry.disagreement = std::max(entry.disagreement, there.disagreement);
    entry.momentum = std::max(entry.momentum, there.momentum);
    entry.sin_theta = std::max(entry.sin_theta, there.sin_theta);
  }
}

}  // namespace

void assemble(std::span<const std::string> said, Index count, const DecentralizedOptions& options,
              DecentralizedResult& result) {
  std::vector<AgentResult> agents;
  for (const std::string& bytes : said) {
    ByteReader reader(bytes);
    std::vector<AgentResult> there = get_agents(reader);
    if (there.empty()) continue;  // it did not run
    DecentralizedResult summary;
    get_summary(reader, agents.empty() ? result : summary);
    if (!agents.empty()) merge(result, summary);
    std::move(there.begin(), there.end(), std::back_inserter(agents));
  }
  std::sort(agents.begin(), agents.end(), [](const AgentResult& a, const AgentResult& b) { return a.agent < b.agent; });
  require_whole(agents, count, options.rank);
  require_contributors(result.contributors, count);
  result.bases.clear();
  result.digests.clear();
  result.eigenvalues.resize(static_cast<Index>(agents.size()), agents.front().eigenvalues.cols());
  result.next_eigenvalue.resize(static_cast<Index>(agents.size()));
  for (std::size_t i = 0; i < agents.size(); ++i) {
    result.bases.push_back(std::move(agents[i].basis));
    result.digests.push_back(agents[i].digest);
    result.eigenvalues.row(static_cast<Index>(i)) = agents[i].eigenvalues;
    result.next_eigenvalue(static_cast<Index>(i)) = agents[i].next_eigenvalue;
  }
  result.digest = digest_of(result.digests);
  result.agreement = basis_agreement(result.bases);
  // The last notes so far told of one rank's agents.
  forget_definition(result);
  if (result.status == Status::noise_floor && !result.notes.empty())
    result.notes.back() = floor_note(result.agreement, options.rounds.value_or(result.rounds_per_iteration));
  judge_definition(result, options.tolerance);
  if (!may_have_bar(result)) result.bar = {};
}

}  // namespace hearsay::detail

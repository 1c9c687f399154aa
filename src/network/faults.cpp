#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hearsay/error.hpp"
#include "hearsay/faults.hpp"
#include "network/entries.hpp"

namespace hearsay {
namespace {

void validate(const LinkFault& fault, const GossipMatrix& W) {
  const Index n = W.agents();
  const std::string what = fault.from == LinkFault::any && fault.to == LinkFault::any
                               ? std::string(name(fault.kind))
                               : fmt::format("{} of link {}-{}", name(fault.kind), fault.from, fault.to);
  require((fault.from == LinkFault::any) == (fault.to == LinkFault::any),
          fmt::format("{}: must name both ends of the link, or neither", what));
  if (fault.from != LinkFault::any) {
    for (const Index end : {fault.from, fault.to})
      require(end >= 0 && end < n, fmt::format("{}: agent {} does not exist, must lie in [0, {})", what, end, n));
    require(fault.from != fault.to && detail::find_entry(W.matrix(), fault.from, fault.to) != nullptr,
            fmt::format("{}: no such link, because the gossip matrix has no edge between them", what));
  }
  require(fault.probability >= 0 && fault.probability <= 1,
          fmt::format("{}: probability = {}: must lie in [0, 1]", what, fault.probability));
  require(fault.first_round >= 0 && fault.first_round <= fault.last_round,
          fmt::format("{}: rounds {} to {}: must begin at 0 or later and not end before", what, fault.first_round,
                      fault.last_round));
  require(fault.kind == LinkFault::Kind::delay ? fault.rounds_late >= 1 : fault.rounds_late == 0,
          fault.kind == LinkFault::Kind::delay
              ? fmt::format("{}: rounds_late = {}: must be at least 1", what, fault.rounds_late)
              : fmt::format("{}: rounds_late = {}: is for a delay alone", what, fault.rounds_late));
}

void validate(const AgentFault& fault, Index agents) {
  require(fault.agent >= 0 && fault.agent < agents,
          fmt::format("{} of agent {}: no such agent, must lie in [0, {})", name(fault.kind), fault.agent, agents));
  require(fault.iteration >= 1, fmt::format("{} of agent {}: iteration = {}: must be at least 1", name(fault.kind),
                                            fault.agent, fault.iteration));
}

// An agent's faults in their order: crash, rejoin, crash, ...
void validate_history(Index agent, std::vector<AgentFault> faults) {
  std::stable_sort(faults.begin(), faults.end(),
                   [](const AgentFault& a, const AgentFault& b) { return a.iteration < b.iteration; });
  for (std::size_t f = 0; f < faults.size(); ++f) {
    require(f == 0 || faults[f].iteration > faults[f - 1].iteration,
            fmt::format("agent {}: two faults at iteration {}: must be one at a time", agent, faults[f].iteration));
    const bool away = f % 2 == 1;
    require((faults[f].kind == AgentFault::Kind::rejoin) == away,
            away ? fmt::format("crash of agent {} at iteration {}: it has crashed already, must rejoin first", agent,
                               faults[f].iteration)
                 : fmt::format("rejoin of agent {} at iteration {}: it has not crashed, must do so first", agent,
                               faults[f].iteration));
  }
}

}  // namespace

const char* name(LinkFault::Kind kind) {
  switch (kind) {
    case LinkFault::Kind::drop:
      return "drop";
    case LinkFault::Kind::loss:
      return "loss";
    case LinkFault::Kind::delay:
      return "delay";
  }
  return "unknown";
}

const char* name(AgentFault::Kind kind) { return kind == AgentFault::Kind::crash ? "crash" : "rejoin"; }

void validate(const Faults& faults, const GossipMatrix& W) {
  require(faults.patience >= 0, fmt::format("patience = {}: must not be negative", faults.patience));
  require(faults.quorum >= 1 && faults.quorum <= W.agents(),
          fmt::format("quorum = {}: must lie in [1, {}]", faults.quorum, W.agents()));
  require(faults.give_up >= 1, fmt::format("give_up = {}: must be at least 1", faults.give_up));
  require(faults.links.size() < 1u << 24, fmt::format("{} link faults: must be fewer than 2^24", faults.links.size()));
  for (const LinkFault& fault : faults.links) validate(fault, W);
  std::map<Index, std::vector<AgentFault>> histories;
  for (const AgentFault& fault : faults.agents) {
    validate(fault, W.agents());
    histories[fault.agent].push_back(fault);
  }
  for (const auto& [agent, history] : histories) validate_history(agent, history);
}

}  // namespace hearsay

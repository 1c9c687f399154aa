// What the agents hold: shards of samples, or the nodes of a graph. Each rank loads what its own agents hold.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands/job.hpp"
#include "hearsay/decentralized.hpp"
#include "hearsay/decentralized_on_ranks.hpp"
#include "hearsay/graph.hpp"
#include "hearsay/solve_decentralized.hpp"
#include "hearsay/transport.hpp"
#include "reports/decentralized_report.hpp"

namespace hearsay::app {

struct Assembly {
  Index agents = 0;                     ///< n, everywhere
  Holdings held = {};                   ///< of all of them
  std::vector<std::string> notes = {};  ///< what was done to them
  AgentData data = {};                  ///< of the agents here
};

/// The agents whose data this rank holds.
std::vector<Index> agents_here(Index agents, const Transport& ranks);

/// What this rank has read for its agents.
struct Holding {
  Shards shards = {};                     ///< either these
  std::optional<Graph> graph = {};        ///< or the nodes of this
  std::vector<NodeOperator> nodes = {};   ///< that live here
  bool apart = false;                     ///< every agent has a file of its own
  std::vector<std::string> sources = {};  ///< these
  std::vector<Fact> facts = {};           ///< what must be the same on every rank

  Index agents() const { return graph ? graph->nodes : shards.agents; }
};

/// The files of agents that have one each; none where one table is split, or DATA is a data set.
std::vector<std::filesystem::path> shard_files(const Job& job);

/// By DATA, --split, --agents, --nodes and --label-column; asks no other rank. Throws, at this one: InvalidArgument
/// where the agents asked for are not as many as the shards there are.
Holding read_holding(const Job& job, const Transport& ranks);

/// What the holdings of all ranks amount to, by --columns and --no-center. Throws, at every rank, DataError for shards
/// of different columns, which it names. Collective.
Assembly assemble(Holding holding, const Job& job, Transport& ranks);

/// A hash, as text.
std::string digest_text(std::span<const std::uint64_t> numbers);

}  // namespace hearsay::app

// What of an agent's run outlives the session that it ran in: the states from which a later one may go on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/agent.hpp"

namespace hearsay::detail {

/// The same at all agents where lineage and iteration are: a step of the same run from the same data of everyone.
struct KeptState {
  std::uint64_t lineage = 0;
  Index iteration = 0;             ///< counted from the first epoch's beginning
  Index done = 0;                  ///< of them, before the beginning that the solver counts from
  std::vector<Epoch> epochs = {};  ///< where there was more than one
  std::string solver = {};         ///< DecentralizedHooks::resume

  bool same_step(const KeptState& other) const { return lineage == other.lineage && iteration == other.iteration; }
};

struct AgentPast {
  std::vector<KeptState> kept = {};            ///< ascending
  Block<double> latest = {};                   ///< this agent's answer so far
  std::vector<std::string> latest_order = {};  ///< of its rows
  Index reached = 0;                           ///< iterations that it took
  std::vector<Epoch> epochs = {};
  std::vector<Index> taken_up = {};           ///< iterations that a run went on from
  Block<double> release = {};                 ///< of private rows, scaled: drawn once, whatever happens to the run
  std::optional<AgentOutcome> held = {};      ///< a whole result that not everyone has confirmed
  std::string trouble = {};                   ///< why the latest state was not kept
  std::uint64_t configuration = 0, data = 0;  ///< digests

  Index newest() const { return kept.empty() ? 0 : kept.back().iteration; }
};

/// As AgentHooks::keep and AgentHooks::states have it.
std::string bytes_of(const AgentPast& past);

/// Throws DataError for bytes that cannot be, InvalidArgument for those of another run or other data.
void read_past(std::string_view bytes, AgentPast& past);

}  // namespace hearsay::detail

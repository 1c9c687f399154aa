// Links that do what a script says: delay, lose, repeat, change and reorder frames, break and heal, and an agent that
// dies. Time is simulated, only one agent runs at a moment, and which one depends on nothing but the script: a run is
// the same every time, and a deadline of a minute is over at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "hearsay/export.hpp"
#include "hearsay/links.hpp"
#include "hearsay/network.hpp"

namespace hearsay {

/// A frame that was handed over to a link.
struct SentFrame {
  Index from = 0, to = 0;
  std::int64_t number = 0;  ///< of those from the one to the other, from 0
  double time = 0;          ///< when
  std::span<const std::byte> bytes = {};
};

/// What becomes of it.
struct Delivery {
  std::vector<double> after = {1e-3};   ///< seconds, one for each copy that arrives; none where it is lost
  bool in_order = true;                 ///< and not before what was sent earlier on the same link
  std::vector<std::byte> instead = {};  ///< arrives in its place, where it is not empty
  bool breaks_link = false;             ///< this frame does not arrive, and both ends are told
  double heals_after = std::numeric_limits<double>::infinity();  ///< and again when the link is there again
};

struct Simulation {
  std::function<Delivery(const SentFrame&)> deliver = {};  ///< left empty, everything arrives after a millisecond
  /// When each agent dies in the middle of what it does, without a word; left empty, nobody does.
  std::vector<double> dies_at = {};
  bool death_closes_links = true;  ///< as the end of a process does; else nobody hears of it
  /// When each agent that died is started again, once: its body runs anew. Left empty, nobody is.
  std::vector<double> revives_at = {};
};

/// Runs the body once for each agent of W, twice for one that is started again, and returns when all have ended: what
/// each of them threw, or null. One that died has thrown AgentDied, which is no std::exception.
struct AgentDied {};
[[nodiscard]] HEARSAY_API std::vector<std::exception_ptr> run_on_simulated_links(
    const GossipMatrix& W, const Simulation& simulation, const std::function<void(Links&)>& body);

}  // namespace hearsay

// What every agent says of itself, brought to all of them along the edges: in each round an agent hands on what it
// heard in the round before. After as many rounds as the graph's diameter everyone has everyone's words, and no one was
// asked to collect them. No I/O, as the session.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearsay/block.hpp"

namespace hearsay::protocol {

class Flood {
 public:
  /// `numbers` of the agents, for messages, where they are not 0, 1, ...
  Flood(Index agents, Index self, std::string own, std::size_t longest, std::span<const Index> numbers = {});

  /// What this round has for a neighbour: all that is new here and did not come from it.
  std::vector<std::byte> message_for(Index neighbour) const;

  /// What a neighbour sent in this round. Throws CommunicationError for words of an agent that does not exist, that are
  /// too long, or not those that were heard of it before.
  void take(Index neighbour, std::span<const std::byte> message);

  /// Every neighbour has been heard: what came in is new in the next round.
  void end_round();

  /// By agent. Throws CommunicationError, which names them, where some have not been heard of.
  std::vector<std::string> all() const;

 private:
  struct Word {
    std::string text = {};
    bool heard = false;
    Index from = -1;  // the neighbour that brought it
  };

  std::vector<Word> words_;
  std::vector<Index> fresh_, incoming_;
  Index number_of(Index agent) const { return numbers_.empty() ? agent : numbers_[static_cast<std::size_t>(agent)]; }

  std::vector<Index> numbers_;
  Index self_;
  std::size_t longest_;
};

/// Of a message that holds words of so many agents.
std::size_t largest_flood_message(Index agents, std::size_t longest);

}  // namespace hearsay::protocol

// All agents of a secure sum in one process: each with its keys, none with another's block.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "secure/secure_sum.hpp"

namespace hearsay::secure {

/// An id that no other run has.
RunId new_run();

class Party {
 public:
  /// Every agent meets every other. Throws InvalidArgument for fewer than two.
  Party(int agents, const RunId& run);

  /// Masks each block in place and adds up those of the agents that are here, under the masks of a round of its own.
  /// Throws CommunicationError where one is not: then nothing is told, and what others had masked stays masked.
  std::vector<std::uint64_t> sum(std::span<const std::span<std::uint64_t>> blocks, const std::vector<bool>& here = {});

  std::uint64_t rounds() const { return round_; }

 private:
  std::vector<std::unique_ptr<MaskedAgent>> agents_;
  std::uint64_t round_ = 0;
};

}  // namespace hearsay::secure

#include "secure/party.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hearsay/error.hpp"

namespace hearsay::secure {

RunId new_run() {
  const SecretKey random = new_secret();
  RunId run{};
  std::ranges::copy(random.bytes(), run.begin());
  return run;
}

Party::Party(int agents, const RunId& run) {
  require(agents >= 2, fmt::format("agents = {}: must be at least 2: the sum of one shows its summand", agents));
  for (int i = 0; i < agents; ++i) agents_.push_back(std::make_unique<MaskedAgent>(i, agents, run));
  for (int i = 0; i < agents; ++i)
    for (int j = 0; j < agents; ++j)
      if (i != j) agents_[static_cast<std::size_t>(i)]->meet(j, agents_[static_cast<std::size_t>(j)]->public_key());
}

std::vector<std::uint64_t> Party::sum(std::span<const std::span<std::uint64_t>> blocks, const std::vector<bool>& here) {
  require(blocks.size() == agents_.size() && (here.empty() || here.size() == agents_.size()),
          fmt::format("blocks = {}: must be one for each of {} agents", blocks.size(), agents_.size()));
  const std::uint64_t number = round_++;  // spent, also where it comes to nothing
  MaskedRound round(number, static_cast<int>(agents_.size()), blocks.front().size());
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    agents_[i]->mask(number, blocks[i]);
    if (here.empty() || here[i]) round.add(static_cast<int>(i), number, blocks[i]);
  }
  const auto sum = round.sum();
  return {sum.begin(), sum.end()};
}

}  // namespace hearsay::secure

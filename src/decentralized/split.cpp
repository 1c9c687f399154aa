#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "hearsay/decentralized.hpp"
#include "hearsay/error.hpp"
#include "hearsay/random.hpp"

namespace hearsay {
namespace {

// Agent i takes order[i * rows / agents .. (i + 1) * rows / agents).
Split cut(const std::vector<Index>& order, Index agents) {
  require(agents >= 1, fmt::format("agents = {}: must be at least 1", agents));
  const auto rows = static_cast<Index>(order.size());
  Split split;
  for (Index i = 0; i < agents; ++i) {
    auto& part = split.emplace_back(order.begin() + i * rows / agents, order.begin() + (i + 1) * rows / agents);
    std::sort(part.begin(), part.end());
  }
  return split;
}

std::vector<Index> all_rows(Index rows) {
  require(rows >= 0, fmt::format("rows = {}: must not be negative", rows));
  std::vector<Index> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), Index{0});
  return order;
}

}  // namespace

Split contiguous_split(Index rows, Index agents) { return cut(all_rows(rows), agents); }

Split even_split(Index rows, Index agents, std::uint64_t seed) {
  std::vector<Index> order = all_rows(rows);
  const RandomKey key{.seed = seed, .stream = Stream::graph, .agent = 3};
  for (std::size_t i = order.size(); i > 1; --i) {
    const double drawn = random_uniform(key, i) * static_cast<double>(i);
    std::swap(order[i - 1], order[std::min(i - 1, static_cast<std::size_t>(drawn))]);
  }
  return cut(order, agents);
}

Split label_split(std::span<const std::int32_t> labels) {
  std::map<std::int32_t, std::vector<Index>> parts;
  for (std::size_t row = 0; row < labels.size(); ++row) parts[labels[row]].push_back(static_cast<Index>(row));
  Split split;
  for (auto& [label, rows] : parts) split.push_back(std::move(rows));
  return split;
}

Split given_split(std::span<const std::int32_t> assignment, Index agents) {
  require(agents >= 1, fmt::format("agents = {}: must be at least 1", agents));
  Split split(static_cast<std::size_t>(agents));
  for (std::size_t row = 0; row < assignment.size(); ++row) {
    const std::int32_t agent = assignment[row];
    if (!(agent >= 0 && agent < agents))
      throw InvalidArgument(fmt::format("row {} is given to agent {}: must lie in [0, {})", row, agent, agents));
    split[static_cast<std::size_t>(agent)].push_back(static_cast<Index>(row));
  }
  return split;
}

}  // namespace hearsay

// What the shards of all agents say together, made of what each says of itself: on ranks rank 0 adds it up, on links
// everyone does.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hearsay/decentralized_on_ranks.hpp"
#include "network/bytes.hpp"

namespace hearsay::detail {

struct ShardShape {
  Index agent, rows, cols;
  double largest;  // magnitude
  std::string name;
};

/// Those of the shards here, as a message; and of all such messages, by agent.
std::string shapes_of(const Shards& shards);
std::vector<ShardShape> shapes_from(std::span<const std::string> said);

/// All but the mean. Throws as totals_of().
ShardTotals sizes_of(const std::vector<ShardShape>& shapes, Index agents);

/// The sums of the rows here, of 2^-exponent times them, as a message; and the mean, 1 x d, from all such messages:
/// added agent by agent.
std::string sums_of(const Shards& shards, const ShardTotals& totals);
Block<double> mean_from(std::span<const std::string> told, const ShardTotals& totals);

}  // namespace hearsay::detail

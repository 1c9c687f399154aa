// The columns of all shards in the order of the first agent's.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hearsay/decentralized_on_ranks.hpp"

namespace hearsay::detail {

struct Header {
  std::string shard = {};
  std::vector<std::string> columns = {};
};

/// What who holds the first agent says, and others leave empty; and what it said.
std::string header_of(const Shards& shards);
Header header_from(std::span<const std::string> said);

/// Says of which shards here the columns were moved. Throws as align_columns().
std::vector<std::string> bring_into_order(Shards& shards, const Header& wanted);

}  // namespace hearsay::detail

// An undirected graph as it comes out of an edge list: no loops, each edge once, nodes renumbered from zero.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hearsay/block.hpp"

namespace hearsay {

struct Graph {
  Index nodes = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> edges = {};  ///< i < j, sorted, distinct
  std::vector<double> weights = {};                               ///< one per edge, positive; empty means all one
  std::vector<std::int64_t> names = {};  ///< the file's number of each node; empty means 0, 1, ...
};

}  // namespace hearsay

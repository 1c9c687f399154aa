// Edge lists in the manner of SNAP, plain or gzip: two whole numbers a line and perhaps a positive weight, separated by
// blanks, tabs or commas; lines that begin with # or % are comments.
#pragma once

#include <filesystem>
#include <string_view>

#include "hearsay/export.hpp"
#include "hearsay/graph.hpp"

namespace hearsay::io {

struct EdgeList {
  Graph graph;                  ///< nodes renumbered in ascending order of their names
  Index loops_dropped = 0;      ///< a node seen only in loops remains, without edges
  Index duplicates_merged = 0;  ///< lines that repeat an edge in either direction; the largest weight is kept
};

HEARSAY_API EdgeList read_edge_list(const std::filesystem::path& path);
HEARSAY_API EdgeList parse_edge_list(std::string_view text, std::string_view name);

}  // namespace hearsay::io

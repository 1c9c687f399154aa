// The eccentricity of a node is at least half the diameter, and that of a node in the middle of a long shortest path is
// often little more: small graphs are searched from every node, large ones from three.
#include "network/diameter.hpp"

#include <algorithm>

#include "network/entries.hpp"

namespace hearsay::detail {
namespace {

struct Search {
  Index eccentricity = 0;          // of the node it started from
  std::int32_t farthest = 0;       // a node that far away
  std::vector<std::int32_t> from;  // the node each was reached from, -1 where none was
  std::size_t reached = 0;
};

Search breadth_first(const CsrMatrix<double>& W, std::int32_t start) {
  const auto nodes = static_cast<std::size_t>(W.rows);
  Search search{.farthest = start, .from = std::vector<std::int32_t>(nodes, -1)};
  std::vector<std::int32_t> front{start}, next;
  search.from[static_cast<std::size_t>(start)] = start;
  while (!front.empty()) {
    search.reached += front.size();
    next.clear();
    for (const std::int32_t node : front)
      each_in_row(W, node, [&](Index other, double) {
        if (search.from[static_cast<std::size_t>(other)] >= 0) return;
        search.from[static_cast<std::size_t>(other)] = node;
        next.push_back(static_cast<std::int32_t>(other));
      });
    front.swap(next);
    if (front.empty()) break;
    ++search.eccentricity;
    search.farthest = front.front();
  }
  return search;
}

}  // namespace

Index diameter(const CsrMatrix<double>& W) {
  constexpr double affordable = 3e7;  // entries visited
  Search search = breadth_first(W, 0);
  if (search.reached < static_cast<std::size_t>(W.rows)) return -1;
  if (static_cast<double>(W.rows) * static_cast<double>(W.nonzeros()) <= affordable) {
    Index largest = search.eccentricity;
    for (std::int32_t node = 1; node < W.rows; ++node) largest = std::max(largest, breadth_first(W, node).eccentricity);
    return largest;
  }
  search = breadth_first(W, search.farthest);  // from one far end to the other
  std::int32_t middle = search.farthest;
  for (Index step = 0; step < search.eccentricity / 2; ++step) middle = search.from[static_cast<std::size_t>(middle)];
  return std::max(search.eccentricity, 2 * breadth_first(W, middle).eccentricity);
}

}  // namespace hearsay::detail

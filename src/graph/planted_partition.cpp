// The planted partition model: pairs inside a community are joined with probability p_in, the others with p_out.
//
// Rather than toss a coin for each of the n^2 / 2 pairs, jump from one success to the next: the number of failures in
// between is geometric. Reference: Batagelj and Brandes (2005), "Efficient generation of large random networks".
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "hearsay/error.hpp"
#include "hearsay/graph_tools.hpp"
#include "hearsay/random.hpp"

namespace hearsay {
namespace {

// Communities are consecutive nodes: community c is [start(c), start(c + 1)).
struct Communities {
  Index nodes, count;

  Index start(Index c) const { return (c * nodes + count - 1) / count; }
  Index of(Index node) const { return node * count / nodes; }
};

void validate(Index nodes, Index communities) {
  require(nodes >= 1 && nodes <= std::numeric_limits<std::int32_t>::max(),
          fmt::format("nodes = {}: must lie in [1, 2^31)", nodes));
  require(communities >= 1 && communities <= nodes,
          fmt::format("communities = {}: must lie in [1, {}]", communities, nodes));
}

double joining_probability(const char* name, double mean_degree, Index others) {
  require(
      mean_degree >= 0 && mean_degree <= static_cast<double>(others),
      fmt::format("{} = {}: must lie in [0, {}], the number of such neighbours there are", name, mean_degree, others));
  return others > 0 ? mean_degree / static_cast<double>(others) : 0.0;
}

// Joins `node` to each of [first, last) with probability p; `key` and the node number the random draws.
void join(Graph& graph, Index node, Index first, Index last, double p, const RandomKey& key) {
  if (p == 0) return;
  const double log_failure = std::log1p(-p);  // -infinity when p = 1: no failure in between
  std::uint32_t draw = 0;
  const auto failures = [&] {
    return std::log(random_uniform(key, static_cast<std::uint64_t>(node), draw++)) / log_failure;
  };
  for (Index other = first;; ++other) {
    const double skip = failures();
    if (!(skip < static_cast<double>(last - other))) return;
    other += static_cast<Index>(skip);
    graph.edges.emplace_back(static_cast<std::int32_t>(node), static_cast<std::int32_t>(other));
  }
}

}  // namespace

Graph planted_partition(Index nodes, Index communities, double mean_degree_inside, double mean_degree_outside,
                        std::uint64_t seed) {
  validate(nodes, communities);
  const Communities parts{nodes, communities};
  const RandomKey inside{.seed = seed, .stream = Stream::graph, .agent = 0};
  const RandomKey outside{.seed = seed, .stream = Stream::graph, .agent = 1};

  Graph graph;
  graph.nodes = nodes;
  for (Index c = 0; c < communities; ++c) {
    const Index first = parts.start(c), last = parts.start(c + 1), size = last - first;
    const double p_in = joining_probability("mean_degree_inside", mean_degree_inside, size - 1);
    const double p_out = joining_probability("mean_degree_outside", mean_degree_outside, nodes - size);
    for (Index node = first; node < last; ++node) {
      join(graph, node, node + 1, last, p_in, inside);
      join(graph, node, last, nodes, p_out, outside);
    }
  }
  return graph;
}

std::vector<std::int32_t> planted_communities(Index nodes, Index communities) {
  validate(nodes, communities);
  const Communities parts{nodes, communities};
  std::vector<std::int32_t> label(static_cast<std::size_t>(nodes));
  for (Index node = 0; node < nodes; ++node)
    label[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(parts.of(node));
  return label;
}

}  // namespace hearsay

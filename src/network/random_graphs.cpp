// Graphs drawn by a seed. A random regular graph pairs half-edges at random and then swaps the ends of a bad pair (a
// loop, a repetition) with those of a random other one until none is left; a dense one is the complement of a sparse
// one.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "hearsay/error.hpp"
#include "hearsay/graph_tools.hpp"
#include "hearsay/network.hpp"
#include "hearsay/random.hpp"

namespace hearsay {
namespace {

using Edge = std::pair<std::int32_t, std::int32_t>;

// Numbers below `count`, one after the other.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : key_{.seed = seed, .stream = Stream::graph, .agent = 2} {}
  std::size_t below(std::size_t count) {
    const double drawn = random_uniform(key_, next_++) * static_cast<double>(count);
    return std::min(count - 1, static_cast<std::size_t>(drawn));
  }

 private:
  RandomKey key_;
  std::uint64_t next_ = 0;
};

class Pairing {
 public:
  Pairing(Index nodes, Index degree, std::uint64_t seed) : draws_(seed) {
    std::vector<std::int32_t> ends;
    for (std::int32_t node = 0; node < nodes; ++node) ends.insert(ends.end(), static_cast<std::size_t>(degree), node);
    for (std::size_t i = ends.size(); i > 1; --i) std::swap(ends[i - 1], ends[draws_.below(i)]);
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      pairs_.emplace_back(ends[i], ends[i + 1]);
      good_.push_back(insert(pairs_.back()));
    }
  }

  std::vector<Edge> edges() {
    for (std::size_t bad = 0; bad < pairs_.size(); ++bad)
      while (!good_[bad]) repair(bad, draws_.below(pairs_.size()));
    std::vector<Edge> sorted;
    for (const auto& [i, j] : pairs_) sorted.emplace_back(std::min(i, j), std::max(i, j));
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

 private:
  static std::uint64_t code(const Edge& pair) {
    const auto [low, high] = std::minmax(pair.first, pair.second);
    return static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint64_t>(high);
  }

  bool insert(const Edge& pair) { return pair.first != pair.second && taken_.insert(code(pair)).second; }

  // (a, b), (c, d) -> (a, d), (c, b), where both are new edges.
  void repair(std::size_t bad, std::size_t other) {
    if (other == bad || !good_[other]) return;
    const Edge first{pairs_[bad].first, pairs_[other].second}, second{pairs_[other].first, pairs_[bad].second};
    if (!insert(first)) return;
    if (!insert(second)) {
      taken_.erase(code(first));
      return;
    }
    taken_.erase(code(pairs_[other]));
    pairs_[bad] = first;
    pairs_[other] = second;
    good_[bad] = true;
  }

  Draws draws_;
  std::vector<Edge> pairs_;
  std::vector<bool> good_;
  std::unordered_set<std::uint64_t> taken_;
};

std::vector<Edge> complement(Index nodes, const std::vector<Edge>& edges) {
  std::vector<Edge> others;
  auto next = edges.begin();
  for (const Edge& edge : complete_graph(nodes).edges)
    if (next != edges.end() && *next == edge)
      ++next;
    else
      others.push_back(edge);
  return others;
}

}  // namespace

Graph erdos_renyi_graph(Index nodes, double probability, std::uint64_t seed) {
  require(probability >= 0 && probability <= 1, fmt::format("probability = {}: must lie in [0, 1]", probability));
  const Graph graph = planted_partition(nodes, 1, probability * static_cast<double>(nodes - 1), 0, seed);
  require_connected(graph);
  return graph;
}

Graph random_regular_graph(Index nodes, Index degree, std::uint64_t seed) {
  require(nodes >= 1, fmt::format("nodes = {}: must be at least 1", nodes));
  require(degree >= 0 && degree < nodes, fmt::format("degree = {}: must lie in [0, {}]", degree, nodes - 1));
  require(nodes % 2 == 0 || degree % 2 == 0,
          fmt::format("degree = {}: must be even on {} nodes, for every edge has two ends", degree, nodes));
  const bool dense = 2 * degree > nodes - 1;
  Graph graph{.nodes = nodes, .edges = Pairing(nodes, dense ? nodes - 1 - degree : degree, seed).edges()};
  if (dense) graph.edges = complement(nodes, graph.edges);
  require_connected(graph);
  return graph;
}

Graph with_random_edges(const Graph& graph, Index extra, std::uint64_t seed) {
  std::set<Edge> edges(graph.edges.begin(), graph.edges.end());
  const auto room = static_cast<Index>(graph.nodes) * (graph.nodes - 1) / 2 - static_cast<Index>(edges.size());
  require(extra >= 0 && extra <= room,
          fmt::format("extra edges = {}: must lie in [0, {}], what {} nodes leave room for", extra, room, graph.nodes));
  const RandomKey key{.seed = seed, .stream = Stream::graph, .agent = 4};
  const auto all = static_cast<std::size_t>(extra) + edges.size();
  for (std::uint64_t draw = 0; edges.size() < all; ++draw) {
    const auto node = [&](std::uint32_t end) {
      return static_cast<std::int32_t>(random_uniform(key, draw, end) * static_cast<double>(graph.nodes));
    };
    const std::int32_t i = node(0), j = node(1);
    if (i != j) edges.insert(std::minmax(i, j));
  }
  return {.nodes = graph.nodes, .edges = {edges.begin(), edges.end()}, .names = graph.names};
}

}  // namespace hearsay

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "hearsay/error.hpp"
#include "hearsay/graph_tools.hpp"
#include "hearsay/network.hpp"

namespace hearsay {
namespace {

void require_nodes(const char* name, Index count) {
  require(count >= 1 && count <= std::numeric_limits<std::int32_t>::max(),
          fmt::format("{} = {}: must lie in [1, 2^31)", name, count));
}

// From edges in any order and direction; loops and repetitions (a ring of two, a torus of width two) fall away.
Graph made_of(Index nodes, std::vector<std::pair<std::int32_t, std::int32_t>> edges) {
  for (auto& [i, j] : edges)
    if (i > j) std::swap(i, j);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::erase_if(edges, [](const auto& edge) { return edge.first == edge.second; });
  return {.nodes = nodes, .edges = std::move(edges)};
}

std::pair<std::int32_t, std::int32_t> edge(Index i, Index j) {
  return {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)};
}

Graph lattice(Index rows, Index columns, bool closed) {
  require_nodes("rows", rows);
  require_nodes("columns", columns);
  require_nodes("rows x columns", rows * columns);
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c) {
      if (closed || c + 1 < columns) edges.push_back(edge(r * columns + c, r * columns + (c + 1) % columns));
      if (closed || r + 1 < rows) edges.push_back(edge(r * columns + c, (r + 1) % rows * columns + c));
    }
  return made_of(rows * columns, std::move(edges));
}

}  // namespace

Graph ring_graph(Index nodes) {
  require_nodes("nodes", nodes);
  return lattice(1, nodes, true);
}

Graph path_graph(Index nodes) {
  require_nodes("nodes", nodes);
  return lattice(1, nodes, false);
}

Graph star_graph(Index nodes) {
  require_nodes("nodes", nodes);
  Graph graph{.nodes = nodes};
  for (Index j = 1; j < nodes; ++j) graph.edges.push_back(edge(0, j));
  return graph;
}

Graph complete_graph(Index nodes) {
  require_nodes("nodes", nodes);
  Graph graph{.nodes = nodes};
  for (Index i = 0; i < nodes; ++i)
    for (Index j = i + 1; j < nodes; ++j) graph.edges.push_back(edge(i, j));
  return graph;
}

Graph grid_graph(Index rows, Index columns) { return lattice(rows, columns, false); }

Graph torus_graph(Index rows, Index columns) { return lattice(rows, columns, true); }

void require_connected(const Graph& graph) {
  const auto component = connected_components(graph);
  std::map<std::int32_t, std::pair<Index, Index>> parts;  // component -> how many nodes, the first of them
  for (std::size_t node = 0; node < component.size(); ++node) {
    auto& [size, first] = parts.try_emplace(component[node], 0, static_cast<Index>(node)).first->second;
    ++size;
  }
  if (parts.size() <= 1) return;

  constexpr std::size_t most_shown = 5;
  std::string list;
  for (const auto& [number, part] : parts) {
    if (static_cast<std::size_t>(number) == most_shown) break;
    const auto node = static_cast<std::size_t>(part.second);
    list += fmt::format("{}{} node{} with {}", list.empty() ? "" : ", ", part.first, part.first == 1 ? "" : "s",
                        graph.names.empty() ? part.second : static_cast<Index>(graph.names[node]));
  }
  if (parts.size() > most_shown) list += fmt::format(", and {} more", parts.size() - most_shown);
  throw InvalidArgument(
      fmt::format("graph of {} nodes: must be connected, and has {} components: {}", graph.nodes, parts.size(), list));
}

}  // namespace hearsay

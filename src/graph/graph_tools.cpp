#include "hearsay/graph_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hearsay/error.hpp"
#include "linalg/labels.hpp"

namespace hearsay {
namespace {

std::size_t at(std::int32_t node) { return static_cast<std::size_t>(node); }

void validate(const Graph& graph) {
  require(graph.nodes >= 0 && graph.nodes <= std::numeric_limits<std::int32_t>::max(),
          fmt::format("nodes = {}: must lie in [0, 2^31)", graph.nodes));
  require(graph.weights.empty() || graph.weights.size() == graph.edges.size(),
          fmt::format("the graph has {} weights for {} edges: one each, or none", graph.weights.size(),
                      graph.edges.size()));
  require(graph.names.empty() || graph.names.size() == static_cast<std::size_t>(graph.nodes),
          fmt::format("the graph has {} names for {} nodes: one each, or none", graph.names.size(), graph.nodes));
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const auto [i, j] = graph.edges[e];
    if (!(0 <= i && i < j && j < graph.nodes))
      throw InvalidArgument(fmt::format("edge {} = ({}, {}): must join i < j in [0, {})", e, i, j, graph.nodes));
    if (e > 0 && !(graph.edges[e - 1] < graph.edges[e]))
      throw InvalidArgument(fmt::format("edge {} = ({}, {}): edges must be sorted and distinct", e, i, j));
  }
  for (std::size_t e = 0; e < graph.weights.size(); ++e)
    if (!(graph.weights[e] > 0 && std::isfinite(graph.weights[e])))
      throw InvalidArgument(fmt::format("weight {} = {}: must be positive and finite", e, graph.weights[e]));
}

double weight(const Graph& graph, std::size_t edge) { return graph.weights.empty() ? 1.0 : graph.weights[edge]; }

// Disjoint sets with path halving; the root of a set is its smallest member.
class DisjointSets {
 public:
  explicit DisjointSets(Index count) : parent_(static_cast<std::size_t>(count)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  std::int32_t root(std::int32_t node) {
    while (parent_[at(node)] != node) node = parent_[at(node)] = parent_[at(parent_[at(node)])];
    return node;
  }

  void join(std::int32_t a, std::int32_t b) {
    a = root(a);
    b = root(b);
    parent_[at(std::max(a, b))] = std::min(a, b);
  }

 private:
  std::vector<std::int32_t> parent_;
};

}  // namespace

std::vector<std::int32_t> connected_components(const Graph& graph) {
  validate(graph);
  DisjointSets sets(graph.nodes);
  for (const auto& [i, j] : graph.edges) sets.join(i, j);

  std::vector<std::int32_t> labels(static_cast<std::size_t>(graph.nodes));
  std::int32_t components = 0;
  for (std::int32_t node = 0; node < graph.nodes; ++node) {
    const std::int32_t root = sets.root(node);
    labels[at(node)] = root == node ? components++ : labels[at(root)];
  }
  const auto names = detail::canonical_names(labels, at(components));
  for (std::int32_t& label : labels) label = names[at(label)];
  return labels;
}

Graph subgraph(const Graph& graph, std::span<const std::int32_t> nodes) {
  validate(graph);
  std::vector<std::int32_t> place(static_cast<std::size_t>(graph.nodes), -1);  // of each old node in the new graph
  Graph part;
  part.nodes = static_cast<Index>(nodes.size());
  for (const std::int32_t node : nodes) {
    if (!(node >= 0 && node < graph.nodes))
      throw InvalidArgument(fmt::format("node {}: must lie in [0, {})", node, graph.nodes));
    if (place[at(node)] >= 0) throw InvalidArgument(fmt::format("node {}: given twice", node));
    place[at(node)] = static_cast<std::int32_t>(part.names.size());
    part.names.push_back(graph.names.empty() ? node : graph.names[at(node)]);
  }

  std::vector<std::pair<std::pair<std::int32_t, std::int32_t>, double>> kept;
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const std::int32_t i = place[at(graph.edges[e].first)], j = place[at(graph.edges[e].second)];
    if (i >= 0 && j >= 0) kept.push_back({std::minmax(i, j), weight(graph, e)});
  }
  if (!std::is_sorted(kept.begin(), kept.end())) std::sort(kept.begin(), kept.end());
  for (const auto& [edge, edge_weight] : kept) {
    part.edges.push_back(edge);
    if (!graph.weights.empty()) part.weights.push_back(edge_weight);
  }
  return part;
}

Graph largest_component(const Graph& graph) {
  const auto component = connected_components(graph);
  std::vector<std::int32_t> nodes;
  for (std::int32_t node = 0; node < graph.nodes; ++node)
    if (component[at(node)] == 0) nodes.push_back(node);
  return subgraph(graph, nodes);
}

Vector<double> degrees(const Graph& graph) {
  validate(graph);
  Vector<double> degree = Vector<double>::Zero(graph.nodes);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    degree(graph.edges[e].first) += weight(graph, e);
    degree(graph.edges[e].second) += weight(graph, e);
  }
  return degree;
}

CsrMatrix<double> adjacency(const Graph& graph) {
  validate(graph);
  CsrMatrix<double> S;
  S.rows = S.cols = graph.nodes;
  S.row_start.assign(static_cast<std::size_t>(graph.nodes) + 1, 0);
  for (const auto& [i, j] : graph.edges) {
    ++S.row_start[at(i) + 1];
    ++S.row_start[at(j) + 1];
  }
  std::partial_sum(S.row_start.begin(), S.row_start.end(), S.row_start.begin());

  // Edges come sorted: row i receives its smaller neighbours before its larger ones, each lot ascending, provided that
  // the lower triangle goes first.
  S.columns.resize(2 * graph.edges.size());
  S.values.resize(2 * graph.edges.size());
  std::vector<std::int64_t> next(S.row_start.begin(), S.row_start.end() - 1);
  const auto put = [&](std::int32_t row, std::int32_t column, double value) {
    const auto place = static_cast<std::size_t>(next[at(row)]++);
    S.columns[place] = column;
    S.values[place] = value;
  };
  for (std::size_t e = 0; e < graph.edges.size(); ++e)
    put(graph.edges[e].second, graph.edges[e].first, weight(graph, e));
  for (std::size_t e = 0; e < graph.edges.size(); ++e)
    put(graph.edges[e].first, graph.edges[e].second, weight(graph, e));
  return S;
}

}  // namespace hearsay

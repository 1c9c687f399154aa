#include "hearsay/io/edge_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "hearsay/error.hpp"
#include "io/read_from.hpp"
#include "io/text.hpp"

namespace hearsay::io {
namespace {

struct NamedEdge {
  std::int64_t from, to;  ///< as the file numbers them
  double weight;
};

struct NamedEdges {
  std::vector<NamedEdge> edges;
  bool weighted = false;
};

std::int64_t node(std::string_view& rest, const LineReader& lines, Index field) {
  const std::string_view text = next_field(rest, ',');
  std::int64_t id = 0;
  if (text.empty()) fail_at(lines.name(), lines.number(), field, "an edge needs two nodes");
  if (!to_integer(text, id))
    fail_at(lines.name(), lines.number(), field, fmt::format("{} is not a whole number", shown(text)));
  return id;
}

double positive_weight(std::string_view text, const LineReader& lines) {
  double weight = 0;
  if (!to_number(text, weight))
    fail_at(lines.name(), lines.number(), 3, fmt::format("{} is not a number", shown(text)));
  if (!(weight > 0 && std::isfinite(weight)))
    fail_at(lines.name(), lines.number(), 3, fmt::format("the weight {} is not positive and finite", shown(text)));
  return weight;
}

NamedEdges read_lines(LineReader& lines) {
  NamedEdges list;
  std::string_view rest;
  while (lines.next_filled(rest)) {
    rest = trimmed(rest);
    if (rest.starts_with('#') || rest.starts_with('%')) continue;
    NamedEdge edge{.from = node(rest, lines, 1), .to = node(rest, lines, 2), .weight = 1.0};
    const std::string_view third = next_field(rest, ',');
    if (list.edges.empty()) list.weighted = !third.empty();
    if (list.weighted == third.empty())
      fail_at(
          lines.name(), lines.number(), 3,
          list.weighted ? "the weight is missing; the first edge has one" : "a weight, where the first edge has none");
    if (list.weighted) edge.weight = positive_weight(third, lines);
    if (const auto fourth = next_field(rest, ','); !fourth.empty())
      fail_at(lines.name(), lines.number(), 4, fmt::format("{} is more than an edge and its weight", shown(fourth)));
    if (list.edges.size() == list.edges.capacity())
      require_memory(2 * list.edges.size() + 1, sizeof(edge), lines.name());
    list.edges.push_back(edge);
  }
  return list;
}

// Gives each name its rank among the names, by a table where the names are dense and by search where they are not.
class Renumbering {
 public:
  explicit Renumbering(const std::vector<NamedEdge>& edges) {
    names_.reserve(2 * edges.size());
    for (const NamedEdge& edge : edges) {
      names_.push_back(edge.from);
      names_.push_back(edge.to);
    }
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    const auto width = static_cast<std::uint64_t>(names_.back()) - static_cast<std::uint64_t>(names_.front());
    if (width >= 8 * names_.size()) return;
    rank_.resize(width + 1);
    for (std::size_t i = 0; i < names_.size(); ++i) rank_[offset(names_[i])] = static_cast<std::int32_t>(i);
  }

  std::int32_t operator()(std::int64_t name) const {
    if (!rank_.empty()) return rank_[offset(name)];
    return static_cast<std::int32_t>(std::lower_bound(names_.begin(), names_.end(), name) - names_.begin());
  }

  std::vector<std::int64_t>& names() { return names_; }

 private:
  std::size_t offset(std::int64_t name) const {
    return static_cast<std::uint64_t>(name) - static_cast<std::uint64_t>(names_.front());
  }

  std::vector<std::int64_t> names_;  // ascending
  std::vector<std::int32_t> rank_;   // by name less the smallest; empty when that would waste memory
};

struct Edge {
  std::int32_t i, j;  ///< i < j
  double weight;
};

}  // namespace

EdgeList read_edge_list_from(ByteSource source) {
  LineReader lines(std::move(source));
  const NamedEdges list = read_lines(lines);
  if (list.edges.empty()) throw DataError(fmt::format("{}: holds no edges", lines.name()));
  // Two names an edge and their ranks, each edge by its ranks, and the graph.
  require_memory(list.edges.size(), 2 * sizeof(std::int64_t) + 16 * sizeof(std::int32_t) + sizeof(Edge) + 16,
                 lines.name());
  Renumbering number(list.edges);
  if (number.names().size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw DataError(fmt::format("{}: has {} nodes, more than can be numbered", lines.name(), number.names().size()));

  EdgeList result;
  std::vector<Edge> edges;
  edges.reserve(list.edges.size());
  for (const NamedEdge& named : list.edges) {
    const auto [i, j] = std::minmax({number(named.from), number(named.to)});
    if (i == j)
      ++result.loops_dropped;
    else
      edges.push_back({.i = i, .j = j, .weight = named.weight});
  }
  // The heaviest of equal edges comes first, and stays.
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return std::tie(a.i, a.j, b.weight) < std::tie(b.i, b.j, a.weight); });
  const auto end =
      std::unique(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.i == b.i && a.j == b.j; });
  result.duplicates_merged = edges.end() - end;
  edges.erase(end, edges.end());

  Graph& graph = result.graph;
  graph.nodes = static_cast<Index>(number.names().size());
  graph.names = std::move(number.names());
  graph.edges.reserve(edges.size());
  for (const Edge& edge : edges) graph.edges.emplace_back(edge.i, edge.j);
  if (list.weighted)
    for (const Edge& edge : edges) graph.weights.push_back(edge.weight);
  return result;
}

EdgeList read_edge_list(const std::filesystem::path& path) {
  InputFile file(path);
  return read_edge_list_from(source_of(file));
}

EdgeList parse_edge_list(std::string_view text, std::string_view name) {
  return read_edge_list_from(source_of(text, name));
}

}  // namespace hearsay::io

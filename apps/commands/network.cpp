#include "commands/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "files/convert.hpp"
#include "files/run_files.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/edge_list.hpp"
#include "hearsay/io/matrix.hpp"
#include "hearsay/io/regular_file.hpp"

namespace hearsay::app {
namespace {

Graph topology(const Job& job, const std::string& text, Index agents, const Graph* data) {
  if (text == "data") {
    require(data != nullptr, "topology = data: needs --split by-node, where DATA is a graph");
    return *data;
  }
  if (auto graph = named_topology(text, agents, job.network_seed())) return *std::move(graph);
  if (!is_there(text, "topology")) {
    constexpr std::string_view words[] = {"ring",  "path",  "star",    "complete", "grid",
                                          "torus", "erdos", "regular", "data"};
    throw InvalidArgument(fmt::format("topology = {}: must be one of {}, and there is no file of that name{}", text,
                                      find_option("topology").range,
                                      did_you_mean(text.substr(0, text.find(':')), words)));
  }
  io::require_regular_file(text);
  Graph graph = io::read_edge_list(text).graph;
  require(graph.nodes == agents,
          fmt::format("topology = {}: has {} nodes, and must have {}, one for each agent", text, graph.nodes, agents));
  return graph;
}

std::pair<Index, Index> shape_of(const Block<double>& matrix) { return {matrix.rows(), matrix.cols()}; }
std::pair<Index, Index> shape_of(const CsrMatrix<double>& matrix) { return {matrix.rows, matrix.cols}; }

// The support of the matrix must be the graph, where one is asked for.
GossipMatrix from_file(const std::string& path, Index agents, const std::optional<Graph>& graph) {
  io::require_regular_file(path);
  const io::Data data = io::read_data(path);
  return std::visit(
      [&](const auto& matrix) {
        const auto& W = in<double>(matrix);
        const auto [rows, columns] = shape_of(W);
        require(rows == agents && columns == agents,
                fmt::format("weights = {}: is {} x {}, and must be {} x {}, as there are agents", path, rows, columns,
                            agents, agents));
        return graph ? GossipMatrix::from(W, *graph) : GossipMatrix::from(W);
      },
      data.matrix);
}

}  // namespace

void require_agents(Index agents) {
  require(agents >= 1 && agents <= most_agents, fmt::format("agents = {}: must lie in [1, {}]", agents, most_agents));
}

GossipMatrix gossip_matrix(const Job& job, Index agents, const Graph* data) {
  constexpr std::string_view words[] = {"auto", "ring", "metropolis", "lazy"};
  const std::string shape = job.text("topology", data != nullptr ? "data" : "ring");
  const std::string rule = job.text("weights", "auto");
  const Index extra = job.integer("extra-edges", 0).value_or(0);
  const bool ring = shape == "ring" && extra == 0;
  const bool named = std::find(std::begin(words), std::end(words), rule) != std::end(words);
  require_agents(agents);
  require(named || is_there(rule, "weights"),
          fmt::format("weights = {}: must be one of {}, and there is no file of that name{}", rule,
                      find_option("weights").range, did_you_mean(rule, words)));
  require(rule != "ring" || ring, fmt::format("weights = ring: needs --topology ring, and it is {}{}", shape,
                                              extra > 0 ? " with extra edges" : ""));
  if (!named && !job.given.contains("topology") && extra == 0) return from_file(rule, agents, std::nullopt);
  if (ring && (rule == "ring" || rule == "auto")) return GossipMatrix::ring(agents);
  if (ring && rule == "lazy") return GossipMatrix::lazy(GossipMatrix::ring(agents));

  Graph graph = topology(job, shape, agents, data);
  if (extra > 0) graph = with_random_edges(graph, extra, job.network_seed());
  if (!named) return from_file(rule, agents, graph);
  GossipMatrix W = GossipMatrix::metropolis(graph);
  return rule == "lazy" ? GossipMatrix::lazy(W) : W;
}

}  // namespace hearsay::app

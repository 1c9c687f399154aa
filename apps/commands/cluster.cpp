// hearsay cluster: communities of a graph, by spectral embedding and k-means.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

#include "commands/commands.hpp"
#include "commands/device.hpp"
#include "commands/solve.hpp"
#include "files/delivery.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "hearsay/error.hpp"
#include "hearsay/graph_tools.hpp"
#include "hearsay/kmeans.hpp"
#include "reports/report.hpp"
#include "reports/run_page.hpp"

namespace hearsay::app {

namespace {

std::int64_t node_name(const Graph& graph, std::size_t node) {
  return graph.names.empty() ? static_cast<std::int64_t>(node) : graph.names[node];
}

std::string labels_csv(const Graph& graph, const KMeansResult& clusters) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "node,cluster\n");
  for (std::size_t node = 0; node < clusters.assignment.size(); ++node)
    fmt::format_to(std::back_inserter(text), "{},{}\n", node_name(graph, node), clusters.assignment[node]);
  return fmt::to_string(text);
}

std::vector<Index> sizes_of(const KMeansResult& clusters) {
  std::vector<Index> sizes(static_cast<std::size_t>(clusters.centers.rows()));
  for (const auto cluster : clusters.assignment) ++sizes[static_cast<std::size_t>(cluster)];
  return sizes;
}

struct Clustering {
  Graph graph;
  Index components = 1;
  Solution<double> outcome = {};
  KMeansResult clusters = {};
  double clustering_seconds = 0;
};

Clustering cluster(const Job& job) {
  Clustering made{.graph = load_graph(job.input).graph};
  if (job.largest_component) made.graph = largest_component(made.graph);
  const Index clusters = job.clusters.value_or(job.solve.power.rank);
  require(clusters <= made.graph.nodes,
          fmt::format("clusters = {}: must be at most {}, the number of nodes", clusters, made.graph.nodes));
  const auto component = connected_components(made.graph);
  made.components = 1 + *std::max_element(component.begin(), component.end());

  const WatchedRequest request(job, made.graph.nodes);  // Ctrl-C waits for k-means too: its embedding is found by then
  made.outcome = request.finished(solve_graph(made.graph, request));
  PowerResult<double>& embedding = made.outcome.power;
  if (made.components > 1)
    embedding.notes.push_back(fmt::format(
        "the graph has {0} components, so the eigenvalue 2 occurs {0} times: {1}; --largest-component keeps one",
        made.components,
        made.components > job.solve.power.rank ? "a subspace of fewer dimensions than that is not unique"
                                               : "that many dimensions only tell the components apart"));
  embedding.basis = unit_rows(std::move(embedding.basis));
  const auto begin = std::chrono::steady_clock::now();
  made.clusters =
      kmeans(embedding.basis, {.clusters = clusters, .restarts = job.restarts, .seed = job.solve.power.seed});
  made.clustering_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return made;
}

Json cluster_json(const Report& report, const Clustering& made) {
  Json json = result_json(report);
  json["nodes"] = made.graph.nodes;
  json["edges"] = made.graph.edges.size();
  json["components"] = made.components;
  json["clusters"] = made.clusters.centers.rows();
  json["cluster_sizes"] = sizes_of(made.clusters);
  json["inertia"] = number(made.clusters.inertia);
  json["kmeans_converged"] = made.clusters.converged;
  json["kmeans_seconds"] = made.clustering_seconds;
  return json;
}

std::string cluster_text(const Clustering& made) {
  const auto sizes = sizes_of(made.clusters);
  const std::size_t shown = std::min<std::size_t>(sizes.size(), 12);
  return line("graph", "{} nodes, {} edges, {} component{}", made.graph.nodes, made.graph.edges.size(), made.components,
              made.components == 1 ? "" : "s") +
         line("clusters", "{}, of sizes {}{}", sizes.size(),
              fmt::join(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
              sizes.size() > shown ? ", ..." : "");
}

int run_cluster(Job job) {
  choose_device(job);
  check(job);
  check_outputs(job);
  const Clustering made = where_asked(job, [&] { return cluster(job); });
  Delivery delivery;
  delivery.block(job.embedding, made.outcome.power.basis);
  delivery.text(job.labels, labels_csv(made.graph, made.clusters));
  const Report report{job, made.graph.nodes, made.outcome};
  delivery.text(job.report, [&] {
    PageData page{.scores = made.outcome.power.basis.leftCols(std::min<Index>(3, made.outcome.power.basis.cols())),
                  .group_name = "cluster",
                  .cluster_sizes = sizes_of(made.clusters),
                  .more = cluster_text(made)};
    for (const auto cluster : made.clusters.assignment) page.groups.push_back(fmt::to_string(cluster));
    return run_page(report, page);
  });
  return deliver(
      delivery, report, [&] { return cluster_json(report, made); }, cluster_text(made));
}

}  // namespace

void add_cluster(CLI::App& root, Action& action) {
  add_command(
      root, action,
      {.name = "cluster",
       .summary = "Communities of a graph: spectral embedding, then k-means",
       .input = "GRAPH",
       .input_help = "An edge list (two node numbers a line), also .gz; or the name of a data set",
       .footer = "The embedding holds the leading eigenvectors of I + D^-1/2 S D^-1/2, each row scaled to length one.\n"
                 "\n"
                 "Examples:\n"
                 "  hearsay cluster friends.txt -k 10 --labels communities.csv\n"
                 "  hearsay cluster ego-facebook -k 30 --clusters 40 --largest-component --tolerance 1e-6\n"
                 "  hearsay cluster friends.txt.gz -k 5 --embedding embedding.npy --json -",
       .options = in_cluster},
      run_cluster);
}

}  // namespace hearsay::app

// Graphs, their parts, and clusters of points.
#include "bindings.hpp"
#include "hearsay/graph_tools.hpp"
#include "hearsay/kmeans.hpp"

namespace hearsay::python {

Graph graph_of(Index nodes, const EdgesIn& edges, const std::optional<VectorIn<double>>& weights) {
  Graph graph{.nodes = nodes};
  graph.edges.reserve(edges.shape(0));
  const auto view = edges.view();
  for (std::size_t e = 0; e < edges.shape(0); ++e) graph.edges.emplace_back(view(e, 0), view(e, 1));
  if (weights) graph.weights.assign(weights->data(), weights->data() + weights->size());
  return graph;
}

ArrayOut<std::int32_t> edges_of(const Graph& graph) {
  std::vector<std::int32_t> ends;
  ends.reserve(2 * graph.edges.size());
  for (const auto& [i, j] : graph.edges) ends.insert(ends.end(), {i, j});
  return given_vector(std::move(ends), 2);
}

namespace {

std::span<const std::int32_t> labels_of(const VectorIn<std::int32_t>& labels) { return {labels.data(), labels.size()}; }

nb::dict cluster(const MatrixIn<double>& points, Index clusters, Index restarts, Index max_iterations, double tolerance,
                 std::uint64_t seed) {
  KMeansResult result = [&] {
    const nb::gil_scoped_release no_gil;
    return kmeans(borrowed<double>(points), {.clusters = clusters,
                                             .restarts = restarts,
                                             .max_iterations = max_iterations,
                                             .tolerance = tolerance,
                                             .seed = seed});
  }();
  nb::dict out;
  out["labels"] = given_vector(std::move(result.assignment));
  out["centers"] = given(std::move(result.centers));
  out["inertia"] = result.inertia;
  out["iterations"] = result.iterations;
  out["converged"] = result.converged;
  return out;
}

}  // namespace

void bind_graphs(nb::module_& m) {
  using nb::arg;
  m.def("kmeans", &cluster, arg("points").noconvert(), arg("clusters"), arg("restarts"), arg("max_iterations"),
        arg("tolerance"), arg("seed"));
  m.def(
      "connected_components",
      [](Index nodes, const EdgesIn& edges) { return given_vector(connected_components(graph_of(nodes, edges, {}))); },
      arg("nodes"), arg("edges").noconvert());
  m.def(
      "planted_partition",
      [](Index nodes, Index communities, double inside, double outside, std::uint64_t seed) {
        return edges_of(planted_partition(nodes, communities, inside, outside, seed));
      },
      arg("nodes"), arg("communities"), arg("mean_degree_inside"), arg("mean_degree_outside"), arg("seed"));
  m.def(
      "planted_communities",
      [](Index nodes, Index communities) { return given_vector(planted_communities(nodes, communities)); },
      arg("nodes"), arg("communities"));
  m.def(
      "adjusted_rand_index",
      [](const VectorIn<std::int32_t>& first, const VectorIn<std::int32_t>& second) {
        return adjusted_rand_index(labels_of(first), labels_of(second));
      },
      arg("first").noconvert(), arg("second").noconvert());
}

}  // namespace hearsay::python

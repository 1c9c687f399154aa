#include <hearsay/io/edge_list.hpp>

#include <algorithm>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearsay;
  return fuzz::run(data, size, [](std::string_view bytes) {
    const Graph graph = io::parse_edge_list(bytes, "fuzz").graph;
    fuzz::check(static_cast<Index>(graph.names.size()) == graph.nodes);
    fuzz::check(std::is_sorted(graph.edges.begin(), graph.edges.end()));
    for (const auto& [i, j] : graph.edges) fuzz::check(0 <= i && i < j && j < graph.nodes);
    fuzz::check(graph.weights.empty() || graph.weights.size() == graph.edges.size());
    for (const double weight : graph.weights) fuzz::check(weight > 0);
  });
}

#include "files/experiment_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "files/inputs.hpp"
#include "hearsay/datasets.hpp"
#include "hearsay/error.hpp"
#include "hearsay/graph_tools.hpp"
#include "hearsay/options.hpp"

namespace hearsay::app {

namespace {

using experiments::Agents;
using experiments::GraphRun;
using Loaded = std::shared_ptr<const Agents>;

// Where a data set lies, once it has shown that it is the one.
std::filesystem::path intact_directory_of(std::string_view name) {
  const io::Dataset& dataset = io::find_dataset(name);
  const std::filesystem::path directory = directory_of(dataset);
  if (io::locate(dataset, directory).missing.empty()) io::require_intact(dataset, directory);
  return directory;  // the loader tells what is missing
}

Loaded heart() {
  const auto centers = io::load_fed_heart_disease(intact_directory_of("fed-heart-disease"));
  return std::make_shared<Agents>(covariance_shards(centers.tables), GossipMatrix::ring(4));
}

// Pixels in [0, 1], less the mean of all images, on a ring of ten.
Loaded digits(bool by_label) {
  constexpr Index agents = 10;
  constexpr std::uint64_t split_seed = 5;
  const auto images = io::load_digits(intact_directory_of("digits"));
  Block<double> pixels = images.values / 16;
  pixels.rowwise() -= Block<double>(pixels.colwise().mean()).row(0);  // and divided by m, as the paper has it
  const Split split = by_label ? label_split(images.labels) : even_split(pixels.rows(), agents, split_seed);
  return std::make_shared<Agents>(covariance_shards(pixels, split), GossipMatrix::ring(agents));
}

// Nodes 0..49, with about n log n random edges to talk along besides.
Loaded ego_facebook() {
  constexpr Index nodes = 50, extra_edges = 196;
  constexpr std::uint64_t network_seed = 125;
  std::vector<std::int32_t> first(nodes);
  std::iota(first.begin(), first.end(), 0);
  const Graph friends = subgraph(io::load_ego_facebook(intact_directory_of("ego-facebook")), first);
  return std::make_shared<Agents>(node_operators(friends),
                                  GossipMatrix::metropolis(with_random_edges(friends, extra_edges, network_seed)));
}

Loaded load(const std::string& name) {
  constexpr std::string_view known[] = {"heart", "digits", "digits-by-label", "ego-facebook"};
  if (name == known[0]) return heart();
  if (name == known[1]) return digits(false);
  if (name == known[2]) return digits(true);
  if (name == known[3]) return ego_facebook();
  throw DataError(
      fmt::format("data = {}: must be one of {}{}", name, fmt::join(known, ", "), did_you_mean(name, known)));
}

experiments::AgentsRun* agents_of(experiments::Run& run) {
  if (auto* sweep = std::get_if<experiments::RoundsRun>(&run)) return &sweep->agents;
  if (auto* promise = std::get_if<experiments::PromiseRun>(&run)) return &promise->agents;
  return std::get_if<experiments::AgentsRun>(&run);
}

// The data set where it lies in the data directory, else the generated graph.
void load_graph_of(GraphRun& run) {
  constexpr std::string_view known[] = {"amazon0302", "generated"};
  if (std::find(std::begin(known), std::end(known), run.data) == std::end(known))
    throw DataError(
        fmt::format("data = {}: must be one of {}{}", run.data, fmt::join(known, ", "), did_you_mean(run.data, known)));
  const bool real = run.data == known[0] && io::locate(io::find_dataset(known[0]), data_directory()).missing.empty();
  run.stand_in = !real;
  const auto& [nodes, communities, inside, outside, seed] = run.generated;
  run.graph = std::make_shared<Graph>(real ? io::load_amazon0302(intact_directory_of("amazon0302"))
                                           : planted_partition(nodes, communities, inside, outside, seed));
}

// A reader must not take the generated graph for the real one.
void say_which(const GraphRun& run, experiments::Experiment& experiment) {
  const std::string size = fmt::format("{} nodes and {} edges", run.graph->nodes, run.graph->edges.size());
  for (experiments::Claim& claim : experiment.claims)
    if (!claim.of.empty() && (claim.of == "generated") != run.stand_in)
      claim.untested = run.stand_in ? "generated graph" : "the real graph";
  if (!run.stand_in) {
    experiment.caption += fmt::format(" The graph is Amazon0302 itself: {}.", size);
    return;
  }
  experiment.title += " (generated graph)";
  experiment.caption += fmt::format(" The graph is not Amazon0302 but a generated one with {} planted communities, {}.",
                                    run.generated.communities, size);
  for (experiments::PanelSpec& panel : experiment.panels)
    if (std::holds_alternative<GraphRun>(panel.curves.front().run)) panel.title += ", generated graph";
}

}  // namespace

void load_data(experiments::Experiment& experiment) {
  std::map<std::string, Loaded> loaded;
  std::vector<GraphRun> graphs;  // one of each graph
  for (experiments::PanelSpec& panel : experiment.panels)
    for (experiments::CurveSpec& curve : panel.curves) {
      if (auto* run = agents_of(curve.run)) {
        auto& agents = loaded[run->data];
        if (!agents) agents = load(run->data);
        run->agents = agents;
      }
      if (auto* run = std::get_if<GraphRun>(&curve.run)) {
        auto same = std::find_if(graphs.begin(), graphs.end(), [run](const GraphRun& other) {
          return other.data == run->data && other.generated == run->generated;
        });
        if (same == graphs.end()) {
          load_graph_of(*run);
          same = graphs.insert(same, *run);
        }
        run->graph = same->graph;
        run->stand_in = same->stand_in;
      }
    }
  for (const GraphRun& run : graphs) say_which(run, experiment);
}

}  // namespace hearsay::app

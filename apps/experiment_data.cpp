#include "experiment_data.hpp"

#include <fmt/format.h>

#include <map>
#include <numeric>

#include "hearsay/error.hpp"
#include "hearsay/graph_tools.hpp"
#include "hearsay/io/datasets.hpp"
#include "hearsay/options.hpp"
#include "inputs.hpp"

namespace hearsay::app {

namespace {

using experiments::Agents;
using Loaded = std::shared_ptr<const Agents>;

Loaded heart() {
  const auto centers = io::load_fed_heart_disease(data_directory());
  return std::make_shared<Agents>(covariance_shards(centers.tables), GossipMatrix::ring(4));
}

// Pixels in [0, 1], less the mean of all images, on a ring of ten.
Loaded digits(bool by_label) {
  constexpr Index agents = 10;
  constexpr std::uint64_t split_seed = 5;
  const auto images = io::load_digits(data_directory());
  const Block<double> pixels = images.values / 16;
  const Vector<double> mean = pixels.colwise().mean();
  const Split split = by_label ? label_split(images.labels) : even_split(pixels.rows(), agents, split_seed);
  return std::make_shared<Agents>(covariance_shards(pixels, split, &mean), GossipMatrix::ring(agents));
}

// Nodes 0..49, with about n log n random edges to talk along besides.
Loaded ego_facebook() {
  constexpr Index nodes = 50, extra_edges = 196;
  constexpr std::uint64_t network_seed = 125;
  std::vector<std::int32_t> first(nodes);
  std::iota(first.begin(), first.end(), 0);
  const Graph friends = subgraph(io::load_ego_facebook(data_directory()), first);
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

}  // namespace

void load_data(experiments::Experiment& experiment) {
  std::map<std::string, Loaded> loaded;
  for (experiments::PanelSpec& panel : experiment.panels)
    for (experiments::CurveSpec& curve : panel.curves)
      if (auto* run = std::get_if<experiments::AgentsRun>(&curve.run)) {
        auto& agents = loaded[run->data];
        if (!agents) agents = load(run->data);
        run->agents = agents;
      }
}

}  // namespace hearsay::app

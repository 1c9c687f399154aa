// Networks, gossip, and PCA by agents that gossip.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bindings.hpp"
#include "hearsay/error.hpp"
#include "hearsay/gossip.hpp"
#include "hearsay/network.hpp"
#include "hearsay/solve_decentralized.hpp"

namespace hearsay::python {

namespace {

// The enumerator of that name.
template <class Enum, std::size_t N>
Enum named(const char* what, const std::string& text, const std::array<Enum, N>& all) {
  for (const Enum value : all)
    if (text == name(value)) return value;
  std::vector<std::string_view> known;
  for (const Enum value : all) known.emplace_back(name(value));
  throw InvalidArgument(
      fmt::format("{} = {}: must be one of {}{}", what, text, fmt::join(known, "|"), did_you_mean(text, known)));
}

GossipKind gossip_named(const std::string& text) {
  return named("gossip", text, std::array{GossipKind::plain, GossipKind::accelerated, GossipKind::chebyshev});
}

nb::tuple traffic_of(const Traffic& traffic) {
  return nb::make_tuple(traffic.rounds, traffic.control_rounds, traffic.messages, traffic.bytes);
}

nb::tuple csr_arrays(const CsrMatrix<double>& W) {
  return nb::make_tuple(given_vector(std::vector(W.values)), given_vector(std::vector(W.columns)),
                        given_vector(std::vector(W.row_start)));
}

GossipMatrix matrix_from_rows(const VectorIn<std::int64_t>& row_start, const VectorIn<std::int32_t>& columns,
                              const VectorIn<double>& values) {
  const auto rows = static_cast<Index>(row_start.size()) - 1;
  return GossipMatrix::from(CsrMatrix<double>{.rows = rows,
                                              .cols = rows,
                                              .row_start = {row_start.data(), row_start.data() + row_start.size()},
                                              .columns = {columns.data(), columns.data() + columns.size()},
                                              .values = {values.data(), values.data() + values.size()}});
}

nb::tuple average(const GossipMatrix& W, const std::string& kind, Index rounds, const MatrixIn<double>& Z) {
  LocalNetwork net(W);
  Block<double> mixed = [&] {
    const nb::gil_scoped_release no_gil;
    return gossip(net, gossip_named(kind), rounds, copied<double>(Z));
  }();
  return nb::make_tuple(given(std::move(mixed)), traffic_of(net.traffic()));
}

ArrayOut<double> history_of(const std::vector<DecentralizedEntry>& history) {
  std::vector<double> numbers;
  for (const DecentralizedEntry& e : history)
    numbers.insert(numbers.end(),
                   {static_cast<double>(e.t), static_cast<double>(e.rounds), static_cast<double>(e.bytes),
                    static_cast<double>(e.rounds_next), e.residual, e.disagreement, e.momentum, e.sin_theta});
  return given_vector(std::move(numbers), 8);
}

nb::object bar_of(const ErrorBar& bar) {
  if (!bar.exists()) return nb::none();
  return nb::make_tuple(name(bar.kind), bar.sin_theta, bar.spread, bar.common);
}

}  // namespace

nb::dict dictionary_of(DecentralizedResult&& result, bool interrupted) {
  nb::dict out;
  nb::list bases;
  for (Block<double>& basis : result.bases) bases.append(given(std::move(basis)));
  out["bases"] = bases;
  out["eigenvalues"] = given(std::move(result.eigenvalues));
  out["exponent"] = result.exponent;
  out["status"] = name(result.status);
  out["interrupted"] = interrupted;
  out["iterations"] = result.iterations;
  out["residual"] = result.residual;
  out["disagreement"] = result.disagreement;
  out["agreement"] = result.agreement;
  out["evidence"] = name(result.evidence);
  out["eigenvalue_agreement"] = result.eigenvalue_agreement;
  out["defined_rank"] = result.defined_rank;
  out["defined_agreement"] = result.defined_agreement;
  out["cluster"] = result.cluster.first > 0 ? nb::object(nb::make_tuple(result.cluster.first, result.cluster.last))
                                            : nb::object(nb::none());
  out["error_bar"] = bar_of(result.bar);
  out["rounds_per_iteration"] = result.rounds_per_iteration;
  out["restarts"] = result.restarts;
  out["traffic"] = traffic_of(result.traffic);
  out["momentum"] = result.momentum;
  out["damping"] = result.damping == Damping::centred ? "centred" : "symmetric";
  out["columns"] = result.columns;
  out["columns_at_start"] = result.columns_at_start;
  out["message_noise"] = result.message_noise.last;
  out["conservation_error"] = result.conservation_error;
  out["digest"] = result.digest;
  out["history"] = history_of(result.history);
  out["notes"] = nb::cast(result.notes);
  return out;
}

std::pair<DecentralizedSettings, SolveSettings> decentralized_settings_from(const Options& options) {
  DecentralizedSettings network;
  Options others;
  for (const auto& option : options)
    if (!set_option(network, option.first, option.second)) others.push_back(option);
  SolveSettings settings = settings_from(others);
  require(!settings.optimal_momentum, "momentum = optimal: must be given as a number where no one knows the spectrum");
  return {network, settings};
}

namespace {

nb::tuple decentralized(const GossipMatrix& W, const std::vector<MatrixIn<double>>& tables, bool centred,
                        const Options& options, const std::optional<MatrixIn<double>>& reference, nb::object callback) {
  const auto [network, settings] = decentralized_settings_from(options);
  Watcher watch(std::move(callback));
  Shards shards{.agents = static_cast<Index>(tables.size())};
  for (const auto& table : tables) {
    shards.local.push_back(static_cast<Index>(shards.rows.size()));
    shards.rows.push_back(copied<double>(table));
  }
  DecentralizedRequest request{.network = network, .settings = settings};
  if (reference) request.reference = copied<double>(*reference);
  request.observe = [&watch](const DecentralizedEntry& entry) {
    return watch([&entry](const nb::object& function) { return function(entry); });
  };

  Vector<double> mean;
  DecentralizedSolution solution = [&] {
    const nb::gil_scoped_release no_gil;
    AloneTransport here;
    const ShardTotals totals = totals_of(here, shards);
    mean = totals.mean;
    const AgentData agents{.shards = covariance_shards(std::move(shards), totals, centred), .centred = centred};
    return solve_decentralized(here, W, agents, request);
  }();
  return nb::make_tuple(dictionary_of(std::move(solution.result), watch.interrupted()), given(std::move(mean)));
}

}  // namespace

void bind_network(nb::module_& m) {
  using nb::arg;
  m.def(
      "ring_graph", [](Index nodes) { return edges_of(ring_graph(nodes)); }, arg("nodes"));
  m.def(
      "path_graph", [](Index nodes) { return edges_of(path_graph(nodes)); }, arg("nodes"));
  m.def(
      "star_graph", [](Index nodes) { return edges_of(star_graph(nodes)); }, arg("nodes"));
  m.def(
      "complete_graph", [](Index nodes) { return edges_of(complete_graph(nodes)); }, arg("nodes"));
  m.def(
      "grid_graph", [](Index rows, Index columns) { return edges_of(grid_graph(rows, columns)); }, arg("rows"),
      arg("columns"));
  m.def(
      "torus_graph", [](Index rows, Index columns) { return edges_of(torus_graph(rows, columns)); }, arg("rows"),
      arg("columns"));
  m.def(
      "erdos_renyi_graph",
      [](Index nodes, double probability, std::uint64_t seed) {
        return edges_of(erdos_renyi_graph(nodes, probability, seed));
      },
      arg("nodes"), arg("probability"), arg("seed"));
  m.def(
      "random_regular_graph",
      [](Index nodes, Index degree, std::uint64_t seed) { return edges_of(random_regular_graph(nodes, degree, seed)); },
      arg("nodes"), arg("degree"), arg("seed"));

  nb::class_<GossipMatrix>(m, "GossipMatrix", "W: symmetric, non-negative, doubly stochastic; checked.")
      .def_static("ring", &GossipMatrix::ring, arg("agents"))
      .def_static(
          "metropolis",
          [](Index nodes, const EdgesIn& edges) { return GossipMatrix::metropolis(graph_of(nodes, edges, {})); },
          arg("nodes"), arg("edges").noconvert())
      .def_static("from_rows", &matrix_from_rows, arg("row_start").noconvert(), arg("columns").noconvert(),
                  arg("values").noconvert())
      .def("lazy", [](const GossipMatrix& W) { return GossipMatrix::lazy(W); })
      .def_prop_ro("agents", &GossipMatrix::agents)
      .def_prop_ro("edges", &GossipMatrix::edges)
      .def_prop_ro("diameter", &GossipMatrix::diameter)
      .def("rows", [](const GossipMatrix& W) { return csr_arrays(W.matrix()); })
      .def("spectrum", [](const GossipMatrix& W) {
        const nb::gil_scoped_release no_gil;
        return gossip_spectrum(W);
      });
  nb::class_<GossipSpectrum>(m, "GossipSpectrum")
      .def(
          "__init__", [](GossipSpectrum* self, double lo, double hi) { new (self) GossipSpectrum{.lo = lo, .hi = hi}; },
          arg("lo"), arg("hi"))
      .def_ro("lo", &GossipSpectrum::lo)
      .def_ro("hi", &GossipSpectrum::hi)
      .def_ro("measured", &GossipSpectrum::measured)
      .def_prop_ro("gap", &GossipSpectrum::gap);
  m.def(
      "gossip_contraction",
      [](const std::string& kind, const GossipSpectrum& spectrum, Index rounds) {
        return gossip_contraction(gossip_named(kind), spectrum, rounds);
      },
      arg("kind"), arg("spectrum"), arg("rounds"));
  m.def(
      "gossip_rounds",
      [](const std::string& kind, const GossipSpectrum& spectrum, double goal) {
        return gossip_rounds(gossip_named(kind), spectrum, goal);
      },
      arg("kind"), arg("spectrum"), arg("goal"));
  m.def("gossip", &average, arg("matrix"), arg("kind"), arg("rounds"), arg("values").noconvert());

  nb::class_<DecentralizedEntry>(m, "DecentralizedIteration", "One iteration of all agents, as a callback sees it.")
      .def_ro("t", &DecentralizedEntry::t)
      .def_ro("rounds", &DecentralizedEntry::rounds)
      .def_ro("bytes", &DecentralizedEntry::bytes)
      .def_ro("rounds_next", &DecentralizedEntry::rounds_next)
      .def_ro("residual", &DecentralizedEntry::residual)
      .def_ro("disagreement", &DecentralizedEntry::disagreement)
      .def_ro("momentum", &DecentralizedEntry::momentum)
      .def_ro("sin_theta", &DecentralizedEntry::sin_theta);
  m.def("decentralized_pca", &decentralized, arg("matrix"), arg("shards"), arg("centred"), arg("options"),
        arg("reference").noconvert().none(), arg("callback").none());
}

}  // namespace hearsay::python

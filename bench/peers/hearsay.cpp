// bench_peers INSTANCE_DIR: hearsay's worker for bench/peers.
// bench_peers graph NODES COMMUNITIES INSIDE OUTSIDE SEED FILE.npy: writes the edges of a planted graph.
#include <hearsay/graph_tools.hpp>
#include <hearsay/mixed.hpp>
#include <hearsay/noise.hpp>
#include <hearsay/operators/covariance.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/pca.hpp>
#include <hearsay/subspace.hpp>

#include <cmath>
#include <optional>

#include "worker.hpp"

namespace {

using namespace hearsay;
using bench::Json;

// `hearsay eigs --psd`: the user's word that no eigenvalue is negative.
template <class S>
struct PositiveSemidefinite {
  using Scalar = S;
  DenseSymmetric<S> matrix;

  Index dim() const { return matrix.dim(); }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const { matrix.apply(X, Y); }
  OperatorFacts facts() const {
    OperatorFacts facts = OperatorRef<S>(matrix).facts();
    facts.positive_semidefinite = true;
    return facts;
  }
  double norm_bound() const { return matrix.norm_bound(); }
};

struct Instance {
  std::string kind;      // dense, graph, samples
  Block<double> matrix;  // dense: A; samples: Phi
  Graph graph;
  std::optional<NormalisedGraph<double>> of_graph;
};

Instance read_instance(const std::filesystem::path& directory) {
  const Json about = Json::parse(std::ifstream(directory / "about.json"));
  Instance instance;
  instance.kind = about.at("kind");
  if (instance.kind == "graph") {
    const auto edges = bench::read_array<std::int32_t>(directory / "edges.npy");
    instance.graph.nodes = about.at("dimension");
    for (std::size_t i = 0; i < edges.values.size(); i += 2)
      instance.graph.edges.emplace_back(edges.values[i], edges.values[i + 1]);
    instance.of_graph.emplace(instance.graph);
  } else {
    const auto array = bench::read_array<double>(directory / "matrix.npy");
    instance.matrix = Eigen::Map<const Block<double>>(array.values.data(), array.rows, array.cols);
  }
  return instance;
}

// Settings: accuracy; method auto or anpm; precision double or mixed.
PowerResult<double> solve(const Instance& instance, const Json& command) {
  const Json& setting = command.at("setting");
  const bool mixed = setting.value("precision", "double") == "mixed";
  PowerOptions options{.rank = command.at("rank"), .seed = command.at("seed")};
  if (setting.value("method", "auto") == "anpm") options.method = SolveMethod::anpm;
  if (command.contains("noise")) {
    const Json& noise = command.at("noise");
    const auto model = gaussian_noise<double>(noise.at("sigma"), noise.at("seed"));
    options.product_budget = noise.at("budget").get<Index>();
    if (instance.of_graph) return principal_subspace<double>(noisy(*instance.of_graph, model), options);
    const PositiveSemidefinite<double> A{DenseSymmetric<double>(instance.matrix)};
    return principal_subspace<double>(noisy(A, model), options);
  }

  options.accuracy = setting.at("accuracy").get<double>();
  options.max_iterations = 100000;
  if (instance.kind == "graph") {
    if (!mixed) return principal_subspace<double>(*instance.of_graph, options);
    return mixed_precision_subspace(NormalisedGraph<float>(instance.graph), *instance.of_graph, options);
  }
  if (instance.kind == "samples") {
    if (!mixed) return pca<double>(instance.matrix, {.power = options}).power;
    const Block<float> single = in_single_precision(borrow(instance.matrix));
    return mixed_precision_subspace(DenseCovariance<float>(single),
                                    DenseCovariance<double>(instance.matrix, {.form_at_once = false}), options);
  }
  const PositiveSemidefinite<double> A{DenseSymmetric<double>(instance.matrix)};
  if (!mixed) return principal_subspace<double>(A, options);
  const Block<float> single = in_single_precision(borrow(instance.matrix));
  return mixed_precision_subspace(PositiveSemidefinite<float>{DenseSymmetric<float>(single)}, A, options);
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// As `hearsay --json` has it; what the exam holds it to.
Json certificate_json(const Certificate& certificate) {
  Json json;
  json["level"] = name(certificate.level);
  json["residual"] = number(certificate.residual);
  json["sin_theta"] = {{"word", name(certificate.sin_theta)},
                       {"bound", number(certificate.sin_theta_bound)},
                       {"estimate", number(certificate.sin_theta_estimate)}};
  json["nothing_missed"] = {{"word", name(certificate.nothing_missed)},
                            {"above", number(certificate.nothing_missed_above)},
                            {"count", certificate.nothing_missed_count},
                            {"probability", number(certificate.nothing_missed_probability)}};
  json["cluster"] = nullptr;
  if (const auto& cluster = certificate.cluster)
    json["cluster"] = {{"first", cluster->first},
                       {"last", cluster->last},
                       {"open", cluster->open},
                       {"spread", number(cluster->spread)},
                       {"sin_theta", number(cluster->sin_theta)},
                       {"word", name(cluster->kind)}};
  return json;
}

Json answer(const Instance& instance, const Json& command) {
  if (command.contains("instance")) {
    Json own = command;
    own.erase("instance");
    return answer(read_instance(command.at("instance").get<std::string>()), own);
  }
  PowerResult<double> result;
  Json reply = bench::measured([&] { result = solve(instance, command); });
  bench::write_array(command.at("basis").get<std::string>(), result.basis.data(), result.basis.rows(),
                     result.basis.cols());
  reply["products"] = result.products;
  reply["passes"] = result.passes;
  reply["status"] = name(result.status);
  reply["success"] = result.status == Status::converged;
  reply["sin_theta_estimate"] =
      std::isfinite(result.sin_theta_estimate) ? Json(result.sin_theta_estimate) : Json(nullptr);
  reply["certificate"] = certificate_json(result.certificate);
  reply["bar"] = {{"kind", name(result.bar.kind)}, {"sin_theta", number(result.bar.sin_theta)}};
  reply["method"] = name(result.method);
  reply["iterations"] = result.iterations;
  reply["columns"] = result.columns;
  reply["notes"] = result.notes;
  return reply;
}

int make_graph(char** argument) {
  const Graph graph = planted_partition(std::stoll(argument[0]), std::stoll(argument[1]), std::stod(argument[2]),
                                        std::stod(argument[3]), std::stoull(argument[4]));
  std::vector<double> edges;
  for (const auto& [i, j] : graph.edges) edges.insert(edges.end(), {double(i), double(j)});
  bench::write_array(argument[5], edges.data(), std::int64_t(graph.edges.size()), 2);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 8 && std::string_view(argv[1]) == "graph") return make_graph(argv + 2);
  if (argc != 2) {
    std::cerr << "bench_peers INSTANCE_DIR | graph NODES COMMUNITIES INSIDE OUTSIDE SEED FILE.npy\n";
    return 2;
  }
  const Instance instance = read_instance(argv[1]);
  return bench::serve([&](const Json& command) { return answer(instance, command); });
} catch (const std::exception& error) {
  std::cerr << "bench_peers: " << error.what() << '\n';
  return 1;
}

// hearsay plan: what the theory promises, before anything is run.
#include "hearsay/plan.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "commands/holding.hpp"
#include "commands/network.hpp"
#include "commands/private.hpp"
#include "files/convert.hpp"
#include "files/delivery.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "files/provenance.hpp"
#include "hearsay/error.hpp"
#include "hearsay/operators/covariance.hpp"
#include "hearsay/operators/stored.hpp"
#include "hearsay/power.hpp"
#include "hearsay/spectrum.hpp"
#include "reports/plan_table.hpp"

namespace hearsay::app {

namespace {

double required_real(const Job& job, std::string_view name) {
  const auto value = job.real(name);
  require(value.has_value(), fmt::format("{}: must be given, or --data or --matrix to take it from", name));
  return *value;
}

Spectrum spectrum_of_data(const Job& job) {
  const io::Data data = load_samples(job);
  return std::visit(
      [&job](const auto& matrix) {
        const auto& widened = in<double>(matrix);
        if constexpr (requires { matrix.col(0); })
          return find_spectrum<double>(DenseCovariance<double>(widened, {.center = job.center}), job.solve.power);
        else
          return find_spectrum<double>(SparseCovariance<double>(widened, job.center), job.solve.power);
      },
      data.matrix);
}

Spectrum spectrum_of_matrix(const Job& job) {
  const io::Data data = load_symmetric(job.input);
  return std::visit(
      [&job](const auto& matrix) {
        const auto& widened = in<double>(matrix);
        if constexpr (requires { matrix.col(0); })
          return find_spectrum<double>(DenseSymmetric<double>(widened), job.solve.power);
        else
          return find_spectrum<double>(SparseSymmetric<double>(widened), job.solve.power);
      },
      data.matrix);
}

// The file that --data or --matrix names; empty when neither is given.
std::string named_file(const Job& job) {
  const auto data = job.given.find("data"), matrix = job.given.find("matrix");
  require(data == job.given.end() || matrix == job.given.end(), "matrix: must not be given together with --data");
  return data != job.given.end() ? data->second : matrix != job.given.end() ? matrix->second : std::string();
}

// The eigenvalues of that file.
void take_spectrum(const Job& job, theory::PlanRequest& request, std::vector<std::string>& notes) {
  const Spectrum spectrum = job.given.contains("data") ? spectrum_of_data(job) : spectrum_of_matrix(job);
  request.dimension = spectrum.dimension;
  request.lambda_1 = spectrum.values(0);
  request.lambda_k = spectrum.lambda_k;
  request.lambda_next = spectrum.lambda_next;
  if (spectrum.values.size() == spectrum.dimension)
    for (const double value : spectrum.values) request.eigenvalues.push_back(std::max(0.0, value));
  notes.push_back(fmt::format("The eigenvalues of {} come from {}.", job.input, spectrum.source));
}

// The network with which a plan is made: of a topology or of bare numbers, and of shards where there are data.
struct Planned {
  std::optional<theory::PlanNetwork> facts = {};
  std::optional<GossipMatrix> W = {};
};

// max ||A_i||: shards are positive semidefinite, so their largest eigenvalues say it.
double largest_norm(const Assembly& assembly) {
  double largest = 0;
  for (const auto& A_i : assembly.data.operators()) {
    const auto solved = accelerated_power<double>(A_i, {.rank = 1, .tolerance = 1e-8});
    largest = std::max(largest, std::ldexp(solved.eigenvalues(0), solved.exponent));
  }
  return largest;
}

bool has_shards(const Job& job) {
  require(job.text("split", "") != "by-node", "split = by-node: cannot be planned; give --max-norm and --topology");
  return job.given.contains("data") && (job.given.contains("agents") || job.given.contains("split"));
}

Planned network(Job job) {
  Planned planned;
  const bool shaped = job.given.contains("topology") || job.given.contains("weights");
  auto agents = job.integer("agents", 1);
  std::optional<double> norm = job.real("max-norm");
  std::string norm_source = "given";
  if (!norm && has_shards(job)) {
    job.inputs = {job.input};
    AloneTransport alone;
    const Assembly assembly = assemble(read_holding(job, alone), job, alone);
    agents = assembly.agents;
    norm = largest_norm(assembly);
    norm_source = "of the shards of " + job.input;
  }
  if (!agents) {
    require(!shaped, "agents: must be given for a network (--agents N)");
    return planned;
  }
  planned.facts = theory::PlanNetwork{.agents = *agents,
                                      .spectral_gap = job.real("gossip-gap").value_or(1.0),
                                      .local_norm = norm,
                                      .degree = job.real("degree").value_or(2.0),
                                      .norm_source = norm_source};
  if (!shaped) return planned;
  require(!job.given.contains("gossip-gap") && !job.given.contains("degree"),
          "gossip-gap, degree: must not be given together with --topology or --weights, which settle them");
  planned.W = gossip_matrix(job, *agents);
  const GossipSpectrum spectrum = gossip_spectrum(*planned.W);
  planned.facts->spectral_gap = spectrum.gap();
  planned.facts->gap_source = fmt::format("W has eigenvalues in [{:.4f}, {:.4f}] and 1, {}", spectrum.lo, spectrum.hi,
                                          planned.W->known_spectrum() ? "in closed form"
                                          : spectrum.measured         ? "measured"
                                                                      : "bounded");
  planned.facts->degree = 2 * static_cast<double>(planned.W->edges()) / static_cast<double>(*agents);
  return planned;
}

// What a run of so many iterations, of so many rounds each, will send: known to the byte.
std::optional<PlannedTraffic> traffic_of(const Job& job, Index dimension, const std::optional<GossipMatrix>& W) {
  const auto rounds = job.integer("rounds", 1);
  if (!rounds) return std::nullopt;
  require(W.has_value(), "rounds: needs --agents and --topology, to count what the edges carry");
  require(job.given.contains("max-iterations"), "rounds: needs --iterations too, to count what is sent");
  PlannedTraffic planned{.rounds_per_iteration = *rounds,
                         .iterations = iteration_limit(job.solve.power),
                         .edges = W->edges(),
                         .precision = job.network.precision,
                         .rows = {}};
  for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm, Algorithm::deepca, Algorithm::adeepca})
    planned.rows.emplace_back(algorithm, planned_traffic(*W, dimension,
                                                         {.algorithm = algorithm,
                                                          .rank = job.solve.power.rank,
                                                          .rounds = *rounds,
                                                          .max_iterations = planned.iterations},
                                                         planned.precision));
  return planned;
}

int run_plan(Job job) {
  refuse_without_dp(job);
  if (job.given.contains("dp")) return run_private_plan(job);
  job.input = named_file(job);
  check_outputs(job);
  require(job.given.contains("rank"), "rank: must be given (-k K)");
  require(job.solve.rank_rule.kind == RankRule::Kind::count,
          fmt::format("rank = {}: must be a whole number of at least 1", job.text("rank", "")));
  theory::PlanRequest request;
  std::vector<std::string> notes;
  request.rank = job.solve.power.rank;
  if (!job.input.empty()) {
    take_spectrum(job, request, notes);
  } else {
    const auto dimension = job.given.find("dimension");
    require(dimension != job.given.end(), "dimension: must be given, or --data or --matrix to take it from");
    request.dimension = parse_integer("dimension", dimension->second, 2);
    request.lambda_k = required_real(job, "lambda-k");
    request.lambda_next = required_real(job, "lambda-next");
    request.lambda_1 = job.real("lambda-1").value_or(request.lambda_k);
  }
  request.epsilon = job.real("epsilon").value_or(request.epsilon);
  request.h0 = job.real("start-tangent");
  request.noise = job.real("noise-level");
  request.noise_sigma = job.real("noise-sigma");
  request.small_beta = job.real("small-beta");
  const Planned planned = network(job);
  request.network = planned.facts;

  theory::Plan plan = theory::plan(request);
  plan.notes.insert(plan.notes.begin(), notes.begin(), notes.end());
  const auto traffic = traffic_of(job, request.dimension, planned.W);
  Delivery delivery;
  delivery.json(job.json, [&] {
    Json json = plan_json(request, plan, traffic);
    json["provenance"] = provenance_json(job);
    return json;
  });
  if (!job.prints_json()) delivery.print(plan_text(request, plan, traffic));
  return delivery.finish(done);
}

}  // namespace

void add_plan(CLI::App& root, Action& action) {
  add_command(
      root, action,
      {.name = "plan",
       .summary = "What the theory promises: iterations, noise tolerated, gossip rounds",
       .footer =
           "Examples:\n"
           "  hearsay plan --dimension 1000 -k 10 --lambda-k 1 --lambda-next 0.99 --epsilon 1e-2 --noise-level 1e-4\n"
           "  hearsay plan --dimension 1000 -k 10 --lambda-k 1 --lambda-next 0.99 --epsilon 1e-4 --noise-sigma 1e-5\n"
           "  hearsay plan --data digits -k 9 --epsilon 1e-3 --agents 10 --topology ring\n"
           "  hearsay plan --data digits -k 9 --split by-label --topology erdos:0.5 --rounds 5 --iterations 100\n"
           "  hearsay plan --matrix kernel.npy -k 5 --json plan.json\n"
           "  hearsay plan --dp 1,1e-6 --row-norm 10 --public-rows 50000 --dimension 500 -k 10 --spectrum i^-1",
       .options = in_plan},
      run_plan);
}

}  // namespace hearsay::app

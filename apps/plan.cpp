// hearsay plan: what the theory promises, before anything is run.
#include "hearsay/plan.hpp"

#include <fmt/format.h>

#include "commands.hpp"
#include "convert.hpp"
#include "hearsay/error.hpp"
#include "hearsay/operators/covariance.hpp"
#include "hearsay/operators/stored.hpp"
#include "inputs.hpp"
#include "outputs.hpp"
#include "plan_table.hpp"

namespace hearsay::app {

namespace {

double required_real(const Job& job, std::string_view name) {
  const auto value = job.real(name);
  require(value.has_value(), fmt::format("{}: must be given, or --data or --matrix to take it from", name));
  return *value;
}

Spectrum spectrum_of_data(const Job& job) {
  const io::Data data = load_samples(job);
  if (const auto* sparse = std::get_if<CsrMatrix<double>>(&data.matrix))
    return find_spectrum<double>(SparseCovariance<double>(*sparse, job.center), job.solve);
  if (const auto* dense = std::get_if<Block<double>>(&data.matrix))
    return find_spectrum<double>(DenseCovariance<double>(*dense, {.center = job.center}), job.solve);
  const Block<double> widened = in<double>(std::get<Block<float>>(data.matrix));
  return find_spectrum<double>(DenseCovariance<double>(widened, {.center = job.center}), job.solve);
}

Spectrum spectrum_of_matrix(const Job& job) {
  const io::Data data = load_symmetric(job.input);
  if (const auto* sparse = std::get_if<CsrMatrix<double>>(&data.matrix))
    return find_spectrum<double>(SparseSymmetric<double>(*sparse), job.solve);
  if (const auto* dense = std::get_if<Block<double>>(&data.matrix))
    return find_spectrum<double>(DenseSymmetric<double>(*dense), job.solve);
  const Block<double> widened = in<double>(std::get<Block<float>>(data.matrix));
  return find_spectrum<double>(DenseSymmetric<double>(widened), job.solve);
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
  request.lambda_k1 = spectrum.lambda_next;
  if (spectrum.values.size() == spectrum.dimension)
    for (const double value : spectrum.values) request.eigenvalues.push_back(std::max(0.0, value));
  notes.push_back(fmt::format("The eigenvalues of {} come from {}.", job.input, spectrum.source));
}

std::optional<theory::PlanNetwork> network(const Job& job) {
  const auto agents = job.given.find("agents");
  if (agents == job.given.end()) return std::nullopt;
  return theory::PlanNetwork{.agents = parse_integer("agents", agents->second, 1),
                             .spectral_gap = job.real("gossip-gap").value_or(1.0),
                             .local_norm = job.real("max-norm"),
                             .degree = job.real("degree").value_or(2.0)};
}

int run(Job job) {
  job.input = named_file(job);
  check_outputs(job);
  require(job.given.contains("rank"), "rank: must be given (-k K)");
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
    request.lambda_k1 = required_real(job, "lambda-next");
    request.lambda_1 = job.real("lambda-1").value_or(request.lambda_k);
  }
  request.epsilon = job.real("epsilon").value_or(request.epsilon);
  request.h0 = job.real("start-tangent");
  request.noise = job.real("noise-level");
  request.small_beta = job.real("small-beta");
  request.network = network(job);

  theory::Plan plan = theory::plan(request);
  plan.notes.insert(plan.notes.begin(), notes.begin(), notes.end());
  write_json(job.json, plan_json(request, plan));
  if (!job.prints_json()) fmt::print("{}", plan_text(request, plan));
  return done;
}

}  // namespace

void add_plan(CLI::App& root, Action& action) {
  CLI::App* app = root.add_subcommand("plan", "What the theory promises: iterations, noise tolerated, gossip rounds");
  auto job = std::make_shared<Job>();
  job->command = "plan";
  add_options(*app, in_plan, *job);
  app->footer(
      "Examples:\n"
      "  hearsay plan --dimension 1000 -k 10 --lambda-k 1 --lambda-next 0.99 --epsilon 1e-2 --noise-level 1e-4\n"
      "  hearsay plan --data digits -k 9 --epsilon 1e-3 --agents 10 --gossip-gap 0.0955 --degree 2\n"
      "  hearsay plan --matrix kernel.npy -k 5 --json plan.json");
  app->callback([job, &action] { action = [job] { return run(*job); }; });
}

}  // namespace hearsay::app

// hearsay decentralized: agents that will not share their data find its principal components by gossip.
#include "hearsay/decentralized.hpp"

#include <fmt/format.h>

#include <chrono>

#include "commands.hpp"
#include "decentralized_report.hpp"
#include "federation.hpp"
#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/gossip.hpp"
#include "hearsay/operators/compose.hpp"
#include "inputs.hpp"
#include "network.hpp"
#include "outputs.hpp"
#include "spectrum.hpp"
#include "terminal.hpp"

namespace hearsay::app {
namespace {

// A = (1/n) sum A_i, which nobody has but a simulation.
Spectrum pooled_spectrum(const Job& job, const std::vector<OperatorRef<double>>& A) {
  return find_spectrum<double>(SumOperator<double>(A, 1 / static_cast<double>(A.size())), job.solve);
}

// What is asked of the pooled data: the answer to compare with, and the momentum that takes lambda_{k+1}.
struct Pooled {
  std::optional<Block<double>> reference;
  DecentralizedOptions options;
  std::vector<std::string> notes;
};

Pooled look_ahead(const Job& job, const Federation& federation, const std::vector<OperatorRef<double>>& A) {
  Pooled known{.reference = {}, .options = settle(job.network, job.solve), .notes = {}};
  const Index d = federation.held.dimension, k = known.options.rank;
  require(k <= d, fmt::format("rank = {}: must lie in [1, {}]", k, d));
  // Not each A_i need be positive semidefinite where agents are nodes, but their average is.
  if (federation.graph && known.options.damping == Damping::automatic &&
      known.options.momentum.rule == Momentum::Rule::automatic)
    known.options.damping = Damping::centred;
  const bool exact = job.reference == "exact";
  if (!exact) known.reference = load_reference(job.reference, d, k);
  if (!exact && !job.solve.optimal_momentum) return known;
  require(!exact || d <= largest_dense_dimension,
          fmt::format("reference = exact: is computed up to dimension {}; this is {}", largest_dense_dimension, d));
  const Spectrum spectrum = pooled_spectrum(job, A);
  if (exact) known.reference = Block<double>(spectrum.vectors.leftCols(k));
  if (job.solve.optimal_momentum) {
    known.options.momentum = Momentum::optimal(spectrum.lambda_next);
    known.notes.push_back(fmt::format("optimal momentum: lambda_(k+1) = {:.10g}, from {} of the pooled data",
                                      spectrum.lambda_next, spectrum.source));
  }
  return known;
}

// "basis-{agent}.npy" is a file for each agent; any other name is one for the first.
void write_components(const std::filesystem::path& path, const std::vector<Block<double>>& bases) {
  if (path.empty()) return;
  const std::string name = path.string();
  constexpr std::string_view place = "{agent}";
  const std::size_t at = name.find(place);
  if (at == std::string::npos) return write_block(path, bases.front());
  for (std::size_t i = 0; i < bases.size(); ++i) {
    std::string own = name;
    write_block(own.replace(at, place.size(), std::to_string(i)), bases[i]);
  }
}

int run(Job job) {
  require(!job.inputs.empty(), "DATA: must name a file, a directory or a data set");
  job.input = job.inputs.front();
  check(job);
  check_outputs(job);
  const Federation federation = load_federation(job);
  const auto A = federation.operators();
  const GossipMatrix W = gossip_matrix(job, federation.agents(), federation.graph ? &*federation.graph : nullptr);
  const Pooled known = look_ahead(job, federation, A);
  LocalNetwork net(W, job.network.precision);

  const InterruptGuard interrupt;
  DecentralizedHooks hooks{.reference = known.reference ? &*known.reference : nullptr};
  DecentralizedResult result;
  const auto begin = std::chrono::steady_clock::now();
  {
    ProgressLine progress(job.quiet);
    hooks.observe = [&](const DecentralizedEntry& entry) {
      if (progress.due()) progress.show(progress_text(entry, known.options.tolerance));
      return !interrupt.interrupted();
    };
    result = decentralized_pca(net, A, known.options, hooks);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.notes.insert(result.notes.begin(), known.notes.begin(), known.notes.end());
  if (interrupt.interrupted()) result.notes.push_back("interrupted: these are the best bases so far");

  DecentralizedReport report{.job = job,
                             .held = federation.held,
                             .W = W,
                             .spectrum = net.spectrum(),
                             .options = known.options,
                             .result = result,
                             .seconds = seconds};
  if (known.reference)
    for (const Block<double>& basis : result.bases) report.sines.push_back(sin_theta<double>(*known.reference, basis));
  write_components(job.components, result.bases);
  if (!job.trace.empty()) write_text(job.trace, trace_csv(result));
  write_json(job.json, result_json(report));
  if (!job.prints_json()) fmt::print("{}", summary(report));
  const bool as_asked = known.options.tolerance == 0 && result.status == Status::iteration_limit;
  return as_asked ? done : exit_code(result.status);
}

}  // namespace

void add_decentralized(CLI::App& root, Action& action) {
  CLI::App* app = root.add_subcommand("decentralized", "PCA among agents that gossip and never pool their data");
  auto job = std::make_shared<Job>();
  job->command = "decentralized";
  app->add_option("DATA", job->inputs,
                  "Samples in rows, to be split; or a file for each agent, or a directory of them; or a data set")
      ->type_name("")
      ->required();
  add_options(*app, in_decentralized, *job);
  app->footer(
      "Examples:\n"
      "  hearsay decentralized digits -k 9 --agents 10\n"
      "  hearsay decentralized digits -k 9 --split by-label --topology erdos:0.5 --reference exact\n"
      "  hearsay decentralized boston.csv leeds.csv oslo.csv -k 5 --components basis-{agent}.npy\n"
      "  hearsay decentralized ego-facebook --split by-node --nodes 50 --extra-edges 196 -k 4 --trace curves.csv\n"
      "  hearsay decentralized digits -k 9 --agents 10 --message-precision bfloat16 --json -");
  app->callback([job, &action] { action = [job] { return run(*job); }; });
}

}  // namespace hearsay::app

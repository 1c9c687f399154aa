// hearsay decentralized: agents that will not share their data find its principal components by gossip.
#include "hearsay/decentralized.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "commands/alike.hpp"
#include "commands/commands.hpp"
#include "commands/federation.hpp"
#include "commands/network.hpp"
#include "commands/terminal.hpp"
#include "files/delivery.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "formats/faults_file.hpp"
#include "hearsay/angles.hpp"
#include "hearsay/decentralized_on_ranks.hpp"
#include "hearsay/error.hpp"
#include "hearsay/faults.hpp"
#include "hearsay/gossip.hpp"
#include "hearsay/io/regular_file.hpp"
#include "hearsay/operators/compose.hpp"
#include "hearsay/spectrum.hpp"
#include "reports/decentralized_report.hpp"
#include "reports/run_page.hpp"

namespace hearsay::app {
namespace {

// A = (1/n) sum A_i, which nobody has but a simulation.
Spectrum pooled_spectrum(const Job& job, const std::vector<OperatorRef<double>>& A) {
  return find_spectrum<double>(SumOperator<double>(A, 1 / static_cast<double>(A.size())), job.solve.power);
}

// What is asked of the pooled data: the answer to compare with, and the momentum that takes lambda_{k+1}.
struct Pooled {
  std::optional<Block<double>> reference;
  DecentralizedOptions options;
  std::vector<std::string> notes;
};

Pooled look_ahead(const Job& job, const Federation& federation, const std::vector<OperatorRef<double>>& A,
                  const Transport& ranks) {
  Pooled known{.reference = {}, .options = settle(job.network, job.solve), .notes = {}};
  const Index d = federation.held.dimension, k = known.options.rank;
  require(k <= d, fmt::format("rank = {}: must lie in [1, {}]", k, d));
  // Not each A_i need be positive semidefinite where agents are nodes, but their average is.
  if (federation.graph && known.options.damping == Damping::automatic &&
      known.options.momentum.rule == Momentum::Rule::automatic)
    known.options.damping = Damping::centred;
  const bool exact = job.reference == "exact";
  if (!exact && !job.reference.empty()) io::require_regular_file(job.reference);
  if (!exact) known.reference = load_reference(job.reference, d, k);
  if (!exact && !job.solve.optimal_momentum) return known;
  require(ranks.size() == 1,
          fmt::format("{}: would pool the data of all ranks, which is what agents are there to avoid; "
                      "{}",
                      exact ? "reference = exact" : "momentum = optimal", exact ? "give a file" : "give a number"));
  require(!exact || d <= largest_dense_dimension,
          fmt::format("reference = exact: is computed up to dimension {}; this is {}", largest_dense_dimension, d));
  const Spectrum spectrum = pooled_spectrum(job, A);
  if (exact) known.reference = Block<double>(spectrum.vectors.leftCols(k));
  if (job.solve.optimal_momentum) {
    require(std::isfinite(spectrum.lambda_next),
            "momentum = optimal: needs lambda_(k+1), which lies outside the range of double; scale the data, or leave "
            "--momentum out");
    known.options.momentum = Momentum::optimal(spectrum.lambda_next);
    known.notes.push_back(fmt::format("optimal momentum: lambda_(k+1) = {:.10g}, from {} of the pooled data",
                                      spectrum.lambda_next, spectrum.source));
  }
  return known;
}

// "basis-{agent}.npy" is a file for each agent, written where it lives; any other name is one for the first.
void write_components(Delivery& delivery, const std::filesystem::path& path, const std::vector<Block<double>>& bases,
                      const std::vector<Index>& agents, const Transport& ranks) {
  if (path.empty()) return;
  const std::string name = path.string();
  constexpr std::string_view place = "{agent}";
  const std::size_t at = name.find(place);
  if (at == std::string::npos) {
    const auto answer = std::find_if(bases.begin(), bases.end(), [](const auto& basis) { return basis.size() > 0; });
    if (ranks.rank() == 0 && answer != bases.end()) delivery.block(path, *answer);
    return;
  }
  const bool all_here = bases.size() > agents.size();  // rank 0 has everyone's
  for (std::size_t i = 0; i < agents.size(); ++i) {
    const Block<double>& basis = bases[all_here ? static_cast<std::size_t>(agents[i]) : i];
    std::string own = name;
    if (basis.size() > 0) delivery.block(own.replace(at, place.size(), std::to_string(agents[i])), basis);
  }
}

std::vector<double> sines_against(const std::optional<Block<double>>& reference, const DecentralizedResult& result) {
  std::vector<double> sines;
  if (!reference) return sines;
  for (const Block<double>& basis : result.bases)
    sines.push_back(basis.size() > 0 ? sin_theta<double>(*reference, basis) : std::nan(""));
  return sines;
}

void deliver(Delivery& delivery, const DecentralizedReport& report) {
  const Job& job = report.job;
  delivery.text(job.trace, trace_csv(report.result));
  delivery.text(job.report, [&report] { return run_page(report); });
  delivery.json(job.json, [&report] { return result_json(report); });
  if (!job.prints_json()) delivery.print(summary(report));
}

// Two agents in one process share its memory; who will not have that says so.
void require_ranks(const Job& job, const Ranks& ranks, Index agents) {
  const int size = ranks.transport.size();
  require(!job.one_per_rank || size >= agents,
          fmt::format("one-per-rank: there are {} agents, and {} rank{}; start it with: {}", agents, size,
                      size == 1 ? "" : "s", ranks.mpirun_line(agents, ranks.command_line)));
}

// One network of three kinds: of this process, of this process with faults, or spread over ranks.
struct Outcome {
  DecentralizedResult result;
  GossipSpectrum spectrum;
};

// Those of the file, and then those of the flags.
Faults faults_of(const Job& job) {
  Faults faults = job.faults_file.empty() ? Faults{} : read_faults(job.faults_file);
  faults.links.insert(faults.links.end(), job.faults.links.begin(), job.faults.links.end());
  faults.agents.insert(faults.agents.end(), job.faults.agents.begin(), job.faults.agents.end());
  if (job.given.contains("fault-seed")) faults.seed = job.faults.seed;
  return faults;
}

bool any(const Faults& faults) { return !faults.links.empty() || !faults.agents.empty(); }

// All that a rank does by itself before the first exchange of data.
struct Prepared {
  Holding holding = {};
  std::optional<GossipMatrix> W = {};
  Faults faults = {};
};

Prepared prepare(const Job& job, const Ranks& launched) {
  const Transport& ranks = launched.transport;
  Prepared prepared{.holding = read_holding(job, ranks)};
  const Index agents = prepared.holding.agents();
  require_ranks(job, launched, agents);
  prepared.W = gossip_matrix(job, agents, prepared.holding.graph ? &*prepared.holding.graph : nullptr);
  prepared.faults = faults_of(job);
  validate(prepared.faults, *prepared.W);
  require(!any(prepared.faults) || ranks.size() == 1,
          fmt::format("faults: are simulated in one process, and there are {} ranks", ranks.size()));
  return prepared;
}

std::string digest_of_matrix(const CsrMatrix<double>& W) {
  std::vector<std::uint64_t> numbers(W.row_start.begin(), W.row_start.end());
  numbers.insert(numbers.end(), W.columns.begin(), W.columns.end());
  for (const double weight : W.values) numbers.push_back(std::bit_cast<std::uint64_t>(weight));
  return digest_text(numbers);
}

// One agreement for all of it: a rank that cannot go on ends all of them, and so do ranks that do not mean the same.
Prepared prepare_everywhere(Job& job, const Ranks& launched) {
  Transport& ranks = launched.transport;
  ranks.everywhere([&] {
    job.input = job.inputs.front();
    check(job);
    if (ranks.rank() == 0) check_outputs(job);
  });
  ranks.require_alike(facts_of(job));
  Prepared prepared;
  ranks.everywhere([&] { prepared = prepare(job, launched); });
  std::vector<Fact> facts = prepared.holding.facts;
  facts.push_back({"the gossip matrix", digest_of_matrix(prepared.W->matrix())});
  ranks.require_alike(facts);
  return prepared;
}

Outcome gossip_over(Transport& ranks, const Job& job, const Prepared& prepared,
                    const std::vector<OperatorRef<double>>& A, const DecentralizedOptions& options,
                    const DecentralizedHooks& hooks, const InterruptGuard& interrupt) {
  const GossipMatrix& W = *prepared.W;
  if (any(prepared.faults)) {
    FaultyNetwork net(W, prepared.faults, job.network.precision);
    net.wait_while([&] { return !interrupt.interrupted(); });
    return {decentralized_pca(net, A, options, hooks), gossip_spectrum(W)};
  }
  if (ranks.size() > 1) {
    RankNetwork net(ranks, W, {.precision = job.network.precision});
    return {decentralized_pca(net, A, options, hooks), net.spectrum()};
  }
  LocalNetwork net(W, job.network.precision);
  return {decentralized_pca(net, A, options, hooks), net.spectrum()};
}

int run(Job job, const Ranks& launched) {
  Transport& ranks = launched.transport;
  Prepared prepared = prepare_everywhere(job, launched);
  const Federation federation = federation_of(std::move(prepared.holding), job, ranks);
  const auto A = federation.operators();
  Pooled known;
  ranks.everywhere([&] { known = look_ahead(job, federation, A, ranks); });

  const InterruptGuard interrupt;
  DecentralizedHooks hooks{.reference = known.reference ? &*known.reference : nullptr};
  Outcome outcome;
  const auto begin = std::chrono::steady_clock::now();
  {
    ProgressLine progress(job.quiet || ranks.rank() != 0);
    hooks.observe = [&](const DecentralizedEntry& entry) {
      if (progress.due()) progress.show(progress_text(entry, known.options.tolerance));
      return !interrupt.interrupted();
    };
    outcome = gossip_over(ranks, job, prepared, A, known.options, hooks, interrupt);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  DecentralizedResult& result = outcome.result;
  if (!federation.shards.empty() && ranks.size() == 1)
    result.eigenvalues *= covariance_scale(federation.shards, result.contributors, job.center);
  result.notes.insert(result.notes.begin(), known.notes.begin(), known.notes.end());
  result.notes.insert(result.notes.begin(), federation.notes.begin(), federation.notes.end());
  if (interrupt.interrupted()) result.notes.push_back("interrupted: these are the best bases so far");

  Delivery delivery;
  ranks.everywhere([&] {
    write_components(delivery, job.components, result.bases, agents_here(federation.agents, ranks), ranks);
    if (ranks.rank() == 0)
      deliver(delivery, {.job = job,
                         .held = federation.held,
                         .W = *prepared.W,
                         .spectrum = outcome.spectrum,
                         .options = known.options,
                         .result = result,
                         .ranks = ranks.size(),
                         .seconds = seconds,
                         .sines = sines_against(known.reference, result)});
  });
  const bool as_asked = known.options.tolerance == 0 && result.status == Status::iteration_limit;
  return delivery.finish(as_asked ? done : exit_code(result.status));
}

}  // namespace

void add_decentralized(CLI::App& root, Action& action, const Ranks& ranks) {
  add_command(
      root, action,
      {.name = "decentralized",
       .summary = "PCA among agents that gossip and never pool their data",
       .input = "DATA",
       .input_help = "Samples in rows, to be split; or a file for each agent, or a directory of them; or a data set",
       .many_inputs = true,
       .footer =
           "Examples:\n"
           "  hearsay decentralized digits -k 9 --agents 10\n"
           "  hearsay decentralized digits -k 9 --split by-label --topology erdos:0.5 --reference exact\n"
           "  hearsay decentralized boston.csv leeds.csv oslo.csv -k 5 --components basis-{agent}.npy\n"
           "  hearsay decentralized ego-facebook --split by-node --nodes 50 --extra-edges 196 -k 4 --trace curves.csv\n"
           "  hearsay decentralized digits -k 9 --agents 10 --message-precision bfloat16 --json -\n"
           "  hearsay decentralized digits -k 9 --agents 10 --drop 0.3 --crash 4@12\n"
           "  mpirun --oversubscribe -n 10 hearsay decentralized digits -k 9        (an agent on each rank)",
       .options = in_decentralized},
      [&ranks](const Job& job) { return run(job, ranks); });
}

}  // namespace hearsay::app

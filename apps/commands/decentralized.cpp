// hearsay decentralized: agents that will not share their data find its principal components by gossip.
#include "hearsay/decentralized.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#include "commands/alike.hpp"
#include "commands/commands.hpp"
#include "commands/holding.hpp"
#include "commands/network.hpp"
#include "commands/private.hpp"
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
#include "hearsay/solve_decentralized.hpp"
#include "reports/decentralized_report.hpp"
#include "reports/run_page.hpp"

namespace hearsay::app {
namespace {

// The name of a file, or the word `exact`.
DecentralizedRequest request_of(const Job& job, Index dimension, const Faults& faults) {
  DecentralizedRequest request{.network = job.network, .settings = job.solve, .faults = faults};
  request.exact_reference = job.reference == "exact";
  if (!request.exact_reference && !job.reference.empty()) {
    io::require_regular_file(job.reference);
    request.reference = load_reference(job.reference, dimension, job.solve.power.rank);
  }
  return request;
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

// Those of the file, and then those of the flags.
Faults faults_of(const Job& job) {
  Faults faults = job.faults_file.empty() ? Faults{} : read_faults(job.faults_file);
  faults.links.insert(faults.links.end(), job.faults.links.begin(), job.faults.links.end());
  faults.agents.insert(faults.agents.end(), job.faults.agents.begin(), job.faults.agents.end());
  if (job.given.contains("fault-seed")) faults.seed = job.faults.seed;
  return faults;
}

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

int run_decentralized(Job job, const Ranks& launched) {
  launched.transport.everywhere([&] { refuse_without_dp(job); });
  if (job.given.contains("dp")) return run_private_agents(std::move(job), launched.transport);
  Transport& ranks = launched.transport;
  Prepared prepared = prepare_everywhere(job, launched);
  const Assembly assembly = assemble(std::move(prepared.holding), job, ranks);
  DecentralizedRequest request;
  ranks.everywhere([&] { request = request_of(job, assembly.held.dimension, prepared.faults); });

  const InterruptGuard interrupt;
  DecentralizedSolution solution;
  {
    ProgressLine progress(job.quiet || ranks.rank() != 0);
    request.observe = [&](const DecentralizedEntry& entry) {
      if (progress.due()) progress.show(progress_text(entry, job.network.solver.tolerance));
      return !interrupt.interrupted();
    };
    request.patient = [&] { return !interrupt.interrupted(); };
    solution = solve_decentralized(ranks, *prepared.W, assembly.data, request);
  }
  DecentralizedResult& result = solution.result;
  for (std::string& note : result.notes) note = in_flags(note);
  result.notes.insert(result.notes.begin(), assembly.notes.begin(), assembly.notes.end());
  if (interrupt.interrupted()) result.notes.push_back("interrupted: these are the best bases so far");

  Delivery delivery;
  ranks.everywhere([&] {
    write_components(delivery, job.components, result.bases, agents_here(assembly.agents, ranks), ranks);
    if (ranks.rank() == 0)
      deliver(delivery, {.job = job,
                         .held = assembly.held,
                         .W = *prepared.W,
                         .spectrum = solution.spectrum,
                         .options = solution.options,
                         .result = result,
                         .ranks = ranks.size(),
                         .seconds = solution.seconds,
                         .sines = sines_against(solution.reference, result)});
  });
  const bool as_asked = solution.options.tolerance == 0 && result.status == Status::iteration_limit;
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
           "  hearsay decentralized boston.csv leeds.csv oslo.csv -k 5 --dp 1,1e-6 --row-norm 10 --trust secure\n"
           "  mpirun --oversubscribe -n 10 hearsay decentralized digits -k 9        (an agent on each rank)",
       .options = in_decentralized},
      [&ranks](const Job& job) { return run_decentralized(job, ranks); });
}

}  // namespace hearsay::app

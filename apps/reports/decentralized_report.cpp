#include "reports/decentralized_report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "files/provenance.hpp"
#include "formats/escapes.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/message.hpp"
#include "hearsay/theory.hpp"
#include "hearsay/threads.hpp"
#include "hearsay/version.hpp"

namespace hearsay::app {
namespace {

std::string hex(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

Json history_json(const DecentralizedResult& result, bool with_sine) {
  Json entries = Json::array();
  for (const DecentralizedEntry& entry : result.history) {
    Json json = {{"t", entry.t},
                 {"rounds", entry.rounds},
                 {"bytes", entry.bytes},
                 {"rounds_next", entry.rounds_next},
                 {"momentum", number(entry.momentum)},
                 {"residual", number(entry.residual)},
                 {"disagreement", number(entry.disagreement)}};
    if (with_sine) json["sin_theta"] = number(entry.sin_theta);
    entries.push_back(std::move(json));
  }
  return entries;
}

double degree(const GossipMatrix& W) { return 2 * static_cast<double>(W.edges()) / static_cast<double>(W.agents()); }

bool contributes(const DecentralizedResult& result, Index agent) {
  return std::binary_search(result.contributors.begin(), result.contributors.end(), agent);
}

// Agents that are gone have none.
double worst_sine(const std::vector<double>& sines) {
  double worst = 0;
  for (const double sine : sines) worst = std::fmax(worst, sine);
  return worst;
}

// The first contributor's.
Vector<double> first_eigenvalues(const DecentralizedResult& result) {
  return result.eigenvalues.row(result.contributors.empty() ? 0 : result.contributors.front());
}

bool suffered(const DecentralizedResult& result) {
  return !(result.faults == FaultCounts{}) || result.epochs.size() > 1;
}

Json faults_json(const FaultCounts& faults) {
  return {{"drops", faults.drops},
          {"losses", faults.losses},
          {"late", faults.late},
          {"waited_rounds", faults.waited_rounds},
          {"crashes", faults.crashes},
          {"rejoins", faults.rejoins},
          {"cut_off", faults.cut_off},
          {"fallbacks", faults.fallbacks},
          {"control_messages", faults.control_messages},
          {"control_bytes", faults.control_bytes}};
}

Json cluster_json(const UndefinedPart& cluster) {
  if (cluster.first == 0) return nullptr;
  return {{"first", cluster.first}, {"last", cluster.last}, {"zero", cluster.zero}, {"width", number(cluster.width)}};
}

// null where the run was exact, or nobody can tell.
Json bar_json(const ErrorBar& bar) {
  if (!bar.exists()) return nullptr;
  return {{"kind", name(bar.kind)},
          {"sin_theta", number(bar.sin_theta)},
          {"spread", number(bar.spread)},
          {"common", number(bar.common)}};
}

Json verification_json(const Verification& told) {
  if (told.attempts == 0) return nullptr;
  return {{"attempts", told.attempts},
          {"evidence", name(told.evidence)},
          {"residual", number(told.residual)},
          {"failure_probability", told.failure_probability},
          {"apart", number(told.apart)},
          {"tracking_error", number(told.tracking_error)},
          {"control_rounds", told.traffic.control_rounds},
          {"messages", told.traffic.messages},
          {"bytes", told.traffic.bytes}};
}

Json epochs_json(const std::vector<Epoch>& epochs) {
  Json list = Json::array();
  for (const Epoch& epoch : epochs)
    list.push_back({{"iteration", epoch.iteration}, {"reason", epoch.reason}, {"members", epoch.members}});
  return list;
}

Json agents_json(const DecentralizedReport& report) {
  const DecentralizedResult& result = report.result;
  Json agents = Json::array();
  for (std::size_t i = 0; i < result.digests.size(); ++i) {
    Json agent = {{"agent", i}};
    if (!report.held.samples_of.empty()) agent["samples"] = report.held.samples_of[i];
    if (!report.held.sources.empty()) agent["source"] = report.held.sources[i];
    agent["contributes"] = contributes(result, static_cast<Index>(i));
    agent["eigenvalues"] = numbers(result.eigenvalues.row(static_cast<Index>(i)));
    if (!report.sines.empty()) agent["sin_theta"] = number(report.sines[i]);
    agent["digest"] = hex(result.digests[i]);
    agents.push_back(std::move(agent));
  }
  return agents;
}

std::string faults_text(const DecentralizedResult& result) {
  if (!suffered(result)) return {};
  const FaultCounts& faults = result.faults;
  std::string text = line("faults",
                          "{} links down, {} messages lost, {} too late; {} rounds waited; {} fallback{} to "
                          "plain gossip",
                          faults.drops, faults.losses, faults.late, faults.waited_rounds, faults.fallbacks,
                          faults.fallbacks == 1 ? "" : "s");
  for (std::size_t e = 1; e < result.epochs.size(); ++e)
    text += line("", "from iteration {}: {}; {} agents", result.epochs[e].iteration, result.epochs[e].reason,
                 result.epochs[e].members.size());
  return text;
}

std::string bar_text(const ErrorBar& bar) {
  if (!bar.exists()) return {};
  return line("error bar", "sin(theta) is at most about {:.2g} at any agent: {:.2g} between them, {:.2g} in common",
              bar.sin_theta, bar.spread, bar.common);
}

std::string verification_text(const Verification& told) {
  if (told.attempts == 0) return {};
  if (told.evidence == Knowledge::unknown) return line("verified", "nothing: not every agent was heard");
  return line(
      "verified",
      "a residual of at most {:.3g} with everyone's data; own bases {:.2g} from the common one, own eigenvalues "
      "{:.2g}; {} sent",
      told.residual, told.apart, told.tracking_error, bytes_text(told.traffic.bytes));
}

std::string status_text(const DecentralizedReport& report) {
  const DecentralizedResult& result = report.result;
  const double tolerance = report.options.tolerance;
  switch (result.status) {
    case Status::converged:
      return fmt::format(
          "converged in {} iterations: the residual is at most {:.2g} at every agent, the tolerance {:g}",
          result.iterations, result.residual, tolerance);
    case Status::noise_floor:
      return fmt::format(
          "came to rest after {} iterations with the agents {:.2g} apart: {} rounds of gossip allow no more, and the "
          "tolerance is {:g}",
          result.iterations, result.agreement, result.rounds_per_iteration, tolerance);
    case Status::rounding_floor:
      return fmt::format("came to rest after {} iterations at a residual of {:.2g}: rounding allows no more",
                         result.iterations, result.residual);
    case Status::ambiguous:
      return fmt::format(
          "ambiguous after {} iterations: the residual is {:.2g}, and the data define {} of the {} components",
          result.iterations, result.residual, result.defined_rank, report.options.rank);
    case Status::communication_failed:
      return fmt::format("communication failed after {} iterations: agents could not hear each other",
                         result.iterations);
    case Status::iteration_limit:
      if (tolerance == 0)
        return fmt::format("ran all {} iterations; the residual is {:.2g}", result.iterations, result.residual);
      return fmt::format("stopped at the limit of {} iterations: the residual is {:.2g}, the tolerance {:g}",
                         result.iterations, result.residual, tolerance);
    case Status::stopped_by_observer:
      return fmt::format("interrupted after {} iterations: the residual is {:.2g}, the tolerance was {:g}",
                         result.iterations, result.residual, tolerance);
    case Status::breakdown:
      return fmt::format("broke down at iteration {}: a block was not finite", result.iterations);
  }
  return {};
}

std::string data_text(const Holdings& held) {
  if (held.samples_of.empty())
    return line("matrix", "I + D^-1/2 S D^-1/2 of a graph with {} nodes, each of them an agent", held.dimension);
  const auto [least, most] = std::minmax_element(held.samples_of.begin(), held.samples_of.end());
  return line("data", "{} samples of {} features{}, {}: {} to {} an agent", held.samples, held.dimension,
              held.centred ? ", centred" : "", held.split, *least, *most);
}

std::string momentum_text(const DecentralizedReport& report) {
  const bool accelerated =
      report.options.algorithm == Algorithm::adepm || report.options.algorithm == Algorithm::adeepca;
  if (!accelerated || report.options.momentum.rule == Momentum::Rule::none) return "no momentum";
  const bool fixed = report.options.momentum.rule == Momentum::Rule::fixed;
  return fmt::format("momentum {:.4g}{}; {} damping", report.result.momentum, fixed ? "" : ", adapted",
                     report.result.damping == Damping::centred ? "centred" : "symmetric");
}

}  // namespace

Json result_json(const DecentralizedReport& report) {
  const DecentralizedResult& result = report.result;
  const Traffic& traffic = result.traffic;
  const std::int64_t edges = std::max<std::int64_t>(1, report.W.edges());
  Json json;
  json["command"] = "decentralized";
  json["version"] = version;
  json["method"] = name(report.options.algorithm);
  json["k"] = report.options.rank;
  json["dimension"] = report.held.dimension;
  json["samples"] = report.held.samples_of.empty() ? Json(nullptr) : Json(report.held.samples);
  json["seed"] = report.options.seed;
  json["status"] = name(result.status);
  json["iterations"] = result.iterations;
  json["products"] = result.products;
  json["passes"] = result.iterations;
  json["momentum"] = number(result.momentum);
  json["eigenvalues"] = numbers(first_eigenvalues(result));
  json["exponent"] = result.exponent;
  json["residual"] = number(result.residual);
  json["tolerance"] = report.options.tolerance;
  json["agents"] = report.W.agents();
  json["edges"] = report.W.edges();
  json["spectral_gap"] = number(report.spectrum.gap());
  json["spectrum"] = {number(report.spectrum.lo), number(report.spectrum.hi)};
  json["diameter"] = report.W.diameter();
  json["gossip"] = name(report.options.gossip);
  json["rounds_per_iteration"] = result.rounds_per_iteration;
  json["rounds"] = traffic.rounds;
  json["control_rounds"] = traffic.control_rounds;
  json["messages"] = traffic.messages;
  json["bytes"] = traffic.bytes;
  const bool alike = !suffered(result);  // every edge carried the same
  json["messages_per_edge"] = alike ? Json(traffic.messages / edges) : Json(nullptr);
  json["bytes_per_edge"] = alike ? Json(traffic.bytes / edges) : Json(nullptr);
  json["message_precision"] = name(report.job.network.precision);
  json["message_noise"] = {{"last", number(result.message_noise.last)},
                           {"largest", number(result.message_noise.largest)}};
  json["agreement"] = number(result.agreement);
  json["disagreement"] = number(result.disagreement);
  json["evidence"] = name(result.evidence);
  json["eigenvalue_agreement"] = number(result.eigenvalue_agreement);
  json["defined_rank"] = result.defined_rank;
  json["defined_agreement"] = number(result.defined_agreement);
  json["cluster"] = cluster_json(result.cluster);
  json["error_bar"] = bar_json(result.bar);
  json["verification"] = verification_json(result.verification);
  json["conservation_error"] = number(result.conservation_error);
  json["restarts"] = result.restarts;
  json["contributors"] = result.contributors;
  json["faults"] = faults_json(result.faults);
  json["epochs"] = epochs_json(result.epochs);
  json["damping"] = result.damping == Damping::centred ? "centred" : "symmetric";
  json["columns"] = result.columns;
  json["columns_at_start"] = result.columns_at_start;
  json["centered"] = report.held.centred;
  json["ranks"] = report.ranks;
  json["threads"] = threads();
  json["kernels"] = kernel_name();
  json["seconds"] = report.seconds;
  json["digest"] = hex(result.digest);
  json["notes"] = result.notes;
  json["per_agent"] = agents_json(report);
  json["provenance"] = provenance_json(report.job);
  json["history"] = history_json(result, !report.sines.empty());
  return json;
}

std::string summary(const DecentralizedReport& report) {
  const DecentralizedResult& result = report.result;
  const Traffic& traffic = result.traffic;
  std::string text = fmt::format("{}: {}\n\n", terminal_safe(report.job.input), status_text(report));
  text += eigenvalue_table(first_eigenvalues(result)) + '\n';
  text += data_text(report.held);
  text += line("network", "{} agents on {} edges, {:.3g} neighbours each; gamma_W = {:.4g}{}, diameter {}",
               report.W.agents(), report.W.edges(), degree(report.W), report.spectrum.gap(),
               report.spectrum.measured ? "" : " at least", report.W.diameter());
  text += line("residual", "{:.3g} at the worst agent", result.residual);
  text += line("agreement", "{:.3g} is the largest sin(theta) between two agents", result.agreement);
  if (result.defined_rank < report.options.rank)
    text +=
        line("", "{:.3g} over the {} components that the data define", result.defined_agreement, result.defined_rank);
  text += bar_text(result.bar);
  text += verification_text(result.verification);
  if (!report.sines.empty())
    text += line("sin(theta)", "{:.3g} against the reference at the worst agent", worst_sine(report.sines));
  text += line("method", "{}: {}; a block of {} columns{}", name(report.options.algorithm), momentum_text(report),
               result.columns_at_start,
               result.columns < result.columns_at_start ? fmt::format(", narrowed to {}", result.columns) : "");
  text += line("gossip", "{} rounds of {} gossip in {} iterations, at last {} each", traffic.rounds,
               name(report.options.gossip), result.iterations, result.rounds_per_iteration);
  text += line("traffic", "{} messages, {} in {} precision, {} over every edge", traffic.messages,
               bytes_text(traffic.bytes), name(report.job.network.precision),
               bytes_text(traffic.bytes / std::max<std::int64_t>(1, report.W.edges())));
  if (report.job.network.precision != MessagePrecision::real64)
    text += line("", "rounding kept back {:.2g} of a block at most, and {:.2g} in the last round",
                 result.message_noise.largest, result.message_noise.last);
  text += faults_text(result);
  text += line("cost", "{:.3g} s{}; digest {}", report.seconds,
               report.ranks > 1 ? fmt::format(" on {} ranks", report.ranks) : "", hex(result.digest));
  return text + notes_text(result.notes);
}

std::string trace_csv(const DecentralizedResult& result) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "t,rounds,bytes,rounds_next,momentum,residual,disagreement,sin_theta\n");
  for (const DecentralizedEntry& entry : result.history)
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{}\n", entry.t, entry.rounds, entry.bytes,
                   entry.rounds_next, entry.momentum, entry.residual, entry.disagreement,
                   std::isnan(entry.sin_theta) ? std::string() : fmt::format("{}", entry.sin_theta));
  return fmt::to_string(text);
}

std::string progress_text(const DecentralizedEntry& entry, double tolerance) {
  return fmt::format("iteration {}  residual {:.2e} (tolerance {:.1e})  agreement {:.1e}  rounds {}  sent {}", entry.t,
                     entry.residual, tolerance, entry.disagreement, entry.rounds, bytes_text(entry.bytes));
}

}  // namespace hearsay::app

// hearsay agent run: one organisation's part, from its rows to everyone's components.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands/agent.hpp"
#include "commands/agent_private.hpp"
#include "commands/terminal.hpp"
#include "files/delivery.hpp"
#include "files/outputs.hpp"
#include "files/run_files.hpp"
#include "formats/escapes.hpp"
#include "hearsay/agent.hpp"
#include "hearsay/decentralized_on_links.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/sealed_file.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/threads.hpp"
#include "reports/decentralized_report.hpp"
#include "reports/run_page.hpp"

namespace hearsay::app {

namespace {

namespace fs = std::filesystem;

// All that is known before anyone is called.
struct Enrolled {
  FederationFile file = {};
  Index self = 0;
  GossipMatrix W = GossipMatrix::ring(1);
  TlsFiles tls = {};
  Job job = {};

  const FederationAgent& agent() const { return file.agents[static_cast<std::size_t>(self)]; }
};

Job job_of(const AgentRequest& request, const FederationFile& file) {
  Job job = federation_job(file, request.data);
  job.label_column = request.label_column;
  const std::pair<const char*, const fs::path*> outputs[] = {{"components", &request.components},
                                                             {"json", &request.json},
                                                             {"report", &request.report},
                                                             {"trace", &request.trace},
                                                             {"checkpoint", &request.checkpoint}};
  for (const auto& [name, path] : outputs)
    if (!path->empty()) job.given[name] = path->string();
  job.components = request.components, job.json = request.json, job.report = request.report, job.trace = request.trace;
  job.checkpoint = request.checkpoint, job.resume = request.resume;
  job.quiet = request.quiet;
  give_private_options(request, file, job);
  check(job);
  return job;
}

// No output may take the place of what the run reads, keys and certificates included.
void check_files(const AgentRequest& request, const Enrolled& enrolled) {
  check_outputs(enrolled.job);
  RunFiles files = files_of_run(enrolled.job);
  files.reads("FILE", request.federation);
  files.reads("certificate", enrolled.tls.certificate);
  files.reads("key", enrolled.tls.key);
  files.reads("authority", enrolled.tls.authority);
}

Enrolled enrol(const AgentRequest& request) {
  Enrolled enrolled{.file = read_federation(request.federation)};
  enrolled.self = find_agent(enrolled.file, request.agent);
  enrolled.W = federation_matrix(enrolled.file);
  enrolled.tls = identity_files(request.identity, enrolled.agent().name);
  enrolled.job = job_of(request, enrolled.file);
  check_files(request, enrolled);
  std::vector<std::string> good;
  const auto problems = identity_problems(enrolled.tls, enrolled.agent(), std::time(nullptr), good);
  require(problems.empty(), fmt::format("{}", fmt::join(problems, "; ")));
  return enrolled;
}

FederationSettings settings_of(const Enrolled& enrolled) {
  const FederationFile& file = enrolled.file;
  FederationSettings settings{.W = enrolled.W,
                              .digest = federation_digest(file),
                              .network = enrolled.job.network,
                              .settings = enrolled.job.solve,
                              .center = file.center,
                              .quorum = file.quorum(),
                              .wait = file.wait_seconds,
                              .keep_every = file.keep_every};
  if (file.dp) settings.privacy = federation_privacy(file, enrolled.job);
  for (const FederationAgent& agent : file.agents) settings.names.push_back(agent.name);
  settings.patience.greeting = file.start_seconds;
  settings.patience.round = file.round_seconds;
  settings.patience.link = file.link_seconds;
  return settings;
}

// A frame is a chunk of a message at most, and no message is longer than a block or what agents say of themselves.
std::size_t largest_frame(const FederationSettings& settings, Index dimension) {
  const LinkLimits limits = link_limits(settings, dimension);
  const std::uint64_t longest = std::max<std::uint64_t>(8 * limits.largest_block, limits.longest_words);
  return protocol::header_bytes + std::min<std::uint64_t>(longest + 4096, protocol::chunk_bytes);
}

std::string slowest_neighbour(const FederationFile& file, const std::vector<protocol::PeerCounts>& links) {
  const auto slowest =
      std::max_element(links.begin(), links.end(), [](const auto& a, const auto& b) { return a.waited < b.waited; });
  if (slowest == links.end()) return {};
  return fmt::format("  waited {:.1f} s for {}", slowest->waited,
                     file.agents[static_cast<std::size_t>(slowest->peer)].name);
}

// Progress, Ctrl-C, and callers that were turned away.
class Watch {
 public:
  Watch(const Enrolled& enrolled, FederationLinks& links, bool quiet)
      : enrolled_(enrolled), links_(links), quiet_(quiet), progress_(quiet) {}

  AgentHooks hooks() {
    return {.observe = [this](const AgentProgress& now) { return observe(now); },
            .go_on = [this] { return go_on(); },
            .waits = [this](const std::string& why) { waits(why); }};
  }
  bool interrupted() const { return interrupt_.interrupted(); }
  void tell_refusals() {
    for (const std::string& refusal : links_.refusals())
      if (!quiet_) warn(fmt::format("turned away: {}", refusal));
  }

 private:
  bool observe(const AgentProgress& now) {
    if (!std::exchange(started_, true) && !quiet_) warn("everyone is there, and the run has begun");
    tell_refusals();
    if (progress_.due())
      progress_.show(progress_text(now.entry, enrolled_.job.network.solver.tolerance) +
                     (enrolled_.file.dp ? "" : slowest_neighbour(enrolled_.file, now.links)));
    return !interrupt_.interrupted();
  }

  // In the middle of a run an orderly end is a matter of a few rounds: only where that takes too long, the run is
  // broken off.
  bool go_on() {
    using namespace std::chrono;
    constexpr seconds orderly_end{10};
    tell_refusals();
    if (!interrupt_.interrupted()) return true;
    const auto now = steady_clock::now();
    if (!asked_at_) asked_at_ = now;
    return started_ && now - *asked_at_ < orderly_end;
  }

  void waits(const std::string& why) {
    started_ = false;
    if (!quiet_)
      warn(fmt::format("{}; waiting {:g} s at most for everyone to be there", why, enrolled_.file.wait_seconds));
  }

  const Enrolled& enrolled_;
  FederationLinks& links_;
  bool quiet_, started_ = false;
  std::optional<std::chrono::steady_clock::time_point> asked_at_;
  ProgressLine progress_;
  InterruptGuard interrupt_;
};

// With what is known of each link that is not there.
std::string with_troubles(const std::string& message, const FederationFile& file, FederationLinks& links) {
  std::string text = message;
  for (const Index peer : links.links().neighbours())
    if (const std::string trouble = links.trouble(peer); !trouble.empty() && text.find(trouble) == text.npos)
      text += fmt::format("; {}: {}", agent_text(file, peer), trouble);
  return text;
}

// What is kept between runs, if anything is.
AgentHooks with_states(AgentHooks hooks, const AgentRequest& request) {
  constexpr std::string_view kind = "hearsay agent states 1";
  if (request.checkpoint.empty()) return hooks;
  hooks.keep = [path = request.checkpoint](const std::string& states) { io::write_sealed(path, kind, states); };
  if (!request.resume) return hooks;
  if (is_there(request.checkpoint.string()))
    hooks.states = io::read_sealed(request.checkpoint, kind);
  else if (!request.quiet)
    warn(fmt::format("{}: is not there, so this agent has nothing to go on from", request.checkpoint.string()));
  return hooks;
}

AgentOutcome take_part(const Enrolled& enrolled, AgentRows rows, const AgentRequest& request, OpenLinks open,
                       bool& interrupted) {
  const FederationSettings settings = settings_of(enrolled);
  GrpcOptions options = link_options(enrolled.file, enrolled.W, enrolled.self, enrolled.tls, request.listen);
  options.largest_frame = largest_frame(settings, rows.rows.cols());
  const std::string listen = options.listen;
  const auto links = open_links(open, std::move(options));
  if (!request.quiet)
    warn(fmt::format("{} of {}, digest {}: {}", agent_text(enrolled.file, enrolled.self), enrolled.file.name,
                     federation_digest(enrolled.file).substr(0, 16),
                     listen.empty() ? "dials its neighbours" : fmt::format("listens at {}", listen)));
  Watch watch(enrolled, *links, request.quiet);
  constexpr double last_words = 10;  // seconds, for what was sent and is not gone yet
  try {
    AgentOutcome outcome = run_agent(links->links(), std::move(rows), settings, with_states(watch.hooks(), request));
    interrupted = watch.interrupted();
    watch.tell_refusals();
    links->close(links->links().now() + last_words);
    return outcome;
  } catch (const LeftOut&) {
    watch.tell_refusals();
    links->close(links->links().now() + last_words);
    throw;
  } catch (const CommunicationError& error) {
    watch.tell_refusals();
    const std::string text = with_troubles(error.what(), enrolled.file, *links);
    links->close(links->links().now() + last_words);
    throw CommunicationError(text);
  } catch (const Error&) {
    watch.tell_refusals();
    links->close(links->links().now() + last_words);
    throw;
  }
}

Json manifest_json(const Enrolled& enrolled, const AgentOutcome& outcome) {
  Json roster = Json::array(), links = Json::array();
  for (const FederationAgent& agent : enrolled.file.agents)
    roster.push_back({{"name", agent.name}, {"identity", agent.identity}});
  for (const protocol::PeerCounts& link : outcome.links)
    links.push_back({{"agent", link.peer},
                     {"name", enrolled.file.agents[static_cast<std::size_t>(link.peer)].name},
                     {"frames_sent", link.frames_sent},
                     {"frames_received", link.frames_received},
                     {"bytes_sent", link.bytes_sent},
                     {"bytes_received", link.bytes_received},
                     {"reconnections", link.reconnections},
                     {"waited_seconds", number(link.waited)}});
  return {{"name", enrolled.file.name},
          {"run", enrolled.file.run},
          {"run_id", fmt::format("{:016x}", outcome.run_id)},
          {"digest", federation_digest(enrolled.file)},
          {"agent", enrolled.self},
          {"agent_name", enrolled.agent().name},
          {"agent_digest", fmt::format("{:016x}", outcome.own_digest())},
          {"confirmed", outcome.unconfirmed.empty()},
          {"unconfirmed", outcome.unconfirmed},
          {"roster", std::move(roster)},
          {"features", outcome.features},
          {"taken_up", outcome.taken_up},
          {"links", std::move(links)}};
}

std::string manifest_text(const Enrolled& enrolled, const AgentOutcome& outcome) {
  std::string text;
  for (const protocol::PeerCounts& link : outcome.links)
    text += line("link", "{}: {} sent, {} received, {:.2g} s waited{}",
                 terminal_safe(enrolled.file.agents[static_cast<std::size_t>(link.peer)].name),
                 bytes_text(link.bytes_sent), bytes_text(link.bytes_received), link.waited,
                 link.reconnections > 0 ? fmt::format(", {} times lost and found", link.reconnections) : "");
  if (!outcome.taken_up.empty())
    text += line("taken up", "at iteration{} {}", outcome.taken_up.size() == 1 ? "" : "s",
                 fmt::join(outcome.taken_up, ", "));
  text += line("confirmed", "{}",
               outcome.unconfirmed.empty() ? "by every agent: all hold this digest"
                                           : "not by everyone: " + terminal_safe(outcome.unconfirmed));
  return text + line("federation", "{}, run {} ({:016x}), digest {}", terminal_safe(enrolled.file.name),
                     terminal_safe(enrolled.file.run), outcome.run_id, federation_digest(enrolled.file));
}

Holdings holdings_of(const Enrolled& enrolled, const AgentOutcome& outcome) {
  Holdings held{.dimension = outcome.totals.dimension,
                .samples = outcome.totals.samples,
                .samples_of = outcome.totals.sizes,
                .features = outcome.features,
                .split = "a shard each",
                .centred = enrolled.file.center};
  for (const FederationAgent& agent : enrolled.file.agents) held.sources.push_back(agent.name);
  return held;
}

int deliver_outcome(Enrolled& enrolled, AgentOutcome& outcome, bool interrupted) {
  for (std::string& note : outcome.result.notes) note = in_flags(note);
  if (outcome.columns_moved)
    outcome.result.notes.push_back("the columns were put into the order of the first agent's, by their names");
  if (interrupted) outcome.result.notes.push_back("interrupted: these are the best bases so far");
  const Holdings held = holdings_of(enrolled, outcome);
  Job& job = enrolled.job;
  job.input = enrolled.agent().name;  // for titles
  const DecentralizedReport report{.job = job,
                                   .held = held,
                                   .W = enrolled.W,
                                   .spectrum = outcome.spectrum,
                                   .options = outcome.options,
                                   .result = outcome.result,
                                   .seconds = outcome.seconds};
  Delivery delivery;
  std::string components = job.components.string();
  if (const std::size_t at = components.find("{agent}"); at != components.npos)
    components.replace(at, 7, std::to_string(enrolled.self));
  if (!components.empty()) delivery.block(components, outcome.basis());
  delivery.text(job.trace, trace_csv(outcome.result));
  delivery.text(job.report, [&] { return run_page(report); });
  delivery.json(job.json, [&] {
    Json json = result_json(report);
    json["command"] = "agent run";
    json["federation"] = manifest_json(enrolled, outcome);
    return json;
  });
  if (!job.prints_json()) delivery.print(summary(report) + manifest_text(enrolled, outcome));
  const bool as_asked = outcome.options.tolerance == 0 && outcome.result.status == Status::iteration_limit;
  return delivery.finish(as_asked ? done : exit_code(outcome.result.status));
}

int run_open_agent(Enrolled& enrolled, const AgentRequest& request, OpenLinks open) {
  AgentTable table = read_agent_table(enrolled.job, request.data);
  match_features(table, enrolled.file);
  bool interrupted = false;
  AgentOutcome outcome =
      take_part(enrolled, {.rows = std::move(table.rows), .columns = std::move(table.columns), .name = table.source},
                request, open, interrupted);
  return deliver_outcome(enrolled, outcome, interrupted);
}

int run_private_agent(const Enrolled& enrolled, const AgentRequest& request, OpenLinks open) {
  PrivateAgent agent(enrolled.file, enrolled.job);
  bool interrupted = false;
  AgentOutcome outcome = take_part(enrolled, agent.rows(enrolled.self), request, open, interrupted);
  for (std::string& note : outcome.result.notes) note = in_flags(note);
  if (interrupted) outcome.result.notes.push_back("interrupted: these are the best bases so far");
  return agent.deliver(outcome, federation_privacy(enrolled.file, enrolled.job), manifest_json(enrolled, outcome),
                       enrolled.self);
}

}  // namespace

int run_agent_command(const AgentRequest& request, OpenLinks open) {
  Enrolled enrolled = enrol(request);
  if (!request.threads.empty()) {
    const std::int64_t count = parse_integer("threads", request.threads, 1);
    require(count <= 1024, fmt::format("threads = {}: must be at most 1024", count));
    set_threads(static_cast<int>(count));
  }
  if (!request.memory.empty()) set_memory_limit(parse_bytes("memory", request.memory, 16'000'000));
  require(
      open != nullptr,
      "agent run: this build has no gRPC, over which agents talk; on Debian install libgrpc++-dev and build anew, so "
      "that hearsay-agent lies beside hearsay");
  return enrolled.file.dp ? run_private_agent(enrolled, request, open) : run_open_agent(enrolled, request, open);
}

}  // namespace hearsay::app

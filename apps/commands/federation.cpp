// hearsay federation: what organisations agree on before they run together, and certificates for those without an
// authority of their own.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "commands/federated.hpp"
#include "commands/help.hpp"
#include "commands/terminal.hpp"
#include "files/delivery.hpp"
#include "files/outputs.hpp"
#include "files/run_files.hpp"
#include "formats/escapes.hpp"
#include "formats/federation_file.hpp"
#include "hearsay/decentralized.hpp"
#include "hearsay/error.hpp"
#include "hearsay/gossip.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/regular_file.hpp"
#include "pki/pki.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

namespace {

namespace fs = std::filesystem;

constexpr std::time_t seconds_a_day = 24 * 60 * 60;

// ---- new and show ---------------------------------------------------------------------------------------------------

struct NewFederation {
  std::string path, name, run = "1", topology = "ring", features;
  std::vector<std::string> agents, identities;
  std::map<std::string, std::string> settings;
  bool no_center = false;
  double start = FederationFile{}.start_seconds, round = FederationFile{}.round_seconds,
         link = FederationFile{}.link_seconds;
  std::string on_crash = "abort";
  Index min_agents = 0;
  Index checkpoint_every = FederationFile{}.keep_every;
  std::string dp, row_norm, public_rows;
  FederationDp privacy = {};
};

// "cleveland@c.example:7400"
FederationAgent agent_from(const std::string& text) {
  const std::size_t at = text.find('@');
  FederationAgent agent{.name = text.substr(0, at)};
  if (at != text.npos) agent.address = text.substr(at + 1);
  agent.identity = "DNS:" + agent.name;
  return agent;
}

void set_identity(FederationFile& file, const std::string& text) {
  const std::size_t at = text.find('=');
  require(at != text.npos, fmt::format("identity = {}: must be NAME=DNS:name or NAME=URI:text", text));
  file.agents[static_cast<std::size_t>(find_agent(file, text.substr(0, at)))].identity = text.substr(at + 1);
}

// "13", or "age,sex,cp"
void set_features(FederationFile& file, const std::string& text) {
  if (text.empty()) return;
  if (text.find_first_not_of("0123456789") == text.npos) {
    file.features = parse_integer("features", text, 1);
    return;
  }
  std::string_view rest = text;
  while (true) {
    const std::size_t length = std::min(rest.find(','), rest.size());
    file.feature_names.emplace_back(rest.substr(0, length));
    if (length == rest.size()) break;
    rest.remove_prefix(length + 1);
  }
  file.features = static_cast<Index>(file.feature_names.size());
}

void set_crashes(FederationFile& file, const NewFederation& request) {
  set_on_crash(file, request.on_crash);
  file.keep_every = request.checkpoint_every;
  require(file.excludes || request.min_agents == 0,
          fmt::format("min-agents = {}: must be given only with --on-crash exclude", request.min_agents));
  file.min_agents = request.min_agents;
}

void set_privacy(FederationFile& file, const NewFederation& request) {
  const FederationDp usual;
  require(!request.dp.empty() ||
              (request.row_norm.empty() && request.public_rows.empty() && request.privacy.trust == usual.trust &&
               request.privacy.colluders == usual.colluders && request.privacy.neighbours == usual.neighbours),
          "row-norm, trust, neighbours, colluders, public-rows: are about private data; they need --dp EPS,DELTA");
  if (request.dp.empty()) return;
  const std::size_t comma = request.dp.find(',');
  require(comma != request.dp.npos, fmt::format("dp = {}: must be EPS,DELTA, as in 1,1e-6", request.dp));
  require(!request.row_norm.empty(),
          "row-norm: must be given with --dp, and chosen without a look at the data: it says how much noise a row "
          "needs");
  file.dp = request.privacy;
  file.dp->epsilon = parse_real("dp", request.dp.substr(0, comma));
  file.dp->delta = parse_real("dp", request.dp.substr(comma + 1));
  file.dp->row_norm = parse_real("row-norm", request.row_norm);
  if (!request.public_rows.empty()) file.dp->public_rows = parse_integer("public-rows", request.public_rows, 1);
  file.center = false;
}

std::string privacy_text(const FederationDp& dp) {
  return fmt::format("epsilon {:g}, delta {:g}, rows {} and shortened to norm {:g}, trust {}{}{}", dp.epsilon, dp.delta,
                     dp.neighbours == "replace" ? "replaced" : "added or removed", dp.row_norm, dp.trust,
                     dp.trust == "secure" ? fmt::format(" but for {} colluders", dp.colluders) : "",
                     dp.mean.empty() ? "" : ", about a given mean");
}

std::string crashes_text(const FederationFile& file) {
  if (file.excludes) return fmt::format("exclude: the others go on, {} agents at least", file.quorum());
  if (file.wait_seconds > 0)
    return fmt::format("wait: an agent that is gone has {:g} s to come back, and all go on", file.wait_seconds);
  return "abort: an agent that is gone ends the run for all";
}

std::string federation_summary(const FederationFile& file) {
  const GossipMatrix W = federation_matrix(file);
  std::string text =
      fmt::format("{}, run {}: {} agents on {} links\n\n", file.name, file.run, file.agents.size(), W.edges());
  for (std::size_t i = 0; i < file.agents.size(); ++i) {
    const FederationAgent& agent = file.agents[i];
    std::vector<std::string> dials;
    for (const Index peer : neighbours_of(W, static_cast<Index>(i)))
      if (dialler_of(file, static_cast<Index>(i), peer) == static_cast<Index>(i))
        dials.push_back(file.agents[static_cast<std::size_t>(peer)].name);
    text += fmt::format("  {:>3}  {:<20} {:<28} {}\n       {}\n", i, agent.name,
                        agent.address.empty() ? "dials only" : agent.address, agent.identity,
                        dials.empty() ? "dials nobody" : fmt::format("dials {}", fmt::join(dials, ", ")));
  }
  text += '\n';
  for (const std::string_view name : federation_settings())
    text += fmt::format("  {:<18} {}\n", name == "rank" ? "k" : name, file.setting(name));
  text += fmt::format("  {:<18} {}\n", "center", file.center);
  if (file.dp) text += fmt::format("  {:<18} {}\n", "dp", privacy_text(*file.dp));
  text += fmt::format("  {:<18} {} s to start, {} s for a message, {} s for a link that is gone\n", "deadlines",
                      file.start_seconds, file.round_seconds, file.link_seconds);
  text += fmt::format("  {:<18} every {} iterations, where an agent keeps any\n", "checkpoints", file.keep_every);
  text += fmt::format("  {:<18} {}\n", "on-crash", crashes_text(file));
  return text + fmt::format("  {:<18} {}\n", "digest", federation_digest(file));
}

int make_federation(const NewFederation& request) {
  FederationFile file{.source = request.path, .name = request.name, .run = request.run, .topology = request.topology};
  for (const std::string& agent : request.agents) file.agents.push_back(agent_from(agent));
  for (const std::string& identity : request.identities) set_identity(file, identity);
  for (const auto& [name, text] : request.settings) set_setting(file, name, text);
  set_features(file, request.features);
  file.center = !request.no_center;
  file.start_seconds = request.start, file.round_seconds = request.round, file.link_seconds = request.link;
  set_crashes(file, request);
  set_privacy(file, request);
  const std::string text = federation_text(file);
  const FederationFile read = parse_federation(text, request.path);  // by the reader's rules
  const std::string summary = federation_summary(read);
  require(!is_there(request.path, "FILE"),
          fmt::format("{}: is there already, and others may rely on it; give another name", request.path));
  write_text(request.path, text);
  say(fmt::format("wrote {}\n\n{}\nEvery agent must have this file; compare the digest by telephone.\n",
                  terminal_safe(request.path), summary));
  return done;
}

void add_privacy(CLI::App& make, NewFederation& request) {
  make.add_option("--dp", request.dp,
                  "Rows are private: what one more or less may change, spent from each agent's own ledger")
      ->type_name("EPS,DELTA");
  make.add_option("--row-norm", request.row_norm, "With --dp: longer rows are shortened to it")->type_name("B");
  make.add_option("--trust", request.privacy.trust, "With --dp: whom an agent trusts with its rows")
      ->type_name("none|neighbours|secure")
      ->capture_default_str();
  make.add_option("--neighbours", request.privacy.neighbours, "With --dp: which tables must look alike")
      ->type_name("add-remove|replace")
      ->capture_default_str();
  make.add_option("--colluders", request.privacy.colluders,
                  "With --trust secure: so many agents may put together what they know")
      ->type_name("N")
      ->capture_default_str();
  make.add_option("--public-rows", request.public_rows,
                  "With --dp: how many rows all agents have together, where everyone may know")
      ->type_name("N");
}

void add_new(CLI::App& app, Action& action) {
  auto request = std::make_shared<NewFederation>();
  CLI::App* make = app.add_subcommand("new", "Write the file that all agents agree on, and print its digest");
  make->add_option("FILE", request->path, "The file to write, heart.json say")->type_name("")->required();
  make->add_option("--name", request->name, "Of the federation")->type_name("NAME")->required();
  make->add_option("--run", request->run, "Tells this run from others of the same agents")
      ->type_name("NAME")
      ->capture_default_str();
  make->add_option("--agent", request->agents, "An agent, and where it can be dialled; without an address it dials")
      ->type_name("NAME[@HOST:PORT]")
      ->required()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  make->add_option("--identity", request->identities, "What an agent's certificate says, where that is not DNS:NAME")
      ->type_name("NAME=DNS:TEXT|NAME=URI:TEXT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  make->add_option("--topology", request->topology,
                   "ring, path, star, complete, grid:RxC or torus:RxC; edit the file to list edges")
      ->type_name("GRAPH")
      ->capture_default_str();
  for (const std::string_view name : federation_settings()) {
    const OptionRecord& record = find_option(name);
    CLI::Option* option = make->add_option_function<std::string>(
        name == "rank" ? "-k,--rank" : fmt::format("--{}", name),
        [request, key = std::string(name)](const std::string& text) { request->settings[key] = text; },
        wrapped(fmt::format("{} [{}]", record.help, name == "weights" ? "auto|ring|metropolis|lazy" : record.range),
                84));
    option->type_name(std::string(record.metavar))->required(name == "rank");
  }
  make->add_flag("--no-center", request->no_center, "Leave the data as they are, and subtract no mean");
  make->add_option("--features", request->features, "How many features there are, or their names, separated by commas")
      ->type_name("N|LIST");
  make->add_option("--start", request->start, "How long agents wait for each other at the start")
      ->type_name("SECONDS")
      ->capture_default_str();
  make->add_option("--round", request->round, "How long an agent waits for one message")
      ->type_name("SECONDS")
      ->capture_default_str();
  make->add_option("--link", request->link, "How long a link may be gone")->type_name("SECONDS")->capture_default_str();
  make->add_option("--on-crash", request->on_crash,
                   "What an agent does that does not answer any more: end the run for all, be left out, or have so "
                   "many seconds to come back")
      ->type_name("abort|exclude|wait:SECONDS")
      ->capture_default_str();
  make->add_option("--min-agents", request->min_agents,
                   "Fewer agents than these do not go on by themselves [more than half; with --on-crash exclude]")
      ->type_name("N");
  make->add_option("--checkpoint-every", request->checkpoint_every,
                   "Iterations between two states that agents keep, all of them at the same")
      ->type_name("N")
      ->capture_default_str();
  add_privacy(*make, *request);
  make->footer(
      "Example:\n"
      "  hearsay federation new heart.json --name heart -k 4 --topology ring \\\n"
      "    --agent cleveland@cleveland.example:7400 --agent budapest@budapest.example:7400 --agent zurich");
  make->callback([request, &action] { action = [request] { return make_federation(*request); }; });
}

// ---- sign -----------------------------------------------------------------------------------------------------------

struct SignRequest {
  std::string path;
  std::vector<std::string> requests;
  std::string authority = "authority", out = ".";
  Index days = 90, authority_days = 3650;
};

struct AuthorityFiles {
  fs::path key, certificate;
};

// Made once; later calls use what is there.
AuthorityFiles authority_of(const SignRequest& request, const FederationFile& file, std::time_t now) {
  const fs::path folder = request.authority;
  const AuthorityFiles files{folder / "authority.key", folder / "authority.pem"};
  const bool has_key = is_there(files.key, "authority"), has_certificate = is_there(files.certificate, "authority");
  require(has_key == has_certificate,
          fmt::format("authority = {}: must have both authority.key and authority.pem, or neither", folder.string()));
  if (has_key) return files;
  std::error_code problem;
  fs::create_directories(folder, problem);
  require(!problem, fmt::format("authority = {}: cannot be made: {}", folder.string(), problem.message()));
  const std::string key = new_key();
  const Validity validity{now - seconds_a_day, now + request.authority_days * seconds_a_day};
  const std::string certificate = authority_certificate(key, file.name + " authority", validity);
  write_secret(files.key, key);
  write_text(files.certificate, certificate);
  say(fmt::format("made an authority: {} is its secret, never to leave this machine\n",
                  terminal_safe(files.key.string())));
  return files;
}

// The agent a request is of, by the identity that it asks for.
const FederationAgent& agent_of(const FederationFile& file, const RequestFacts& facts, const std::string& path) {
  const auto asked =
      facts.identities.empty() ? std::string("nothing") : fmt::format("{}", fmt::join(facts.identities, ", "));
  if (facts.identities.size() == 1)
    for (const FederationAgent& agent : file.agents)
      if (agent.identity == facts.identities.front()) return agent;
  throw DataError(
      fmt::format("{}: asks for {}, and must ask for the identity of one agent of {}", path, asked, file.source));
}

int sign(const SignRequest& request) {
  const FederationFile file = read_federation(request.path);
  const std::time_t now = std::time(nullptr);
  struct Wanted {
    std::string path, text;
    const FederationAgent* agent;
    fs::path out;
  };
  std::vector<Wanted> wanted;  // all are looked at before the first is signed
  RunFiles files;
  files.reads("FILE", request.path);
  for (const std::string& path : request.requests) {
    io::require_regular_file(path);
    std::string text = io::read_whole(path, 1 << 20);
    const FederationAgent& agent = agent_of(file, read_request(text, path), path);
    wanted.push_back(
        {path, std::move(text), &agent, (fs::path(request.out) / (agent.name + ".pem")).lexically_normal()});
    files.reads("REQUEST", path);
    files.writes("out", wanted.back().out);
  }
  const AuthorityFiles authority = authority_of(request, file, now);
  const std::string key = io::read_whole(authority.key, 1 << 20),
                    certificate = io::read_whole(authority.certificate, 1 << 20);
  const Validity validity{now - seconds_a_day, now + request.days * seconds_a_day};  // clocks differ, by hours even
  for (const Wanted& want : wanted) {
    write_text(want.out,
               signed_certificate(want.text, certificate, key, want.agent->name, want.agent->identity, validity));
    say(fmt::format("signed {} for {} until {}\n", terminal_safe(want.out.string()),
                    terminal_safe(want.agent->identity), date_text(validity.end)));
  }
  const fs::path copy = (fs::path(request.out) / "authority.pem").lexically_normal();
  std::error_code unknown;
  if (!fs::equivalent(copy, authority.certificate, unknown)) write_text(copy, certificate);
  say(fmt::format("Send each agent its certificate and {}; neither is a secret.\n", terminal_safe(copy.string())));
  return done;
}

void add_sign(CLI::App& app, Action& action) {
  auto request = std::make_shared<SignRequest>();
  CLI::App* sign_it = app.add_subcommand("sign", "Sign agents' requests with an authority of the federation's own");
  sign_it->add_option("FILE", request->path, "The federation")->type_name("")->required();
  sign_it->add_option("REQUEST", request->requests, "What `hearsay agent key` wrote, NAME.csr")
      ->type_name("")
      ->required();
  sign_it
      ->add_option("--authority", request->authority,
                   "Where the authority's key and certificate lie; made the first time")
      ->type_name("DIR")
      ->capture_default_str();
  sign_it->add_option("--out", request->out, "Where NAME.pem and authority.pem go")
      ->type_name("DIR")
      ->capture_default_str();
  sign_it->add_option("--days", request->days, "How long a certificate is valid")
      ->type_name("N")
      ->check(CLI::Range(1, 3650))
      ->capture_default_str();
  sign_it->add_option("--authority-days", request->authority_days, "How long a new authority is")
      ->type_name("N")
      ->check(CLI::Range(1, 36500))
      ->capture_default_str();
  sign_it->footer(
      "Check with the agents' people, by telephone, that the requests are theirs.\n"
      "\n"
      "Example:\n"
      "  hearsay federation sign heart.json cleveland.csr budapest.csr zurich.csr");
  sign_it->callback([request, &action] { action = [request] { return sign(*request); }; });
}

// ---- plan -----------------------------------------------------------------------------------------------------------

struct PlanRequest {
  std::string path, json;
  Index dimension = 0, iterations = 0, rounds = 0;
  double latency = 20, bandwidth = 100, contraction = 0.1;
};

struct FederationPlan {
  Traffic traffic = {};
  Index dimension = 0, iterations = 0, rounds = 0, degree = 0;
  bool rounds_given = false, iterations_given = false;
  double seconds = 0, bytes_per_agent = 0, seconds_per_round = 0;
};

FederationPlan planned(const FederationFile& file, const PlanRequest& request, const GossipMatrix& W) {
  const FederationOptions options = federation_options(file);
  DecentralizedOptions solver = settle(options.network, options.solve);
  FederationPlan plan{.dimension = request.dimension > 0 ? request.dimension : file.features};
  require(plan.dimension > 0,
          fmt::format("dimension: must be given (--dimension D), for {} names no features", file.source));
  plan.rounds_given = request.rounds > 0 || solver.rounds.has_value();
  plan.rounds = request.rounds > 0 ? request.rounds
                : solver.rounds    ? *solver.rounds
                                   : gossip_rounds(solver.gossip, gossip_spectrum(W), request.contraction);
  plan.iterations_given = request.iterations > 0;
  plan.iterations = plan.iterations_given ? request.iterations : solver.max_iterations;
  solver.rounds = plan.rounds, solver.max_iterations = plan.iterations;
  plan.traffic = planned_traffic(W, plan.dimension, solver, options.network.precision);
  for (Index agent = 0; agent < W.agents(); ++agent)
    plan.degree = std::max(plan.degree, static_cast<Index>(neighbours_of(W, agent).size()));
  // The busiest agent sends its block to each neighbour over one line, and the last of them arrives after the latency.
  const double all_rounds = static_cast<double>(plan.traffic.rounds + plan.traffic.control_rounds);
  const double messages = std::max(1.0, static_cast<double>(plan.traffic.messages));
  const double message_bytes = static_cast<double>(plan.traffic.bytes) / messages;
  plan.bytes_per_agent = message_bytes * static_cast<double>(plan.degree) * all_rounds;
  plan.seconds_per_round =
      request.latency / 1000 + static_cast<double>(plan.degree) * message_bytes * 8 / (request.bandwidth * 1e6);
  plan.seconds = all_rounds * plan.seconds_per_round;
  return plan;
}

Json plan_json(const FederationFile& file, const PlanRequest& request, const FederationPlan& plan) {
  return {{"command", "federation plan"},
          {"federation", file.name},
          {"federation_digest", federation_digest(file)},
          {"dimension", plan.dimension},
          {"iterations", plan.iterations},
          {"iterations_are", plan.iterations_given ? "given" : "limit"},
          {"rounds_per_iteration", plan.rounds},
          {"rounds_are", plan.rounds_given ? "given" : "prediction"},
          {"rounds", plan.traffic.rounds},
          {"control_rounds", plan.traffic.control_rounds},
          {"messages", plan.traffic.messages},
          {"bytes", plan.traffic.bytes},
          {"bytes_of_busiest_agent", plan.bytes_per_agent},
          {"latency_ms", request.latency},
          {"bandwidth_mbit", request.bandwidth},
          {"seconds_per_round", plan.seconds_per_round},
          {"seconds", plan.seconds}};
}

int plan_run(const PlanRequest& request) {
  const FederationFile file = read_federation(request.path);
  for (const auto& [name, value] : {std::pair{"latency", request.latency}, {"bandwidth", request.bandwidth}})
    require(std::isfinite(value) && value >= 0 && (value > 0 || name == std::string_view("latency")),
            fmt::format("{} = {}: must be finite and positive", name, value));
  if (!request.json.empty() && request.json != "-") {
    RunFiles files;
    files.reads("FILE", request.path);
    files.writes("json", request.json);
  }
  const GossipMatrix W = federation_matrix(file);
  require(
      !file.dp || file.dp->trust == "none",
      fmt::format("dp: with trust {} there are no iterations to plan: each agent's sums, {} of them, go once to every "
                  "other",
                  file.dp ? file.dp->trust : "",
                  bytes_text(static_cast<std::int64_t>(4) * file.features * (file.features + 1))));
  const FederationPlan plan = planned(file, request, W);
  Delivery delivery;
  delivery.json(request.json, [&] { return plan_json(file, request, plan); });
  if (request.json == "-") return delivery.finish(done);
  std::string text = fmt::format("{}: {} agents on {} links, {} features\n\n", terminal_safe(file.name), W.agents(),
                                 W.edges(), plan.dimension);
  text += line("iterations", "{}{}", plan.iterations,
               plan.iterations_given ? "" : ", the limit; most runs end long before it: give --iterations");
  text += line("rounds", "{} with blocks, {} in every iteration{}, and {} of control", plan.traffic.rounds, plan.rounds,
               plan.rounds_given ? "" : " (predicted; the run measures what it needs)", plan.traffic.control_rounds);
  text +=
      line("traffic", "{} in all, {} from the busiest agent, which has {} neighbours", bytes_text(plan.traffic.bytes),
           bytes_text(static_cast<std::int64_t>(plan.bytes_per_agent)), plan.degree);
  text += line("time", "{:.3g} minutes at {:g} ms and {:g} Mbit/s: {:.3g} ms a round; products come on top",
               plan.seconds / 60, request.latency, request.bandwidth, plan.seconds_per_round * 1000);
  delivery.print(text);
  return delivery.finish(done);
}

void add_plan_command(CLI::App& app, Action& action) {
  auto request = std::make_shared<PlanRequest>();
  CLI::App* plan = app.add_subcommand("plan", "Rounds, bytes and minutes of a run, before anyone starts");
  plan->add_option("FILE", request->path, "The federation")->type_name("")->required();
  plan->add_option("--latency", request->latency, "From one agent to the next, one way")
      ->type_name("MILLISECONDS")
      ->capture_default_str();
  plan->add_option("--bandwidth", request->bandwidth, "Of an agent's line")->type_name("MBIT/S")->capture_default_str();
  plan->add_option("-d,--dimension", request->dimension, "Features, where the file does not say how many")
      ->type_name("D")
      ->check(CLI::Range(Index{1}, Index{1} << 30));
  plan->add_option("--iterations", request->iterations, "How many, where you know; else the limit of the file")
      ->type_name("T")
      ->check(CLI::Range(Index{1}, Index{1} << 40));
  plan->add_option("--rounds", request->rounds, "Of gossip in every iteration, where you know")
      ->type_name("L")
      ->check(CLI::Range(Index{1}, Index{1} << 30));
  plan->add_option("--json", request->json, "Write the plan as JSON; - prints it")->type_name("FILE|-");
  plan->footer(
      "Example:\n"
      "  hearsay federation plan heart.json --latency 50 --bandwidth 10 --iterations 60");
  plan->callback([request, &action] { action = [request] { return plan_run(*request); }; });
}

}  // namespace

void add_federation(CLI::App& root, Action& action) {
  CLI::App* app = root.add_subcommand("federation", "Organisations that run together: agree, sign, plan");
  app->require_subcommand(1);
  app->footer(
      "The way from nothing to a result is in docs/guide/federation.md.\n"
      "\n"
      "Examples:\n"
      "  hearsay federation new heart.json --name heart -k 4 --agent cleveland@c.example:7400 --agent zurich\n"
      "  hearsay federation show heart.json\n"
      "  hearsay federation sign heart.json cleveland.csr zurich.csr\n"
      "  hearsay federation plan heart.json --latency 50 --bandwidth 10");
  add_new(*app, action);
  auto path = std::make_shared<std::string>();
  CLI::App* show = app->add_subcommand("show", "Who takes part, who dials whom, what is computed, and the digest");
  show->add_option("FILE", *path, "The federation")->type_name("")->required();
  show->footer("Example:\n  hearsay federation show heart.json");
  show->callback([path, &action] {
    action = [path] {
      say(federation_summary(read_federation(*path)));
      return done;
    };
  });
  add_sign(*app, action);
  add_plan_command(*app, action);
}

}  // namespace hearsay::app

// hearsay agent: one organisation's part of a federation.
#include "commands/agent.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands/commands.hpp"
#include "commands/terminal.hpp"
#include "files/outputs.hpp"
#include "files/run_files.hpp"
#include "formats/escapes.hpp"
#include "hearsay/error.hpp"
#include "pki/pki.hpp"

namespace hearsay::app {

namespace {

namespace fs = std::filesystem;

int make_key(const AgentRequest& request) {
  const FederationFile file = read_federation(request.federation);
  const FederationAgent& agent = file.agents[static_cast<std::size_t>(find_agent(file, request.agent))];
  const fs::path key_path = (request.identity.folder / (agent.name + ".key")).lexically_normal();
  const fs::path request_path = (request.identity.folder / (agent.name + ".csr")).lexically_normal();
  RunFiles files;
  files.reads("FILE", request.federation);
  files.writes("keys", key_path);
  files.writes("keys", request_path);
  const std::string key = new_key(), asks = certificate_request(key, agent.name, agent.identity);
  write_secret(key_path, key);
  try {
    write_text(request_path, asks);
  } catch (...) {  // a key without its request would stand in the way of the next try
    std::error_code ignored;
    fs::remove(key_path, ignored);
    throw;
  }
  say(
      fmt::format("wrote {}, the private key of {}: it stays on this machine, and nobody else may read it\n"
                  "wrote {}, a request for a certificate of {}: send it to whoever signs\n",
                  terminal_safe(key_path.string()), terminal_safe(agent.name), terminal_safe(request_path.string()),
                  terminal_safe(agent.identity)));
  return done;
}

CLI::App* add_common(CLI::App& app, AgentRequest& request, const char* name, const char* summary) {
  CLI::App* command = app.add_subcommand(name, summary);
  command->add_option("FILE", request.federation, "The federation")->type_name("")->required();
  command->add_option("--agent", request.agent, "Which of its agents this is")->type_name("NAME|NUMBER")->required();
  command->add_option("--keys", request.identity.folder, "Where NAME.key, NAME.pem and authority.pem lie")
      ->type_name("DIR")
      ->capture_default_str();
  return command;
}

void add_identity(CLI::App& command, AgentRequest& request) {
  command.add_option("--certificate", request.identity.certificate, "In place of NAME.pem")->type_name("FILE");
  command.add_option("--key", request.identity.key, "In place of NAME.key")->type_name("FILE");
  command.add_option("--authority", request.identity.authority, "In place of authority.pem")->type_name("FILE");
  command
      .add_option("--listen", request.listen,
                  "Listen here, where that is not the port of the roster on every interface")
      ->type_name("HOST:PORT");
  command
      .add_option("--label-column", request.label_column,
                  "A column that is no feature: a number from 1, a name, or last")
      ->type_name("N|NAME|last");
}

void add_privacy(CLI::App& command, AgentRequest& request) {
  const auto add = [&](const char* name, std::string& text, const char* metavar, const char* help) {
    command.add_option(name, text, help)->type_name(metavar);
  };
  add("--ledger", request.ledger, "FILE",
      "Where the federation has dp: pay from this ledger, where that is not DATA.ledger");
  add("--budget", request.budget, "EPS,DELTA", "What may ever be spent, where the ledger is begun here");
  add("--site", request.site, "NAME", "Where the rows are, for the ledger");
  add("--insecure-seed", request.insecure_seed, "S",
      "For tests: draw the noise from a seed; then nothing is private, and every output says so");
}

void add_outputs(CLI::App& command, AgentRequest& request) {
  command
      .add_option("--components", request.components,
                  "Write the d x k basis; {agent} stands for the number [ends in .npy or .csv]")
      ->type_name("FILE");
  command.add_option("--json", request.json, "Write the result with its manifest as JSON; - prints it")
      ->type_name("FILE|-");
  command.add_option("--report", request.report, "Write a page with pictures [ends in .html or .svg]")
      ->type_name("FILE.html");
  command
      .add_option("--trace", request.trace,
                  "Write a line per iteration: rounds, bytes, residual, agreement [ends in .csv]")
      ->type_name("FILE.csv");
  command
      .add_option("--checkpoint", request.checkpoint,
                  "Keep here what this agent needs to go on; how often is in the federation's file")
      ->type_name("FILE");
  command.add_flag(
      "--resume", request.resume,
      "Go on from the checkpoint if it is there: all agents do, at the newest step that everyone has kept");
  command.add_option("--threads", request.threads, "Threads to use; results do not depend on it")->type_name("N");
  command.add_option("--memory", request.memory, "Refuse what would need more memory than this")->type_name("SIZE");
  command.add_flag("-q,--quiet", request.quiet, "No word on the way");
}

}  // namespace

void add_agent(CLI::App& root, Action& action, OpenLinks open) {
  CLI::App* app = root.add_subcommand("agent", "One organisation's part of a federation: key, check, run");
  app->require_subcommand(1);
  app->footer(
      "The way from nothing to a result is in docs/guide/federation.md.\n"
      "\n"
      "Examples:\n"
      "  hearsay agent key heart.json --agent cleveland\n"
      "  hearsay agent check heart.json --agent cleveland --data patients.csv\n"
      "  hearsay agent run heart.json --agent cleveland --data patients.csv --components basis.npy");

  auto request = std::make_shared<AgentRequest>();
  CLI::App* key = add_common(*app, *request, "key", "Make a private key, and a request for its certificate");
  key->footer("Example:\n  hearsay agent key heart.json --agent cleveland");
  key->callback([request, &action] { action = [request] { return make_key(*request); }; });

  auto looked_at = std::make_shared<AgentRequest>();
  CLI::App* check =
      add_common(*app, *looked_at, "check", "Look at files, certificate, data and neighbours, before a run");
  check->add_option("--data", looked_at->data, "Samples in rows; fed-heart-disease:CENTER is built in")
      ->type_name("FILE");
  add_identity(*check, *looked_at);
  add_privacy(*check, *looked_at);
  check->add_option("--wait", looked_at->wait_seconds, "How long to look for neighbours, and to answer theirs")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  check->footer(
      "A neighbour is seen where it runs, or checks at the same time. Exit code 2: something here is to be mended;\n"
      "4: all is well here, and a neighbour was not seen.\n"
      "\n"
      "Example:\n"
      "  hearsay agent check heart.json --agent cleveland --data patients.csv --wait 300");
  check->callback([looked_at, &action, open] { action = [looked_at, open] { return check_agent(*looked_at, open); }; });

  auto job = std::make_shared<AgentRequest>();
  CLI::App* run =
      add_common(*app, *job, "run", "Take part: find the components of everyone's data, and show nobody one's own");
  run->add_option("--data", job->data, "Samples in rows; fed-heart-disease:CENTER is built in")
      ->type_name("FILE")
      ->required();
  add_identity(*run, *job);
  add_privacy(*run, *job);
  add_outputs(*run, *job);
  run->footer(
      "Ctrl-C ends the run at every agent, each with what it has by then.\n"
      "\n"
      "Example:\n"
      "  hearsay agent run heart.json --agent cleveland --data patients.csv --components basis.npy --json result.json");
  run->callback([job, &action, open] { action = [job, open] { return run_agent_command(*job, open); }; });
}

}  // namespace hearsay::app

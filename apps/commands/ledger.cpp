// hearsay ledger: what has been spent of a privacy budget, and whether the file that says so holds together.
#include "hearsay/io/ledger.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "commands/findings.hpp"
#include "commands/terminal.hpp"
#include "files/delivery.hpp"
#include "files/run_files.hpp"
#include "formats/escapes.hpp"
#include "hearsay/error.hpp"
#include "hearsay/privacy.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

namespace {

using Kind = io::LedgerRecord::Kind;

struct LedgerRequest {
  std::string path, json;
  std::vector<std::string> seen;
};

// The ledger must not be written over by what is said of it.
void check_ledger_files(const LedgerRequest& request) {
  if (request.json.empty() || request.json == "-") return;
  RunFiles files;
  files.reads("FILE", request.path);
  files.writes("json", request.json);
}

int deliver_ledger(const LedgerRequest& request, const std::function<Json()>& json, const std::string& text, int code) {
  Delivery delivery;
  delivery.json(request.json, json);
  if (request.json != "-") delivery.print(text);
  return delivery.finish(code);
}

std::string time_of(const io::LedgerStamp& stamp) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(stamp.when)));
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// What a mu is at the delta of the budget; the budget itself is what it was stated as.
double ledger_epsilon(const io::LedgerBudget& budget, double mu) try {
  if (mu == budget.mu) return budget.epsilon;
  return mu > 0 ? gaussian_epsilon(mu, budget.delta) : 0;
} catch (const InvalidArgument&) {  // beyond all that a private run would state
  return std::numeric_limits<double>::infinity();
}

// ---- show -----------------------------------------------------------------------------------------------------------

std::string_view ledger_kind(Kind kind) {
  return kind == Kind::spend ? "spend" : kind == Kind::release ? "release" : "torn";
}

Json record_json(const io::LedgerRecord& record) {
  Json json = {{"record", record.number}, {"kind", ledger_kind(record.kind)}, {"mu", record.mu}};
  if (record.kind == Kind::spend) {
    json["epsilon"] = record.epsilon;
    json["query"] = record.query;
    json["command"] = record.command;
  } else {
    json[record.kind == Kind::release ? "of" : "bytes"] = record.kind == Kind::release ? record.of : record.bytes;
    json["digest"] = record.digest;
  }
  json["when"] = time_of(record.stamp);
  json["version"] = record.stamp.version;
  json["sha256"] = record.sha256;
  return json;
}

Json ledger_json(const io::LedgerContents& ledger) {
  Json records = Json::array();
  for (const io::LedgerRecord& record : ledger.records) records.push_back(record_json(record));
  const io::LedgerBudget& budget = ledger.budget;
  return {{"command", "ledger show"},
          {"ledger", ledger.id},
          {"data", budget.data},
          {"site", budget.site},
          {"neighbours", budget.neighbours},
          {"epsilon", budget.epsilon},
          {"delta", budget.delta},
          {"mu", budget.mu},
          {"epsilon_spent", number(ledger_epsilon(budget, ledger.spent_mu))},
          {"mu_spent", ledger.spent_mu},
          {"mu_left", ledger.left_mu},
          {"begun", time_of(ledger.begun)},
          {"version", ledger.begun.version},
          {"records", std::move(records)},
          {"torn_bytes", ledger.torn.size()},
          {"torn_mu", ledger.torn_mu},
          {"sha256", ledger.head}};
}

std::string record_text(const io::LedgerRecord& record) {
  std::string text = fmt::format("  {:>4}  {}  ", record.number, time_of(record.stamp));
  switch (record.kind) {
    case Kind::spend:
      text += fmt::format("mu {:.6g}, by itself epsilon {:.6g}: {}\n", record.mu, record.epsilon,
                          terminal_safe(record.query));
      return text + fmt::format("  {:>4}  {}, version {}\n", "", terminal_safe(record.command),
                                terminal_safe(record.stamp.version));
    case Kind::release:
      return text + fmt::format("released {}, paid for by record {}\n", record.digest, record.of);
    default:
      return text +
             fmt::format("a write was cut off before: {} bytes, which count mu {:.6g}\n", record.bytes, record.mu);
  }
}

std::string ledger_summary(const std::string& path, const io::LedgerContents& ledger) {
  const io::LedgerBudget& budget = ledger.budget;
  const auto queries = static_cast<std::size_t>(
      std::count_if(ledger.records.begin(), ledger.records.end(), [](const auto& r) { return r.kind == Kind::spend; }));
  std::string text = fmt::format("{}: {}{}, neighbours {}\n\n", terminal_safe(path), terminal_safe(budget.data),
                                 budget.site.empty() ? "" : fmt::format(" at {}", terminal_safe(budget.site)),
                                 terminal_safe(budget.neighbours));
  text += line("spent", "{:.6g} of {:.6g} at delta {:g}, by {}", ledger_epsilon(budget, ledger.spent_mu),
               budget.epsilon, budget.delta, counted(queries, "query", "queries"));
  text += line("in mu", "{:.6g} of {:.6g}; squares add up, so that {:.6g} is left", ledger.spent_mu, budget.mu,
               ledger.left_mu);
  text += line("begun", "{}, version {}", time_of(ledger.begun), terminal_safe(ledger.begun.version));
  text += line("seal", "{}", ledger.head);
  if (!ledger.records.empty()) text += '\n';
  for (const io::LedgerRecord& record : ledger.records) text += record_text(record);
  if (!ledger.torn.empty())
    text += fmt::format("\nThe last write was cut off: {} bytes, which count mu {:.6g}.\n", ledger.torn.size(),
                        ledger.torn_mu);
  return text;
}

int show_ledger(const LedgerRequest& request) {
  check_ledger_files(request);
  const io::LedgerContents ledger = io::read_ledger(request.path);
  return deliver_ledger(
      request, [&] { return ledger_json(ledger); }, ledger_summary(request.path, ledger), done);
}

// ---- verify ---------------------------------------------------------------------------------------------------------

void look_at_releases(const io::LedgerContents& ledger, Findings& findings) {
  for (const io::LedgerRecord& spend : ledger.records) {
    if (spend.kind != Kind::spend) continue;
    const bool released = std::any_of(ledger.records.begin(), ledger.records.end(), [&](const auto& other) {
      return other.kind == Kind::release && other.of == spend.number;
    });
    if (!released)
      findings.leave_out(
          "release", fmt::format("of record {} is not in the ledger: the run ended before, or goes on", spend.number));
  }
}

void look_at_end(const io::LedgerContents& ledger, Findings& findings) {
  if (ledger.torn.empty())
    findings.hold(true, "end", "the last line is whole");
  else
    findings.leave_out("end", fmt::format("the last write was cut off: {} bytes, which count mu {:.6g}",
                                          ledger.torn.size(), ledger.torn_mu));
}

Findings findings_about(const LedgerRequest& request) {
  const std::string bytes = io::ledger_bytes(request.path);
  Findings findings;
  io::LedgerContents ledger;
  try {
    ledger = io::parse_ledger(bytes, request.path);
  } catch (const DataError& error) {
    findings.hold(false, "records", error.what());
    return findings;
  }
  findings.hold(true, "records",
                fmt::format("{}, in order, each with its checksum and that of the one before",
                            counted(ledger.records.size() + 1, "record", "records")));
  // Each spend was held against it exactly; the root of the sum is rounded. What was cut off counts without being
  // asked.
  findings.hold(ledger.spent_mu <= ledger.budget.mu * (1 + 1e-14), "budget",
                fmt::format("mu {:.6g} is spent of {:.6g}", ledger.spent_mu, ledger.budget.mu));
  look_at_end(ledger, findings);
  for (const std::string& seal : request.seen)
    findings.hold(io::holds_seal(ledger, seal), "seal",
                  io::holds_seal(ledger, seal)
                      ? fmt::format("{} is in the ledger", seal)
                      : fmt::format("{} is not in the ledger: it is another one, or an older state of it", seal));
  if (request.seen.empty())
    findings.leave_out("seal", "none was given (--seen), so an older state of this ledger would not be noticed");
  look_at_releases(ledger, findings);
  return findings;
}

int verify_ledger(const LedgerRequest& request) {
  check_ledger_files(request);
  for (const std::string& seal : request.seen)
    require(seal.size() == 64 && seal.find_first_not_of("0123456789abcdef") == seal.npos,
            fmt::format("seen = {}: must be a SHA-256, 64 hexadecimal digits", seal));
  const Findings findings = findings_about(request);
  const auto json = [&] {
    Json all = Json::array();
    for (const auto& [verdict, what, how] : findings.all())
      all.push_back({{"verdict", verdict}, {"what", what}, {"how", how}});
    return Json{{"command", "ledger verify"}, {"holds", findings.failures() == 0}, {"findings", std::move(all)}};
  };
  return deliver_ledger(request, json, findings.told_of(request.path), findings.exit_code());
}

void add_ledger_action(CLI::App* command, const std::shared_ptr<LedgerRequest>& request, Action& action,
                       int (*run)(const LedgerRequest&)) {
  command->add_option("FILE", request->path, "The ledger")->type_name("")->required();
  command->add_option("--json", request->json, "Write it as JSON; - prints it")->type_name("FILE|-");
  command->callback([request, &action, run] { action = [request, run] { return run(*request); }; });
}

}  // namespace

void add_ledger(CLI::App& root, Action& action) {
  CLI::App* app = root.add_subcommand("ledger", "What has been spent of a privacy budget");
  app->require_subcommand(1);
  app->footer(
      "A query is in the ledger before it reads a row. What the file holds, and what it can and cannot notice:\n"
      "docs/reference/ledger.md.\n"
      "\n"
      "Examples:\n"
      "  hearsay ledger show patients.ledger\n"
      "  hearsay ledger verify patients.ledger");
  CLI::App* show = app->add_subcommand("show", "The budget, what is left of it, and who spent what when");
  show->footer("Examples:\n  hearsay ledger show patients.ledger\n  hearsay ledger show patients.ledger --json -");
  add_ledger_action(show, std::make_shared<LedgerRequest>(), action, show_ledger);
  CLI::App* verify = app->add_subcommand("verify", "Whether the records hold together");
  auto request = std::make_shared<LedgerRequest>();
  verify
      ->add_option("--seen", request->seen,
                   "A record's SHA-256 as a result told it: missing where the ledger was put back to an older state")
      ->type_name("SHA256")
      ->allow_extra_args(false);
  verify->footer(
      "Exit code 3: something does not hold.\n"
      "\n"
      "Example:\n"
      "  hearsay ledger verify patients.ledger --json -");
  add_ledger_action(verify, request, action, verify_ledger);
}

}  // namespace hearsay::app

#include "commands/job.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands/help.hpp"
#include "commands/solve.hpp"
#include "formats/faults_file.hpp"
#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/threads.hpp"

namespace hearsay::app {

namespace {

struct Setter {
  std::string_view name;
  void (*set)(Job&, const std::string& text);
};

constexpr Setter setters[] = {
    {"label-column", [](Job& job, const std::string& text) { job.label_column = text; }},
    {"dataset", [](Job& job, const std::string& text) { job.dataset = text; }},
    {"weights-column", [](Job& job, const std::string& text) { job.weights_column = text; }},
    {"row-weights", [](Job& job, const std::string& text) { job.row_weights = text; }},
    {"missing", [](Job& job, const std::string& text) { job.missing = missing_policy(text); }},
    {"components-from", [](Job& job, const std::string& text) { job.components_from = text; }},
    {"mean-from", [](Job& job, const std::string& text) { job.mean_from = text; }},
    {"scale-from", [](Job& job, const std::string& text) { job.scale_from = text; }},
    {"columns",
     [](Job& job, const std::string& text) {
       require(text == "by-name" || text == "by-position",
               fmt::format("columns = {}: must be one of {}", text, find_option("columns").range));
       job.columns = text == "by-name" ? ColumnMatch::by_name : ColumnMatch::by_position;
     }},
    {"shift", [](Job& job, const std::string& text) { job.shift = parse_real("shift", text); }},
    {"device", [](Job& job, const std::string& text) { job.device = text; }},
    {"block-rows", [](Job& job, const std::string& text) { job.block_rows = parse_integer("block-rows", text, 1); }},
    {"clusters", [](Job& job, const std::string& text) { job.clusters = parse_integer("clusters", text, 1); }},
    {"restarts", [](Job& job, const std::string& text) { job.restarts = parse_integer("restarts", text, 1); }},
    {"start", [](Job& job, const std::string& text) { job.start = text; }},
    {"reference", [](Job& job, const std::string& text) { job.reference = text; }},
    {"components", [](Job& job, const std::string& text) { job.components = text; }},
    {"scores", [](Job& job, const std::string& text) { job.scores = text; }},
    {"left", [](Job& job, const std::string& text) { job.left = text; }},
    {"right", [](Job& job, const std::string& text) { job.right = text; }},
    {"embedding", [](Job& job, const std::string& text) { job.embedding = text; }},
    {"labels", [](Job& job, const std::string& text) { job.labels = text; }},
    {"json", [](Job& job, const std::string& text) { job.json = text; }},
    {"report", [](Job& job, const std::string& text) { job.report = text; }},
    {"trace", [](Job& job, const std::string& text) { job.trace = text; }},
    {"out", [](Job& job, const std::string& text) { job.out = text; }},
    {"faults", [](Job& job, const std::string& text) { job.faults_file = text; }},
    {"checkpoint", [](Job& job, const std::string& text) { job.checkpoint = text; }},
    {"checkpoint-every",
     [](Job& job, const std::string& text) { job.checkpoint_every = parse_integer("checkpoint-every", text, 1); }},
    {"timeout",
     [](Job& job, const std::string& text) {
       job.timeout = parse_real("timeout", text);
       require(job.timeout > 0 && job.timeout <= 1e6,
               fmt::format("timeout = {}: must be positive, and at most 1e6 seconds", text));
     }},
    {"threads",
     [](Job&, const std::string& text) {
       const std::int64_t count = parse_integer("threads", text, 1);
       require(count <= 1024, fmt::format("threads = {}: must be at most 1024", count));
       set_threads(static_cast<int>(count));
     }},
    {"memory", [](Job&, const std::string& text) { set_memory_limit(parse_bytes("memory", text, 16'000'000)); }},
    {"audit",
     [](Job& job, const std::string& text) {
       job.audit = parse_real("audit", text);
       require(*job.audit > 0 && *job.audit < 1, fmt::format("audit = {}: must lie between 0 and 1", text));
     }},
};

struct Flag {
  std::string_view name;
  bool Job::*value;
};

constexpr Flag flags[] = {{"center", &Job::center},
                          {"standardize", &Job::standardize},
                          {"whiten", &Job::whiten},
                          {"stream", &Job::stream},
                          {"psd", &Job::psd},
                          {"largest-component", &Job::largest_component},
                          {"resume", &Job::resume},
                          {"quiet", &Job::quiet},
                          {"one-per-rank", &Job::one_per_rank},
                          {"quick", &Job::quick}};

// A flag that was repeated arrives as a list.
bool set_faults(Faults& faults, std::string_view flag, std::string_view list) {
  while (!list.empty()) {
    const std::size_t length = std::min(list.find(','), list.size());
    if (!set_fault_flag(faults, flag, list.substr(0, length))) return false;
    list.remove_prefix(std::min(length + 1, list.size()));
  }
  return true;
}

void set(Job& job, const OptionRecord& record, const std::string& text) {
  job.given[std::string(record.name)] = text;
  require(!text.empty(), fmt::format("--{}: must not be empty", record.name));
  require(!text.starts_with("--"), fmt::format("--{}: needs a value before {}", record.name, text));
  const bool networked =
      (record.commands & in_decentralized) != 0 && (job.command == "decentralized" || job.command == "plan");
  if (networked && set_option(job.network, record.name, text)) return;
  if (record.group == OptionGroup::faults && set_faults(job.faults, record.name, text)) return;
  if (set_option(job.solve, record.name, text)) return;
  for (const Setter& setter : setters)
    if (setter.name == record.name) return setter.set(job, text);
}

void set_flag(Job& job, const OptionRecord& record, bool value) {
  job.given[std::string(record.name)] = value ? "true" : "false";
  for (const Flag& flag : flags)
    if (flag.name == record.name) job.*flag.value = value;
}

std::string description(const OptionRecord& record) {
  std::string rules(record.range);
  if (record.kind != OptionKind::flag && !record.default_text.empty())
    rules += fmt::format("{}default {}", rules.empty() ? "" : "; ", record.default_text);
  return wrapped(rules.empty() ? std::string(record.help) : fmt::format("{} [{}]", record.help, rules), 84);
}

// With their dashes, the short one first.
std::vector<std::string> spellings(const OptionRecord& record) {
  std::vector<std::string> names;
  for (std::string_view aliases = record.aliases; !aliases.empty();) {
    const std::size_t length = std::min(aliases.find(' '), aliases.size());
    const std::string_view name = aliases.substr(0, length);
    names.push_back(name.starts_with('-') ? std::string(name) : fmt::format("--{}", name));
    aliases.remove_prefix(std::min(length + 1, aliases.size()));
  }
  names.push_back(fmt::format("--{}", record.name));
  return names;
}

// "-k,--rank"
std::string spelling(const OptionRecord& record) {
  std::string names;
  for (const std::string& name : spellings(record)) names += (names.empty() ? "" : ",") + name;
  return names;
}

// A flag that is on by default is listed by its negation; the other spellings are understood all the same.
CLI::Option* add_flag(CLI::App& app, const OptionRecord& record, Job& job) {
  const auto setter = [&job, &record](bool value) {
    return [&job, &record, value](std::int64_t) { set_flag(job, record, value); };
  };
  if (record.default_text != "true") return app.add_flag_function(spelling(record), setter(true), description(record));
  for (const std::string& name : spellings(record)) {
    app.add_flag_function(name, setter(true))->group("");
    if (name.substr(2) != record.name) app.add_flag_function("--no-" + name.substr(2), setter(false))->group("");
  }
  return app.add_flag_function(fmt::format("--no-{}", record.name), setter(false), description(record));
}

CLI::Option* add_valued(CLI::App& app, const OptionRecord& record, Job& job) {
  CLI::Option* option = app.add_option_function<std::string>(
                               spelling(record), [&job, &record](const std::string& text) { set(job, record, text); },
                               description(record))
                            ->type_name(std::string(record.metavar));
  return record.group == OptionGroup::faults ? option->join(',') : option->take_last();
}

void add_options(CLI::App& app, Commands command, Job& job) {
  for (const OptionRecord& record : option_table()) {
    if ((record.commands & command) == 0) continue;
    CLI::Option* option = record.kind == OptionKind::flag ? add_flag(app, record, job) : add_valued(app, record, job);
    option->group(std::string(title(record.group)));
    if (record.name == "rank" && command != in_plan) option->required();
    if (record.name == "components-from") option->required();
  }
}

}  // namespace

void add_command(CLI::App& root, Action& action, const CommandText& text, std::function<int(const Job&)> run) {
  CLI::App* app = root.add_subcommand(text.name, text.summary);
  auto job = std::make_shared<Job>();
  job->command = text.name;
  if (!text.input.empty()) {
    CLI::Option* input = text.many_inputs ? app->add_option(text.input, job->inputs, text.input_help)
                                          : app->add_option(text.input, job->input, text.input_help);
    input->type_name("")->required();
  }
  add_options(*app, text.options, *job);
  app->footer(text.footer);
  app->callback([job, run = std::move(run), &action] { action = [job, run] { return run(*job); }; });
}

Job remade(const std::string& command, const std::vector<std::string>& inputs,
           const std::map<std::string, std::string, std::less<>>& given) {
  Job job;
  job.command = command;
  job.inputs = inputs;
  if (!inputs.empty()) job.input = inputs.front();
  for (const auto& [name, text] : given) {
    const OptionRecord& record = find_option(name);
    record.kind == OptionKind::flag ? set_flag(job, record, text == "true") : set(job, record, text);
  }
  return job;
}

std::string Job::text(std::string_view name, std::string_view otherwise) const {
  const auto found = given.find(name);
  return found == given.end() ? std::string(otherwise) : found->second;
}

std::optional<std::int64_t> Job::integer(std::string_view name, std::int64_t least) const {
  const auto found = given.find(name);
  if (found == given.end()) return std::nullopt;
  return parse_integer(name, found->second, least);
}

std::optional<double> Job::real(std::string_view name) const {
  const auto found = given.find(name);
  if (found == given.end()) return std::nullopt;
  return parse_real(name, found->second);
}

std::uint64_t Job::network_seed() const { return static_cast<std::uint64_t>(integer("network-seed", 0).value_or(0)); }

namespace {

void check_pca(const Job& job) {
  PcaSettings settings{.center = job.center, .batch = job.integer("batch", 1), .missing = job.missing};
  check(request_of(job), settings);
  const bool counted = job.solve.rank_rule.kind == RankRule::Kind::count;
  require(counted || job.reference.empty(),
          "reference: needs a number for --rank, to be held against so many components");
  require(job.row_weights.empty() || job.weights_column.empty(),
          "row-weights: --weights-column names the weights already; leave one of them out");
  require(!job.whiten || !job.scores.empty() || !job.report.empty(), "whiten: is about --scores, and none are written");
  require(!job.stream || job.missing != Missing::em,
          "missing = em: fills entries in again and again, and needs the data in memory; leave --stream out, or use "
          "--missing mean or drop-rows");
}

}  // namespace

void check(Job& job) {
  settle(job.solve);
  check(request_of(job));
  require(job.command == "pca" || job.solve.rank_rule.kind == RankRule::Kind::count,
          fmt::format("rank = {}: must be a whole number of at least 1; a share of the variance, or mle, is for pca",
                      job.text("rank", "")));
  if (job.command == "pca") check_pca(job);
  require(!job.resume || !job.checkpoint.empty(), "resume: needs --checkpoint FILE to go on from");
  if (job.stream && job.command == "pca") {
    require(job.solve.precision == Precision::full, "stream: works in double precision only; leave --precision out");
  }
  require(!job.resume || !job.audit, "audit: follows a run from its first step, so it cannot --resume one");
}

}  // namespace hearsay::app

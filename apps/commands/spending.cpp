#include "commands/spending.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <system_error>

#include "commands/commands.hpp"
#include "files/inputs.hpp"
#include "files/run_files.hpp"
#include "files/samples.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/version.hpp"

namespace hearsay::app {

namespace fs = std::filesystem;

namespace {

struct Refusal {
  std::string_view option, why;
};

constexpr Refusal refusals[] = {
    {"center", "says nothing of whose mean; use --dp-center none, given or dp-mean"},
    {"standardize",
     "divides by deviations of the data, which would be a release of its own; scale features by public "
     "numbers beforehand"},
    {"missing", "fills in, or leaves out, by what the data hold; treat missing entries beforehand, row by row"},
    {"row-weights", "would let a row count for more than the noise hides"},
    {"weights-column", "would let a row count for more than the noise hides"},
    {"scores", "are the rows themselves in other coordinates; they are not private"},
    {"whiten", "is about scores, which are not private"},
    {"report", "shows scores and what the solve saw; it has no private form"},
    {"trace", "shows what the solve saw; it has no private form"},
    {"one-per-rank", "is about ranks, and a private run among agents is in one process"},
    {"checkpoint", "keeps what the solve saw; the release is made once and takes no second reading"},
    {"checkpoint-every", "is about checkpoints, which a private run does not keep"},
    {"resume", "would draw the noise again; a second draw is a second release"},
    {"batch", "reads rows at every step; a private run reads them once"},
    {"reference", "would tell an angle to what may be the data's own components"},
    {"audit", "needs products without noise"},
    {"noise", "is the release's own"},
    {"precision", "must be double: the proof is about its arithmetic"}};

template <class Kind>
Kind chosen(const Job& job, std::string_view option, std::initializer_list<Kind> kinds) {
  const std::string text = job.text(option, find_option(option).default_text);
  for (const Kind kind : kinds)
    if (name(kind) == text) return kind;
  throw InvalidArgument(fmt::format("{} = {}: must be one of {}", option, text, find_option(option).range));
}

std::string command_of(const Job& job) {
  std::string text = fmt::format("hearsay {}", job.command);
  for (const std::string& input : job.inputs.empty() ? std::vector<std::string>{job.input} : job.inputs)
    text += fmt::format(" {}", input);
  for (const auto& [option, value] : job.given) text += fmt::format(" --{} {}", option, value);
  return text;
}

double epsilon_of(double mu, double delta) { return mu > 0 ? gaussian_epsilon(mu, delta) : 0.0; }

}  // namespace

std::optional<std::pair<std::string, std::string>> split_at_comma(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == text.npos) return std::nullopt;
  return std::pair{text.substr(0, comma), text.substr(comma + 1)};
}

PrivacyBudget budget_of(const Job& job, std::string_view option) {
  const std::string text = job.text(option, "");
  const auto parts = split_at_comma(text);
  require(parts.has_value(), fmt::format("{} = {}: must be EPS,DELTA, as in 1,1e-6", option, text));
  const PrivacyBudget budget{parse_real(option, parts->first), parse_real(option, parts->second)};
  gaussian_mu(budget);
  return budget;
}

PrivacySettings privacy_of(const Job& job) {
  require(
      job.given.contains("row-norm"),
      "row-norm: must be given with --dp, and chosen without a look at the data: it says how much noise a row needs");
  PrivacySettings settings{.budget = budget_of(job, "dp"), .row_norm = *job.real("row-norm")};
  settings.neighbours = chosen(job, "neighbours", {Neighbours::add_remove, Neighbours::replace});
  settings.center = chosen(job, "dp-center", {PrivateCenter::none, PrivateCenter::given, PrivateCenter::dp_mean});
  settings.public_rows = job.integer("public-rows", 1).value_or(0);
  settings.form =
      chosen(job, "release", {ReleaseForm::automatic, ReleaseForm::stored, ReleaseForm::lazy, ReleaseForm::fresh});
  return settings;
}

void take_mean(const Job& job, PrivacySettings& settings) {
  const bool given = settings.center == PrivateCenter::given;
  require(given || job.mean_from.empty(), "mean-from: is the public mean of --dp-center given");
  require(!given || !job.mean_from.empty(), "dp-center = given: needs --mean-from FILE, a mean that is public");
  if (!given) return;
  const std::vector<double> numbers = load_numbers(job.mean_from, "mean-from");
  settings.mean = Eigen::Map<const Eigen::VectorXd>(numbers.data(), static_cast<Index>(numbers.size()));
}

void check_private_options(const Job& job, std::span<const std::string_view> taken) {
  for (const auto& [option, text] : job.given) {
    for (const Refusal& refusal : refusals)
      require(option != refusal.option || text == "false",
              fmt::format("{}: {}; leave it out with --dp", option, refusal.why));
    const bool known = std::find(taken.begin(), taken.end(), option) != taken.end();
    require(known || text == "false", fmt::format("{}: is not for --dp; leave it out", option));
  }
  require(job.center, "center: says nothing of whose mean; use --dp-center none, given or dp-mean");
  const bool insecure = job.given.contains("insecure-seed");
  for (const char* option : {"ledger", "budget", "site"})
    require(!insecure || !job.given.contains(option),
            fmt::format("{}: accounts for private releases, and with --insecure-seed there is none", option));
  require(
      !insecure || job.components.empty() ||
          job.components.filename().string().find("NON-PRIVATE") != std::string::npos,
      fmt::format("components = {}: must have NON-PRIVATE in its name with --insecure-seed", job.components.string()));
}

// ---- The ledger

io::LedgerStamp stamp_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.when = std::chrono::duration_cast<std::chrono::seconds>(now).count(), .version = version};
}

namespace {

fs::path behind_links(const fs::path& file) {
  std::error_code unknown;
  if (!fs::is_symlink(file, unknown)) return file;
  const fs::path real = fs::canonical(file, unknown);
  return unknown ? file : real;
}

}  // namespace

fs::path ledger_beside(const fs::path& file) {
  fs::path path = behind_links(file);
  path += ".ledger";
  return path;
}

std::string data_name(const fs::path& file) { return behind_links(file).filename().string(); }

void require_distinct(const std::vector<fs::path>& files) {
  std::map<std::pair<dev_t, ino_t>, fs::path> seen;
  for (const fs::path& file : files) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) continue;  // whoever opens it says so
    const auto [first, is_new] = seen.emplace(std::pair{status.st_dev, status.st_ino}, file);
    require(is_new, fmt::format("{}: is the file {} too, and each record must lie at one agent alone", file.string(),
                                first->second.string()));
  }
}

void check_ledger_place(const Job& job, const fs::path& path) {
  RunFiles files = files_of_run(job);
  if (!job.given.contains("ledger") || !is_there(path, "ledger")) files.writes("ledger", path);
  for (const RunFile& input : files.inputs())
    require(input.option == "ledger" || input.path != path, fmt::format("ledger = {}: is an input too", path.string()));
}

io::Ledger open_ledger(const Job& job, const fs::path& path, const std::string& data, const PrivacySettings& settings) {
  const PrivacyBudget budget = job.given.contains("budget") ? budget_of(job, "budget") : settings.budget;
  const io::LedgerBudget stated{.data = data,
                                .site = job.text("site", ""),
                                .neighbours = std::string(name(settings.neighbours)),
                                .epsilon = budget.epsilon,
                                .delta = budget.delta,
                                .mu = gaussian_mu(budget)};
  if (!is_there(path, "ledger")) return io::Ledger::begin(path, stated, stamp_now());
  io::Ledger ledger(path);
  ledger.require_of(stated);
  const io::LedgerBudget& held = ledger.contents().budget;
  require(!job.given.contains("budget") || (held.epsilon == budget.epsilon && held.delta == budget.delta),
          fmt::format("budget = {}: was stated as {:g},{:g} when {} was begun, and stays that", job.text("budget", ""),
                      held.epsilon, held.delta, path.string()));
  return ledger;
}

LedgerFacts spend(const Job& job, io::Ledger& ledger, const fs::path& path, const PrivacySettings& settings) {
  const double mu = gaussian_mu(settings.budget), delta = ledger.contents().budget.delta;
  LedgerFacts facts{.path = path.string()};
  facts.receipt = ledger.reserve(
      {.mu = mu,
       .epsilon = epsilon_of(mu, delta),
       .neighbours = std::string(name(settings.neighbours)),
       .query = fmt::format("the {} largest components, row norm {:g}", job.solve.power.rank, settings.row_norm),
       .command = command_of(job),
       .stamp = stamp_now()},
      epsilon_of);
  const io::LedgerContents& now = ledger.contents();
  facts.spent = now.spent_mu == now.budget.mu ? now.budget.epsilon : epsilon_of(now.spent_mu, delta);
  facts.of = now.budget.epsilon;
  facts.delta = delta;
  return facts;
}

SecretWords words_of(const Job& job, std::uint64_t agent) {
  constexpr std::uint64_t apart = 0x9E3779B97F4A7C15;  // the seeds of two agents
  const auto seed = job.integer("insecure-seed", 0);
  return seed ? insecure_words(static_cast<std::uint64_t>(*seed) + apart * agent) : system_words();
}

std::vector<std::string> public_names(std::vector<std::string> names) {
  const bool header = std::none_of(names.begin(), names.end(), [](const std::string& name) {
    return name.empty() || std::string_view("0123456789.+-").find(name.front()) != std::string_view::npos;
  });
  return header ? std::move(names) : std::vector<std::string>{};
}

}  // namespace hearsay::app

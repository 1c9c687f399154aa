// hearsay pca --dp: what is asked for, the ledger, the release, and what is told of it. Nothing here looks at rows but
// PrivateCovariance; nothing is told but what was released, what follows from it, and what was public before.
#include "commands/private.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands/commands.hpp"
#include "commands/terminal.hpp"
#include "files/convert.hpp"
#include "files/delivery.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "files/run_files.hpp"
#include "files/samples.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/built_in.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/ledger.hpp"
#include "hearsay/private_pca.hpp"
#include "hearsay/version.hpp"
#include "reports/private_report.hpp"

namespace hearsay::app {

namespace {

namespace fs = std::filesystem;

// Options that a private run takes; of all others somebody would have to say what they tell of the rows.
constexpr std::string_view private_options[] = {
    "rank",      "method",      "momentum",     "damping",   "tolerance",  "max-iterations", "oversample",
    "qr-every",  "seed",        "label-column", "stream",    "block-rows", "components",     "json",
    "quiet",     "threads",     "memory",       "mean-from", "dp",         "row-norm",       "neighbours",
    "dp-center", "public-rows", "ledger",       "budget",    "site",       "insecure-seed"};

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
    {"checkpoint", "keeps what the solve saw; the release is made once and takes no second reading"},
    {"checkpoint-every", "is about checkpoints, which a private run does not keep"},
    {"resume", "would draw the noise again; a second draw is a second release"},
    {"batch", "reads rows at every step; a private run reads them once"},
    {"reference", "would tell an angle to what may be the data's own components"},
    {"audit", "needs products without noise"},
    {"noise", "is the release's own"},
    {"precision", "must be double: the proof is about its arithmetic"}};

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

template <class Kind>
Kind chosen(const Job& job, std::string_view option, std::initializer_list<Kind> kinds) {
  const std::string text = job.text(option, find_option(option).default_text);
  for (const Kind kind : kinds)
    if (name(kind) == text) return kind;
  throw InvalidArgument(fmt::format("{} = {}: must be one of {}", option, text, find_option(option).range));
}

PrivacySettings privacy_of(const Job& job) {
  require(
      job.given.contains("row-norm"),
      "row-norm: must be given with --dp, and chosen without a look at the data: it says how much noise a row needs");
  PrivacySettings settings{.budget = budget_of(job, "dp"), .row_norm = *job.real("row-norm")};
  settings.neighbours = chosen(job, "neighbours", {Neighbours::add_remove, Neighbours::replace});
  settings.center = chosen(job, "dp-center", {PrivateCenter::none, PrivateCenter::given, PrivateCenter::dp_mean});
  settings.public_rows = job.integer("public-rows", 1).value_or(0);
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

void check_private(const Job& job) {
  for (const auto& [option, text] : job.given) {
    for (const Refusal& refusal : refusals)
      require(option != refusal.option || text == "false",
              fmt::format("{}: {}; leave it out with --dp", option, refusal.why));
    const bool known =
        std::find(std::begin(private_options), std::end(private_options), option) != std::end(private_options);
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

fs::path ledger_path(const Job& job) {
  if (const auto given = job.given.find("ledger"); given != job.given.end()) return given->second;
  require(!is_pipe(job.input), "ledger: must be named where the data come from a pipe");
  fs::path path = job.input;
  path += ".ledger";
  return path;
}

// The ledger is neither the data nor what is written over.
void check_ledger_place(const Job& job, const fs::path& path) {
  RunFiles files = files_of_run(job);
  if (!job.given.contains("ledger") || !is_there(path, "ledger")) files.writes("ledger", path);
  for (const RunFile& input : files.inputs())
    require(input.option == "ledger" || input.path != path, fmt::format("ledger = {}: is an input too", path.string()));
}

io::Ledger open_ledger(const Job& job, const fs::path& path, const PrivacySettings& settings) {
  const PrivacyBudget budget = job.given.contains("budget") ? budget_of(job, "budget") : settings.budget;
  const io::LedgerBudget stated{.data = fs::path(job.input).filename().string(),
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

std::string command_of(const Job& job) {
  std::string text = fmt::format("hearsay pca {}", job.input);
  for (const auto& [option, value] : job.given) text += fmt::format(" --{} {}", option, value);
  return text;
}

double epsilon_of(double mu, double delta) { return mu > 0 ? gaussian_epsilon(mu, delta) : 0.0; }

// When it returns the budget is spent, on the disk, whatever happens next.
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

std::string digest_of(const PrivatePcaSolution& found) {
  const auto bytes = [](const auto& matrix) {
    return std::string_view(reinterpret_cast<const char*>(matrix.data()),
                            static_cast<std::size_t>(matrix.size()) * sizeof(double));
  };
  return io::sha256_hex(io::sha256_hex(bytes(found.release)) + io::sha256_hex(bytes(found.mean)));
}

// ---- The release

Request private_request(const Job& job) {
  Request request{.settings = job.solve, .observe_basis = false};
  request.settings.power.certify = Certify::none;
  return request;
}

SecretWords words_of(const Job& job) {
  const auto seed = job.integer("insecure-seed", 0);
  return seed ? insecure_words(static_cast<std::uint64_t>(*seed)) : system_words();
}

struct Released {
  PrivatePcaSolution found = {};
  std::vector<std::string> features = {};
};

// Readers quote what they cannot read, with its place: none of it is passed on.
template <class Read>
auto quietly(const Job& job, const Read& read) try {
  return read();
} catch (const Error&) {
  throw DataError(
      fmt::format("{}: cannot be read as a table of finite numbers with these options, or not within the "
                  "memory there is; where data are private nothing is said of where. The budget is spent "
                  "all the same",
                  job.input));
}

// The first line of a table is its header where not all of it are numbers. Where some are, it may be somebody's row.
std::vector<std::string> public_names(std::vector<std::string> names) {
  const bool header = std::none_of(names.begin(), names.end(), [](const std::string& name) {
    return name.empty() || std::string_view("0123456789.+-").find(name.front()) != std::string_view::npos;
  });
  return header ? std::move(names) : std::vector<std::string>{};
}

Released release(const Job& job, const PrivacySettings& settings) {
  const Request request = private_request(job);
  if (job.stream) {
    const SampleStream stream = quietly(job, [&] { return open_weighted_samples(job); });
    return {solve_private_pca(*stream.rows, request, settings, words_of(job)), public_names(stream.column_names)};
  }
  Samples samples = quietly(job, [&] { return load_weighted_samples(job); });
  Released made{.features = public_names(std::move(samples.data.column_names))};
  made.found = std::visit(
      [&](const auto& matrix) {
        return solve_private_pca(borrow(in<double>(matrix)), request, settings, words_of(job));
      },
      samples.data.matrix);
  return made;
}

// What the solve refuses, a rank above the number of columns, it says by itself; rows that it streams it cannot read.
Released release_quietly(const Job& job, const PrivacySettings& settings) try {
  return release(job, settings);
} catch (const DataError& error) {
  return quietly(job, [&]() -> Released { throw error; });
}

}  // namespace

void refuse_without_dp(const Job& job) {
  if (job.given.contains("dp")) return;
  for (const auto& [option, text] : job.given)
    require(find_option(option).group != OptionGroup::privacy && !(option == "mean-from" && job.command == "pca"),
            fmt::format("{}: is about private data; it needs --dp EPS,DELTA", option));
}

int run_private_pca(Job job) {
  check_private(job);
  settle(job.solve);
  check_outputs(job);
  PrivacySettings settings = privacy_of(job);
  take_mean(job, settings);
  check(private_request(job), settings);
  const fs::path data = locate_input(job.input);
  require(io::built_in_file(data) || is_there(data), fmt::format("{}: is not there", data.string()));

  std::optional<LedgerFacts> ledger_facts;
  std::optional<io::Ledger> ledger;
  if (!job.given.contains("insecure-seed")) {
    const fs::path path = ledger_path(job);
    check_ledger_place(job, path);
    ledger.emplace(open_ledger(job, path, settings));
    ledger_facts = spend(job, *ledger, path, settings);
  }
  const Released made = release_quietly(job, settings);
  if (ledger) ledger->released(ledger_facts->receipt, digest_of(made.found), stamp_now());

  Delivery delivery;
  delivery.block(job.components, made.found.solution.power.basis);
  const PrivateReport report{job, settings, made.found, made.features, ledger_facts};
  delivery.json(job.json, [&] { return private_json(report); });
  if (!job.prints_json()) delivery.print(private_summary(report));
  return delivery.finish(exit_code(made.found.solution.power.status));
}

// ---- Before anything is spent

namespace {

std::vector<double> listed(const std::string& text) {
  std::vector<double> values;
  std::string rest = text;
  for (;;) {
    const auto parts = split_at_comma(rest);
    values.push_back(parse_real("spectrum", parts ? parts->first : rest));
    if (!parts) return values;
    rest = parts->second;
  }
}

// Rows of norm B have variances that sum to B^2 at most; a power law is scaled to that.
Vector<double> guessed_spectrum(const Job& job, Index d, double row_norm) {
  require(job.given.contains("spectrum"), "spectrum: must be given with --dp: a guess at the variances");
  const std::string text = job.text("spectrum", "");
  if (!text.starts_with("i^-")) {
    const std::vector<double> values = listed(text);
    return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Index>(values.size()));
  }
  const double power = parse_real("spectrum", text.substr(3));
  require(power > 0 && power <= 20, fmt::format("spectrum = {}: the power must be above 0 and at most 20", text));
  Vector<double> values(d);
  for (Index i = 0; i < d; ++i) values(i) = std::pow(static_cast<double>(i + 1), -power);
  return values * (row_norm * row_norm / values.sum());
}

}  // namespace

int run_private_plan(const Job& job) {
  constexpr std::string_view taken[] = {"dp",   "row-norm",  "neighbours", "dp-center", "public-rows", "spectrum",
                                        "rank", "dimension", "epsilon",    "json",      "threads",     "memory"};
  for (const auto& [option, text] : job.given)
    require(std::find(std::begin(taken), std::end(taken), option) != std::end(taken),
            option == "data" || option == "matrix"
                ? fmt::format("{}: a plan with --dp reads no data; give --spectrum, a guess", option)
                : fmt::format("{}: is not for a plan with --dp; leave it out", option));
  check_outputs(job);
  require(job.given.contains("rank") && job.solve.rank_rule.kind == RankRule::Kind::count,
          "rank: must be given (-k K), and be a number");
  for (const char* option : {"dimension", "public-rows"})
    require(job.given.contains(option), fmt::format("{}: must be given with --dp", option));
  PrivatePlanRequest request{.privacy = privacy_of(job), .rank = job.solve.power.rank};
  request.dimension = *job.integer("dimension", 2);
  if (request.privacy.center == PrivateCenter::given)  // whose numbers a plan does not need
    request.privacy.center = PrivateCenter::none;
  request.spectrum = guessed_spectrum(job, request.dimension, request.privacy.row_norm);
  const PrivatePlan plan = plan_private_pca(request);
  const auto sine = job.real("epsilon");
  const auto needed = sine ? epsilon_for_sine(request, *sine) : std::nullopt;
  Delivery delivery;
  delivery.json(job.json, [&] { return private_plan_json(job, request, plan, sine, needed); });
  if (!job.prints_json()) delivery.print(private_plan_text(request, plan, sine, needed));
  return delivery.finish(done);
}

}  // namespace hearsay::app

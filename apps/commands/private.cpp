// hearsay pca --dp: what is asked for, the ledger, the release, and what is told of it. Nothing here looks at rows but
// PrivateCovariance; nothing is told but what was released, what follows from it, and what was public before.
#include "commands/private.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands/commands.hpp"
#include "commands/spending.hpp"
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
    "dp-center", "public-rows", "ledger",       "budget",    "site",       "insecure-seed",  "release"};

// ---- The ledger

fs::path ledger_path(const Job& job) {
  if (const auto given = job.given.find("ledger"); given != job.given.end()) return given->second;
  require(!is_pipe(job.input), "ledger: must be named where the data come from a pipe");
  return ledger_beside(job.input);
}

std::string digest_of(const PrivatePcaSolution& found) {
  const auto bytes = [](const auto& matrix) {
    return std::string_view(reinterpret_cast<const char*>(matrix.data()),
                            static_cast<std::size_t>(matrix.size()) * sizeof(double));
  };
  std::string digests = io::sha256_hex(bytes(found.release)) + io::sha256_hex(bytes(found.mean));
  if (found.form != ReleaseForm::stored) digests += io::sha256_hex(bytes(found.directions));
  return io::sha256_hex(digests);
}

// ---- The release

Request private_request(const Job& job) {
  Request request{.settings = job.solve, .observe_basis = false};
  request.settings.power.certify = Certify::none;
  return request;
}

struct Released {
  PrivatePcaSolution found = {};
  std::vector<std::string> features = {};
};

Released release(const Job& job, const PrivacySettings& settings) {
  const Request request = private_request(job);
  if (job.stream) {
    const SampleStream stream = quietly(job, [&] { return open_weighted_samples(job); });
    return {solve_private_pca(*stream.rows, request, settings, words_of(job, 0)), public_names(stream.column_names)};
  }
  Samples samples = quietly(job, [&] { return load_weighted_samples(job); });
  Released made{.features = public_names(std::move(samples.data.column_names))};
  made.found = std::visit(
      [&](const auto& matrix) {
        return solve_private_pca(borrow(in<double>(matrix)), request, settings, words_of(job, 0));
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
  const bool takes_mean = job.command == "project";  // and of other commands only a private run
  for (const auto& [option, text] : job.given)
    require(find_option(option).group != OptionGroup::privacy && (option != "mean-from" || takes_mean),
            fmt::format("{}: is about private data; it needs --dp EPS,DELTA", option));
}

int run_private_pca(Job job) {
  check_private_options(job, private_options);
  settle(job.solve);
  check_outputs(job);
  PrivacySettings settings = privacy_of(job);
  take_mean(job, settings);
  require(!job.stream || !is_pipe(job.input),
          fmt::format("{}: is a pipe, and with --dp a stream is a file; leave --stream out", job.input));
  check(private_request(job), settings);
  const fs::path data = locate_input(job.input);
  require(io::built_in_file(data) || is_there(data), fmt::format("{}: is not there", data.string()));

  std::optional<LedgerFacts> ledger_facts;
  std::optional<io::Ledger> ledger;
  if (!job.given.contains("insecure-seed")) {
    const fs::path path = ledger_path(job);
    check_ledger_place(job, path);
    ledger.emplace(open_ledger(job, path, data_name(job.input), settings));
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

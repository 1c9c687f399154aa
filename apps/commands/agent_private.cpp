#include "commands/agent_private.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/spending.hpp"
#include "commands/terminal.hpp"
#include "files/delivery.hpp"
#include "files/inputs.hpp"
#include "formats/escapes.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/built_in.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/ledger.hpp"
#include "reports/private_report.hpp"
#include "secure/secure_sum.hpp"

namespace hearsay::app {

namespace {

namespace fs = std::filesystem;

// What the federation says, and the agent's own; of all others somebody would have to say what they tell.
constexpr std::string_view agent_options[] = {"rank",
                                              "algorithm",
                                              "gossip",
                                              "rounds",
                                              "weights",
                                              "tolerance",
                                              "max-iterations",
                                              "momentum",
                                              "damping",
                                              "oversample",
                                              "seed",
                                              "topology",
                                              "message-precision",
                                              "label-column",
                                              "components",
                                              "json",
                                              "quiet",
                                              "dp",
                                              "row-norm",
                                              "neighbours",
                                              "trust",
                                              "colluders",
                                              "public-rows",
                                              "dp-center",
                                              "ledger",
                                              "budget",
                                              "site",
                                              "insecure-seed"};

fs::path ledger_path(const Job& job) {
  const std::string named = job.text("ledger", "");
  return named.empty() ? ledger_beside(job.input) : fs::path(named);
}

// Each key goes straight to the other of its pair, over the link that proves whose it is.
void mask_words(std::span<std::uint64_t> words, Index self, Index agents, std::uint64_t run, const SayAndHear& talk) {
  secure::RunId id{};
  for (std::size_t i = 0; i < id.size(); ++i) id[i] = static_cast<std::uint8_t>(run >> (8 * (i % 8)));
  secure::MaskedAgent own(static_cast<int>(self), static_cast<int>(agents), id);
  const secure::PublicKey& key = own.public_key();
  const auto said = talk(std::string(key.begin(), key.end()), "keys of the masks");
  for (std::size_t agent = 0; agent < said.size(); ++agent) {
    if (static_cast<Index>(agent) == self) continue;
    secure::PublicKey theirs{};
    if (said[agent].size() != theirs.size())
      throw CommunicationError(
          fmt::format("agent {} sent a key of {} bytes: must be {}", agent, said[agent].size(), theirs.size()));
    std::copy(said[agent].begin(), said[agent].end(), theirs.begin());
    own.meet(static_cast<int>(agent), theirs);
  }
  own.mask(0, words);
}

void require_data(const Job& job) {
  require(
      job.input != "fed-heart-disease" || is_there(job.input),
      "fed-heart-disease: its centers scaled their features by their own rows, which would be a release of its own; "
      "give a file in public units");
  const fs::path data = locate_input(job.input);
  require(io::built_in_file(data) || is_there(data), fmt::format("{}: is not there", data.string()));
}

// Read again where it is there; a run would begin it.
double left_of(const Job& job, const PrivacySettings& settings) {
  const fs::path path = ledger_path(job);
  if (is_there(path, "ledger")) return open_ledger(job, path, data_name(job.input), settings).contents().left_mu;
  return gaussian_mu(job.given.contains("budget") ? budget_of(job, "budget") : settings.budget);
}

void require_enough(const Job& job, const PrivacySettings& settings, double left) {
  const double mu = gaussian_mu(settings.budget);
  require(mu <= left,
          fmt::format("{}: the budget would be exceeded: mu {:.6g} is left, and {:.6g} asked for; nothing is spent",
                      ledger_path(job).string(), left, mu));
}

}  // namespace

void give_private_options(const AgentRequest& request, const FederationFile& file, Job& job) {
  const std::pair<const char*, const std::string*> own[] = {{"ledger", &request.ledger},
                                                            {"budget", &request.budget},
                                                            {"site", &request.site},
                                                            {"insecure-seed", &request.insecure_seed}};
  for (const auto& [option, text] : own) {
    require(file.dp || text->empty(),
            fmt::format("{}: is about private data; {} says nothing of it", option, file.source));
    if (!text->empty()) job.given[option] = *text;
  }
  if (!file.dp) return;
  if (!request.label_column.empty()) job.given["label-column"] = request.label_column;
  if (request.resume) job.given["resume"] = "true";
  check_private_options(job, agent_options);
}

FederationPrivacy federation_privacy(const FederationFile& file, const Job& job) {
  FederationPrivacy agreed{.privacy = privacy_of(job), .repeatable = job.given.contains("insecure-seed")};
  for (const Trust trust : {Trust::none, Trust::neighbours, Trust::secure})
    if (name(trust) == file.dp->trust) agreed.trust = trust;
  agreed.colluders = file.dp->colluders;
  agreed.privacy.mean =
      Eigen::Map<const Eigen::VectorXd>(file.dp->mean.data(), static_cast<Index>(file.dp->mean.size()));
  return agreed;
}

std::string what_will_be_spent(const FederationFile& file, const Job& job) {
  const PrivacySettings settings = federation_privacy(file, job).privacy;
  require_data(job);
  const double left = left_of(job, settings);
  require_enough(job, settings, left);
  return fmt::format(
      "privacy: a run spends epsilon {:g}, delta {:g} (mu {:.6g}) of the rows in {}, with trust {}; {} has mu {:.6g} "
      "left; no row is read before",
      settings.budget.epsilon, settings.budget.delta, gaussian_mu(settings.budget), job.input, file.dp->trust,
      ledger_path(job).string(), left);
}

struct PrivateAgent::Purse {
  fs::path path;
  io::Ledger ledger;
  std::optional<LedgerFacts> spent = {};
};

PrivateAgent::PrivateAgent(const FederationFile& file, const Job& job) : file_(file), job_(job) {
  require_data(job);
  if (job.given.contains("insecure-seed")) return;
  const PrivacySettings settings = federation_privacy(file, job).privacy;
  const fs::path path = ledger_path(job);
  check_ledger_place(job, path);
  require_enough(job, settings, left_of(job, settings));
  purse_ = std::make_unique<Purse>(Purse{path, open_ledger(job, path, data_name(job.input), settings)});
}

PrivateAgent::~PrivateAgent() = default;

AgentRows PrivateAgent::rows(Index self) {
  AgentRows rows{.rows = Block<double>(0, file_.features), .columns = file_.feature_names};
  rows.hidden.emplace();
  rows.hidden->read = [this] { return pay_and_read(); };
  rows.hidden->leaving = [this](std::span<const std::uint64_t> words) {
    if (!purse_) return;
    const std::string digest = io::sha256_hex({reinterpret_cast<const char*>(words.data()), words.size_bytes()});
    purse_->ledger.released(purse_->spent->receipt, digest, stamp_now());
  };
  rows.hidden->words = words_of(job_, static_cast<std::uint64_t>(self));
  rows.hidden->mask = mask_words;
  return rows;
}

Block<double> PrivateAgent::pay_and_read() {
  const PrivacySettings settings = federation_privacy(file_, job_).privacy;
  if (purse_) purse_->spent = spend(job_, purse_->ledger, purse_->path, settings);
  AgentTable table = quietly(job_, [&] { return read_agent_table(job_, job_.input); });
  table.columns = public_names(std::move(table.columns));
  match_features(table, file_);
  return std::move(table.rows);
}

int PrivateAgent::deliver(const AgentOutcome& outcome, const FederationPrivacy& agreed, Json manifest,
                          Index self) const {
  const PrivateAgentsSolution& found = *outcome.released;
  PrivateAgentsRequest request{.trust = agreed.trust, .colluders = agreed.colluders, .privacy = agreed.privacy};
  std::vector<AgentPurse> own{{job_.input, purse_ ? purse_->spent : std::nullopt}};
  const PrivateAgentsReport report{job_, request, found, outcome.features, own};
  manifest.erase("links");  // for how long an agent was waited for tells how many rows it has
  manifest["contributors"] = outcome.result.contributors;
  manifest["notes"] = outcome.result.notes;
  manifest["each_agent_spent"] = {{"epsilon", agreed.privacy.budget.epsilon},
                                  {"delta", agreed.privacy.budget.delta},
                                  {"mu", gaussian_mu(agreed.privacy.budget)},
                                  {"private", !agreed.repeatable}};
  Delivery delivery;
  std::string components = job_.components.string();
  if (const std::size_t at = components.find("{agent}"); at != components.npos)
    components.replace(at, 7, std::to_string(self));
  if (!components.empty()) delivery.block(components, outcome.basis());
  delivery.json(job_.json, [&] {
    Json json = private_agents_json(report);
    json["command"] = "agent run";
    json["federation"] = std::move(manifest);
    return json;
  });
  if (!job_.prints_json()) {
    std::string text = private_agents_summary(report);
    text += line("confirmed", "{}",
                 outcome.unconfirmed.empty() ? "by every agent: all hold the same"
                                             : "not by everyone: " + terminal_safe(outcome.unconfirmed));
    for (const std::string& note : outcome.result.notes) text += line("note", "{}", terminal_safe(note));
    delivery.print(text);
  }
  return delivery.finish(exit_code(outcome.result.status));
}

}  // namespace hearsay::app

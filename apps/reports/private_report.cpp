#include "reports/private_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "files/provenance.hpp"
#include "formats/escapes.hpp"
#include "hearsay/version.hpp"
#include "reports/machine.hpp"

namespace hearsay::app {

namespace {

constexpr std::string_view stamp =
    "NON-PRIVATE: the noise was drawn from a seed, and whoever knows it can take it off again";

// Names, and nothing of what is in the data: neither their size nor a digest, which would tell one data set from
// another. Of outputs both, for they were released.
Json private_provenance(const Job& job) {
  Json options = Json::object(), outputs = Json::array();
  for (const auto& [option, text] : job.given) options[option] = text;
  if (!job.components.empty() && std::filesystem::exists(job.components)) {  // no name of each agent's
    Json output = {{"option", "components"}, {"path", job.components.string()}};
    output.update(file_facts(job.components));
    outputs.push_back(std::move(output));
  }
  return {{"arguments", job.inputs.empty() ? Json::array({job.input}) : Json(job.inputs)},
          {"options", std::move(options)},
          {"inputs", Json::array()},
          {"outputs", std::move(outputs)},
          {"version", version},
          {"compiler", compiler()},
          {"build_type", HEARSAY_BUILD_TYPE}};
}

Json privacy_json(const PrivacySettings& settings, const ReleasePlan& plan) {
  return {{"epsilon", settings.budget.epsilon},
          {"delta", settings.budget.delta},
          {"neighbours", name(settings.neighbours)},
          {"row_norm", settings.row_norm},
          {"center", name(settings.center)},
          {"public_rows", settings.public_rows > 0 ? Json(settings.public_rows) : Json(nullptr)},
          {"mechanism", "gaussian orthogonal ensemble, on integers"},
          {"mu", plan.mu},
          {"sigma", plan.sigma},
          {"mean_sigma", plan.mean_mu > 0 ? Json(plan.mean_sigma) : Json(nullptr)}};
}

Json ledger_receipt(const std::optional<LedgerFacts>& ledger) {
  if (!ledger) return nullptr;
  return {{"path", ledger->path},
          {"id", ledger->receipt.ledger},
          {"record", ledger->receipt.record},
          {"sha256", ledger->receipt.sha256},
          {"spent", ledger->spent},
          {"of", ledger->of},
          {"delta", ledger->delta}};
}

std::string variances_table(const PrivatePcaSolution& found, bool variances) {
  const PrivateAccuracy& accuracy = found.accuracy;
  std::string table = fmt::format("  {:>4}  {:>16}\n", "", variances ? "variance" : "sum of squares");
  for (Index i = 0; i < accuracy.values.size(); ++i) {
    const double value = accuracy.values(i) / found.divisor;
    table += value > 0 ? fmt::format("  {:>4}  {:>16.8g}\n", i + 1, value)
                       : fmt::format("  {:>4}  {:>16}\n", i + 1, "below the noise");
  }
  return table;
}

std::string bar_text(const PrivateAccuracy& accuracy, Index k) {
  if (accuracy.above_noise < k)
    return line("sin(theta)", "nothing is known: {} of {} components stand out of the noise", accuracy.above_noise, k);
  return line("sin(theta)", "about {:.2g} (private error bar, an estimate)", accuracy.sin_theta);
}

std::string why_this_form(const PrivacySettings& settings, Index d) {
  if (settings.form != ReleaseForm::automatic) return "as --release asked";
  return fmt::format("four times {} x {} numbers are more than half of the memory allowed", d, d);
}

// What was released, and what follows from it.
void add_release(Json& json, const PrivatePcaSolution& found, const PrivacySettings& settings) {
  json["eigenvalues"] = numbers(found.accuracy.values / found.divisor);
  json["eigenvalues_are"] = settings.public_rows > 0 ? "variances" : "sums of squares";
  json["above_noise"] = found.accuracy.above_noise;
  json["sin_theta"] = number(found.accuracy.sin_theta);
  json["captured"] = number(found.accuracy.captured);
  json["explained"] = number(found.accuracy.explained);
  const bool stored = found.form == ReleaseForm::stored;
  json["release"] = {{"form", name(found.form)},
                     {"why", stored ? Json(nullptr) : Json(why_this_form(settings, found.mean.size()))},
                     {"directions", stored ? Json(nullptr) : Json(found.directions.cols())}};
  json["mean"] = numbers(found.mean);
  json["standardized"] = false;
}

std::string release_text(const PrivatePcaSolution& found, const PrivacySettings& settings, Index k) {
  const PrivateAccuracy& accuracy = found.accuracy;
  std::string text = variances_table(found, settings.public_rows > 0) + "\n";
  text += line("data", "{} features{}; rows shortened to norm {:g}", found.mean.size(),
               settings.center == PrivateCenter::none    ? ", not centred"
               : settings.center == PrivateCenter::given ? ", about a given mean"
                                                         : ", about a released mean",
               settings.row_norm);
  text += bar_text(accuracy, k);
  text += line("captured", "about {:.3g} of what {} components can{}", accuracy.captured, k,
               std::isnan(accuracy.explained) ? "" : fmt::format("; {:.3g} of all variance", accuracy.explained));
  if (found.form != ReleaseForm::stored)
    text += line("release", "products in {} directions, their noise {}: {}", found.directions.cols(),
                 found.form == ReleaseForm::lazy ? "drawn as they were asked for" : "fresh in each of three readings",
                 why_this_form(settings, found.mean.size()));
  text +=
      line("privacy", "epsilon {:g}, delta {:g}, rows {}; noise of standard deviation {:.4g} in the sums of squares",
           settings.budget.epsilon, settings.budget.delta,
           settings.neighbours == Neighbours::replace ? "replaced" : "added or removed", found.plan.sigma);
  return text;
}

std::string ledger_text(const LedgerFacts& ledger) {
  return line("ledger", "spent {:.6g} of {:.6g}, at delta {:g}: {}", ledger.spent, ledger.of, ledger.delta,
              terminal_safe(ledger.path));
}

}  // namespace

Json private_json(const PrivateReport& report) {
  const PrivatePcaSolution& found = report.found;
  Json json;
  json["command"] = "pca";
  json["version"] = version;
  if (!report.ledger) json["stamp"] = stamp;
  json["private"] = report.ledger.has_value();
  json["k"] = report.job.solve.power.rank;
  json["dimension"] = found.mean.size();
  json["status"] = name(found.solution.power.status);
  add_release(json, found, report.settings);
  if (!report.features.empty()) json["features"] = report.features;
  json["privacy"] = privacy_json(report.settings, found.plan);
  json["ledger"] = ledger_receipt(report.ledger);
  json["provenance"] = private_provenance(report.job);
  return json;
}

std::string private_summary(const PrivateReport& report) {
  const Index k = report.job.solve.power.rank;
  std::string text = report.ledger ? std::string() : fmt::format("{}\n\n", stamp);
  text += fmt::format("{}: {} components {}, {}\n\n", terminal_safe(report.job.input), k,
                      report.ledger ? "under differential privacy" : "with the noise of differential privacy",
                      name(report.found.solution.power.status));
  text += release_text(report.found, report.settings, k);
  if (report.ledger) text += ledger_text(*report.ledger);
  return text;
}

namespace {

// An epsilon at the budget's delta.
Json promise_json(double mu, double delta) { return gaussian_epsilon(mu, delta); }

bool is_private(const PrivateAgentsReport& report) {
  return std::all_of(report.purses.begin(), report.purses.end(),
                     [](const AgentPurse& p) { return p.ledger.has_value(); });
}

std::string trust_text(const PrivateAgentsReport& report) {
  const PrivateAgentsSolution& found = report.found;
  const double delta = report.request.privacy.budget.delta;
  const double outside = gaussian_epsilon(found.promised.outside, delta);
  const double one = gaussian_epsilon(found.promised.one_agent, delta);
  const double others = gaussian_epsilon(found.promised.all_others, delta);
  if (report.request.trust == Trust::none)
    return line("trust", "none: epsilon {:.4g} to everybody, whatever is seen of the messages", outside);
  if (report.request.trust == Trust::neighbours)
    return line("trust", "neighbours: epsilon {:.4g} to whoever is no agent; {:.4g} to agents", outside, one);
  return line("trust", "secure: epsilon {:.4g} outside, {:.4g} to one agent, {:.4g} to all others together", outside,
              one, others);
}

}  // namespace

Json private_agents_json(const PrivateAgentsReport& report) {
  const PrivateAgentsSolution& found = report.found;
  const PrivacySettings& settings = report.request.privacy;
  const double delta = settings.budget.delta;
  Json json, agents = Json::array();
  json["command"] = "decentralized";
  json["version"] = version;
  if (!is_private(report)) json["stamp"] = stamp;
  json["private"] = is_private(report);
  json["trust"] = name(report.request.trust);
  json["colluders"] = report.request.trust == Trust::secure ? Json(report.request.colluders) : Json(nullptr);
  json["promised"] = {{"delta", delta},
                      {"epsilon_outside", promise_json(found.promised.outside, delta)},
                      {"epsilon_one_agent", promise_json(found.promised.one_agent, delta)},
                      {"epsilon_all_others", promise_json(found.promised.all_others, delta)}};
  json["agents"] = found.bases.size();
  json["contributors"] = found.contributors;
  json["k"] = report.job.solve.power.rank;
  json["dimension"] = found.pca.mean.size();
  json["status"] = name(found.pca.solution.power.status);
  add_release(json, found.pca, settings);
  if (!report.features.empty()) json["features"] = report.features;
  json["messages"] = found.traffic.messages;
  json["bytes"] = found.traffic.bytes;
  json["privacy"] = privacy_json(settings, found.pca.plan);
  for (const AgentPurse& purse : report.purses)
    agents.push_back({{"data", purse.data}, {"ledger", ledger_receipt(purse.ledger)}});
  json["ledgers"] = std::move(agents);
  json["provenance"] = private_provenance(report.job);
  return json;
}

std::string private_agents_summary(const PrivateAgentsReport& report) {
  const PrivateAgentsSolution& found = report.found;
  const Index k = report.job.solve.power.rank;
  std::string text = is_private(report) ? std::string() : fmt::format("{}\n\n", stamp);
  text += fmt::format("{} agents: {} components {}, {}\n\n", found.bases.size(), k,
                      is_private(report) ? "under differential privacy" : "with the noise of differential privacy",
                      name(found.pca.solution.power.status));
  text += release_text(found.pca, report.request.privacy, k);
  text += trust_text(report);
  text += line("agents", "{} of {} are in the answer; {} messages", found.contributors, found.bases.size(),
               found.traffic.messages);
  for (const AgentPurse& purse : report.purses)
    if (purse.ledger) text += ledger_text(*purse.ledger);
  return text;
}

Json private_plan_json(const Job& job, const PrivatePlanRequest& request, const PrivatePlan& plan,
                       std::optional<double> sine, std::optional<double> needed) {
  Json json;
  json["command"] = "plan";
  json["version"] = version;
  json["k"] = request.rank;
  json["dimension"] = request.dimension;
  json["spectrum"] = numbers(request.spectrum);
  json["privacy"] = privacy_json(request.privacy, plan.release);
  json["sin_theta"] = plan.sin_theta;
  json["captured"] = plan.captured;
  json["accuracy"] = sine ? Json(*sine) : Json(nullptr);
  json["epsilon_needed"] = needed ? Json(*needed) : Json(nullptr);
  json["provenance"] = private_provenance(job);
  return json;
}

std::string private_plan_text(const PrivatePlanRequest& request, const PrivatePlan& plan, std::optional<double> sine,
                              std::optional<double> needed) {
  const PrivacySettings& settings = request.privacy;
  std::string text = fmt::format(
      "{} components of {} features from {} rows of norm {:g} at most, epsilon {:g}, delta {:g}\n\n", request.rank,
      request.dimension, settings.public_rows, settings.row_norm, settings.budget.epsilon, settings.budget.delta);
  text += line("noise", "standard deviation {:.4g} in the sums of squares; mu = {:.6g}", plan.release.sigma,
               plan.release.mu);
  text += plan.sin_theta < 1 ? line("sin(theta)", "about {:.2g}, expected of the guessed spectrum", plan.sin_theta)
                             : line("sin(theta)", "nothing is promised: the noise is as large as the gaps");
  text += line("captured", "about {:.3g} of what {} components can", plan.captured, request.rank);
  if (sine)
    text += needed ? line("needed", "epsilon {:.3g} for sin(theta) {:g}, at the same delta", *needed, *sine)
                   : line("needed", "no epsilon up to 100 is enough for sin(theta) {:g}", *sine);
  return text;
}

}  // namespace hearsay::app

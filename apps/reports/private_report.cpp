#include "reports/private_report.hpp"

#include <fmt/format.h>

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
  if (!job.components.empty()) {
    Json output = {{"option", "components"}, {"path", job.components.string()}};
    output.update(file_facts(job.components));
    outputs.push_back(std::move(output));
  }
  return {{"arguments", Json::array({job.input})},
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

std::string variances_table(const PrivateReport& report) {
  const PrivateAccuracy& accuracy = report.found.accuracy;
  const bool variances = report.settings.public_rows > 0;
  std::string table = fmt::format("  {:>4}  {:>16}\n", "", variances ? "variance" : "sum of squares");
  for (Index i = 0; i < accuracy.values.size(); ++i) {
    const double value = accuracy.values(i) / report.found.divisor;
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
  json["eigenvalues"] = numbers(found.accuracy.values / found.divisor);
  json["eigenvalues_are"] = report.settings.public_rows > 0 ? "variances" : "sums of squares";
  json["above_noise"] = found.accuracy.above_noise;
  json["sin_theta"] = number(found.accuracy.sin_theta);
  json["captured"] = number(found.accuracy.captured);
  json["explained"] = number(found.accuracy.explained);
  json["mean"] = numbers(found.mean);
  json["standardized"] = false;
  if (!report.features.empty()) json["features"] = report.features;
  json["privacy"] = privacy_json(report.settings, found.plan);
  json["ledger"] = ledger_receipt(report.ledger);
  json["provenance"] = private_provenance(report.job);
  return json;
}

std::string private_summary(const PrivateReport& report) {
  const PrivacySettings& settings = report.settings;
  const PrivateAccuracy& accuracy = report.found.accuracy;
  const Index k = report.job.solve.power.rank;
  std::string text = report.ledger ? std::string() : fmt::format("{}\n\n", stamp);
  text += fmt::format("{}: {} components {}, {}\n\n", terminal_safe(report.job.input), k,
                      report.ledger ? "under differential privacy" : "with the noise of differential privacy",
                      name(report.found.solution.power.status));
  text += variances_table(report) + "\n";
  text += line("data", "{} features{}; rows shortened to norm {:g}", report.found.mean.size(),
               settings.center == PrivateCenter::none    ? ", not centred"
               : settings.center == PrivateCenter::given ? ", about a given mean"
                                                         : ", about a released mean",
               settings.row_norm);
  text += bar_text(accuracy, k);
  text += line("captured", "about {:.3g} of what {} components can; {:.3g} of all variance", accuracy.captured, k,
               accuracy.explained);
  text +=
      line("privacy", "epsilon {:g}, delta {:g}, rows {}; noise of standard deviation {:.4g} in the sums of squares",
           settings.budget.epsilon, settings.budget.delta,
           settings.neighbours == Neighbours::replace ? "replaced" : "added or removed", report.found.plan.sigma);
  if (report.ledger)
    text += line("ledger", "spent {:.6g} of {:.6g}, at delta {:g}: {}", report.ledger->spent, report.ledger->of,
                 report.ledger->delta, terminal_safe(report.ledger->path));
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

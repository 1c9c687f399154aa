#include "reports/report.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

#include "files/provenance.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/threads.hpp"
#include "hearsay/version.hpp"
#include "reports/certificate.hpp"
#include "reports/error_bar.hpp"

namespace hearsay::app {

namespace {

Json history_json(const std::vector<HistoryEntry>& history, bool with_sine) {
  Json entries = Json::array();
  for (const HistoryEntry& entry : history) {
    Json json = {{"t", entry.t}, {"momentum", number(entry.momentum)}, {"residual", number(entry.residual)}};
    if (with_sine) json["sin_theta"] = number(entry.sin_theta);
    entries.push_back(std::move(json));
  }
  return entries;
}

Json violation_json(const std::optional<theory::Violation>& violation) {
  if (!violation) return nullptr;
  return {{"t", violation->iteration},
          {"condition", name(violation->condition)},
          {"value", number(violation->value)},
          {"bound", number(violation->bound)}};
}

Json audit_json(const theory::AuditReport& audit, double epsilon) {
  Json steps = Json::array();
  for (const theory::AuditStep& step : audit.steps)
    steps.push_back({{"t", step.iteration},
                     {"noise_outside", number(step.noise_outside)},
                     {"noise_outside_allowed", number(step.noise_outside_allowed)},
                     {"noise_inside", number(step.noise_inside)},
                     {"noise_inside_allowed", number(step.noise_inside_allowed)},
                     {"tan_theta", number(step.tan_theta)},
                     {"envelope", number(step.envelope)}});
  return {{"epsilon", epsilon},
          {"start_tangent", number(audit.h0)},
          {"first_violation", violation_json(audit.first_violation)},
          {"first_noise_violation", violation_json(audit.first_noise_violation)},
          {"first_envelope_violation", violation_json(audit.first_envelope_violation)},
          {"envelope_promise_was_void", audit.envelope_promise_was_void},
          {"momentum_varied", audit.momentum_varied},
          {"covered_by_a_theorem", audit.covered_by_a_theorem},
          {"steps", std::move(steps)}};
}

// What each rung of a climb did; none on the processor.
Json rungs_json(const std::optional<ClimbFacts>& climb) {
  Json rungs = Json::array();
  if (!climb) return rungs;
  for (const RungReport& rung : climb->rungs) {
    const bool looked = rung.rounding > 0;
    rungs.push_back({{"products", name(rung.rung)},
                     {"corrected", rung.corrects},
                     {"blocks", rung.in_double ? "double" : "single"},
                     {"passes", rung.passes},
                     {"columns", rung.products},
                     {"seconds", rung.seconds},
                     {"sin_theta", looked ? number(rung.sin_theta) : Json(nullptr)},
                     {"rounding", looked ? number(rung.rounding) : Json(nullptr)},
                     {"at_floor", rung.at_floor}});
  }
  return rungs;
}

Json missing_json(const MissingFacts& missing) {
  if (missing.policy == Missing::refuse) return nullptr;
  Json json = {{"policy", name(missing.policy)},
               {"entries", missing.entries},
               {"rows", missing.rows},
               {"empty_rows", missing.empty_rows},
               {"dropped_rows", missing.dropped}};
  if (missing.policy == Missing::em)
    json.update({{"rounds", missing.rounds}, {"change", number(missing.change)}, {"settled", missing.settled}});
  return json;
}

Json plan_json(const StreamPlan& plan) {
  return {{"way", name(plan.way)},
          {"passes", plan.passes},
          {"certain", plan.certain},
          {"rows", plan.rows ? Json(*plan.rows) : Json(nullptr)},
          {"bytes_per_pass", plan.bytes_per_pass > 0 ? Json(plan.bytes_per_pass) : Json(nullptr)},
          {"memory_bytes", plan.memory},
          {"memory_allowed_bytes", plan.memory_allowed}};
}

void add_sample_facts(Json& json, const Job& job, const SampleFacts& facts, const PowerResult<double>& power) {
  json["centered"] = facts.centred;
  json["total_variance"] = number(facts.total_variance);
  json["explained_variance_ratio"] = numbers(power.eigenvalues / facts.total_variance);
  json["singular_values"] = numbers(facts.singular_values);
  json["mean"] = numbers(facts.mean);
  json["standardized"] = facts.scale.size() > 0;
  json["scale"] = facts.scale.size() > 0 ? numbers(facts.scale) : Json(nullptr);
  Json constant = Json::array();
  for (const Index column : facts.constant) constant.push_back(column + 1);
  json["constant_columns"] = std::move(constant);
  const bool weighted = !job.row_weights.empty() || !job.weights_column.empty();
  json["weight_sum"] = weighted ? number(facts.weight) : Json(nullptr);
  json["missing"] = missing_json(facts.missing);
  json["rank_rule"] = job.text("rank", "");
  json["plan"] = facts.plan ? plan_json(*facts.plan) : Json(nullptr);
  json["features"] = facts.features.empty() ? Json(nullptr) : Json(facts.features);
}

void add_singular_facts(Json& json, const SingularFacts& facts, const PowerResult<double>& power) {
  const SvdFacts& svd = facts.of;
  const double norm = svd.frobenius_norm > 0 ? svd.frobenius_norm : 1;
  json["shape"] = {facts.rows, facts.columns};
  json["solved"] = svd.by_rows ? "AA'" : "A'A";
  json["frobenius_norm"] = number(svd.frobenius_norm);
  json["share"] = numbers((power.eigenvalues / norm).cwiseAbs2());
  json["errors"] = {{"word", name(svd.errors_are)},
                    {"too_small", numbers(svd.errors)},
                    {"too_large", number(svd.rounding)},
                    {"within", number(svd.within)}};
  json["resolved"] = svd.resolved;
  json["sharpened"] = svd.sharpened;
}

}  // namespace

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json numbers(const Vector<double>& values) {
  Json array = Json::array();
  for (const double value : values) array.push_back(number(value));
  return array;
}

Json result_json(const Report& report) {
  const Job& job = report.job;
  const PowerResult<double>& power = report.outcome.power;
  Json json;
  json["command"] = job.command;
  json["version"] = version;
  const bool plain = power.method == SolveMethod::anpm && job.solve.power.momentum.rule == Momentum::Rule::none;
  json["method"] = plain ? "npm" : name(power.method);
  json["k"] = job.solve.power.rank;
  json["which"] = name(power.which);
  json["dimension"] = report.dimension;
  json["samples"] = report.samples ? Json(report.samples->samples) : Json(nullptr);
  json["seed"] = job.solve.power.seed;
  json["status"] = name(power.status);
  json["iterations"] = power.iterations;
  json["products"] = power.products;
  json["passes"] = power.passes;
  json["momentum"] = number(power.momentum);
  json[report.singular ? "singular_values" : "eigenvalues"] = numbers(power.eigenvalues);
  json["residual"] = number(power.residual);
  json["tolerance"] = *job.solve.power.tolerance;
  json["accuracy"] = job.solve.power.accuracy ? Json(*job.solve.power.accuracy) : Json(nullptr);
  json["certificate"] = certificate_json(power.certificate);
  json["sin_theta_estimate"] = number(power.sin_theta_estimate);
  json["error_bar"] = error_bar_json(power);
  json["gap"] = number(power.gap);
  json["shift_found"] = number(power.shift_found);
  json["norm_seen"] = number(power.norm_seen);
  json["noise_floor"] = number(power.noise_floor);
  json["noise_level"] = number(power.noise_level);
  if (report.samples) add_sample_facts(json, job, *report.samples, power);
  if (report.singular) add_singular_facts(json, *report.singular, power);
  json["edge"] = number(power.edge);
  json["damping"] = power.damping == Damping::centred ? "centred" : "symmetric";
  json["extraction"] = power.extraction == Extraction::nested ? "nested" : "ritz";
  json["columns"] = power.columns;
  json["cooldown_steps"] = power.cooldown_steps;
  json["exponent"] = power.exponent;
  json["precision"] = name(job.solve.precision);
  json["device"] = report.outcome.climb ? report.outcome.climb->where : "cpu";
  json["rungs"] = rungs_json(report.outcome.climb);
  json["threads"] = threads();
  json["kernels"] = kernel_name();
  json["workspace_bytes"] = power.workspace_bytes;
  json["seconds"] = report.outcome.seconds;
  json["notes"] = power.notes;
  if (report.outcome.audit) json["audit"] = audit_json(*report.outcome.audit, *job.audit);
  json["provenance"] = provenance_json(job);
  json["history"] = history_json(power.history, !job.reference.empty());
  return json;
}

std::string_view name(theory::Condition condition) {
  switch (condition) {
    case theory::Condition::start:
      return "start";
    case theory::Condition::momentum:
      return "momentum";
    case theory::Condition::noise_outside:
      return "noise_outside";
    case theory::Condition::noise_inside:
      return "noise_inside";
    case theory::Condition::envelope:
      return "envelope";
  }
  return "";
}

}  // namespace hearsay::app

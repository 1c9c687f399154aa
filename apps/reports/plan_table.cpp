#include "reports/plan_table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace hearsay::app {

namespace {

using theory::Figure;
using theory::PlanRow;
using theory::Standing;

// An order, whose constant nobody states, is marked by a tilde.
std::string cell(const std::optional<Figure>& figure) {
  if (!figure) return "-";
  const bool whole = figure->value == std::floor(figure->value) && std::abs(figure->value) < 1e7;
  const std::string text = whole ? fmt::format("{:.0f}", figure->value) : fmt::format("{:.2g}", figure->value);
  return figure->standing == Standing::order ? "~" + text : text;
}

struct Column {
  std::string title;
  std::string (*cell)(const PlanRow&);
  bool (*wanted)(const PlanRow&);
};

// Columns nobody has a number for are left out.
const Column columns[] = {
    {"method", [](const PlanRow& row) { return std::string(theory::name(row.method)); },
     [](const PlanRow&) { return true; }},
    {"momentum", [](const PlanRow& row) { return fmt::format("{:.4g}", row.beta); },
     [](const PlanRow&) { return true; }},
    {"iterations", [](const PlanRow& row) { return cell(row.iterations); }, [](const PlanRow&) { return true; }},
    {"expected", [](const PlanRow& row) { return cell(row.predicted_iterations); },
     [](const PlanRow&) { return true; }},
    {"noise outside", [](const PlanRow& row) { return cell(row.noise_outside); },
     [](const PlanRow& row) { return row.noise_outside.has_value(); }},
    {"noise inside", [](const PlanRow& row) { return cell(row.noise_inside); },
     [](const PlanRow& row) { return row.noise_inside.has_value(); }},
    {"reachable sine", [](const PlanRow& row) { return cell(row.reachable_epsilon); },
     [](const PlanRow& row) { return row.reachable_epsilon.has_value(); }},
    {"worst floor", [](const PlanRow& row) { return cell(row.predicted_floor); },
     [](const PlanRow& row) { return row.predicted_floor.has_value(); }},
    {"white floor", [](const PlanRow& row) { return cell(row.predicted_white_floor); },
     [](const PlanRow& row) { return row.predicted_white_floor.has_value(); }},
    {"rounds/iteration", [](const PlanRow& row) { return row.traffic ? cell(row.traffic->rounds_per_iteration) : "-"; },
     [](const PlanRow& row) { return row.traffic.has_value(); }},
    {"rounds", [](const PlanRow& row) { return row.traffic ? cell(row.traffic->rounds) : "-"; },
     [](const PlanRow& row) { return row.traffic.has_value(); }},
    {"expected rounds",
     [](const PlanRow& row) { return row.predicted_traffic ? cell(row.predicted_traffic->rounds) : "-"; },
     [](const PlanRow& row) { return row.predicted_traffic.has_value(); }},
    {"expected bytes sent",
     [](const PlanRow& row) { return row.predicted_traffic ? cell(row.predicted_traffic->bytes) : "-"; },
     [](const PlanRow& row) { return row.predicted_traffic.has_value(); }},
};

std::string table_text(const std::vector<PlanRow>& rows) {
  std::vector<std::string> lines(rows.size() + 1, " ");
  for (const Column& column : columns) {
    if (std::none_of(rows.begin(), rows.end(), column.wanted)) continue;
    std::size_t width = column.title.size();
    for (const PlanRow& row : rows) width = std::max(width, column.cell(row).size());
    const bool first = &column == &columns[0];
    const auto padded = [&](const std::string& text) {
      return first ? fmt::format(" {:<{}}", text, width) : fmt::format("  {:>{}}", text, width);
    };
    lines[0] += padded(column.title);
    for (std::size_t i = 0; i < rows.size(); ++i) lines[i + 1] += padded(column.cell(rows[i]));
  }
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

Json figure_json(const std::optional<Figure>& figure) {
  if (!figure) return nullptr;
  return {{"value", number(figure->value)}, {"standing", name(figure->standing)}};
}

Json traffic_json(const std::optional<theory::AgentTraffic>& traffic) {
  if (!traffic) return nullptr;
  return {{"rounds_per_iteration", figure_json(traffic->rounds_per_iteration)},
          {"rounds", figure_json(traffic->rounds)},
          {"bytes_per_iteration", figure_json(traffic->bytes_per_iteration)},
          {"bytes", figure_json(traffic->bytes)}};
}

std::string terms_text(const std::vector<theory::Term>& terms) {
  std::string text;
  for (const theory::Term& term : terms)
    text += fmt::format("  {:<12} {:>10.4g}  {}\n", term.name, term.value, term.source);
  return text;
}

std::string planned_text(const PlannedTraffic& planned) {
  std::string text =
      fmt::format("{} iterations of {} rounds over {} edges in {} precision send exactly:\n\n", planned.iterations,
                  planned.rounds_per_iteration, planned.edges, name(planned.precision));
  text += fmt::format("  {:<8}  {:>10}  {:>14}  {:>12}  {:>14}\n", "method", "rounds", "control rounds", "messages",
                      "bytes");
  for (const auto& [algorithm, traffic] : planned.rows)
    text += fmt::format("  {:<8}  {:>10}  {:>14}  {:>12}  {:>14}\n", name(algorithm), traffic.rounds,
                        traffic.control_rounds, traffic.messages, traffic.bytes);
  return text + "\n";
}

Json planned_json(const PlannedTraffic& planned) {
  Json methods = Json::object();
  for (const auto& [algorithm, traffic] : planned.rows)
    methods[name(algorithm)] = {{"rounds", traffic.rounds},
                                {"control_rounds", traffic.control_rounds},
                                {"messages", traffic.messages},
                                {"bytes", traffic.bytes},
                                {"bytes_per_edge", traffic.bytes / std::max<Index>(1, planned.edges)}};
  return {{"iterations", planned.iterations},
          {"rounds_per_iteration", planned.rounds_per_iteration},
          {"edges", planned.edges},
          {"message_precision", name(planned.precision)},
          {"methods", std::move(methods)}};
}

}  // namespace

std::string plan_text(const theory::PlanRequest& request, const theory::Plan& plan,
                      const std::optional<PlannedTraffic>& traffic) {
  std::string text = fmt::format(
      "To reach sin(theta) <= {:g} for k = {} of d = {}, with lambda_k = {:.6g} and lambda_(k+1) = {:.6g} (gap "
      "{:.3g}):\n\n",
      request.epsilon, request.rank, request.dimension, request.lambda_k, request.lambda_next,
      request.lambda_k - request.lambda_next);
  std::vector<PlanRow> alone, networked;
  for (const PlanRow& row : plan.rows) (row.traffic ? networked : alone).push_back(row);
  text += table_text(alone) + '\n';
  if (plan.products)
    text += line("products", "{} columns, averaged, at independent errors of {:g} in every entry (--products)",
                 cell(plan.products), *request.noise_sigma) +
            '\n';
  if (!networked.empty()) text += table_text(networked) + '\n';
  if (!plan.terms.empty()) text += terms_text(plan.terms) + '\n';
  if (traffic) text += planned_text(*traffic);
  text += line("", "iterations: guaranteed (~: up to a constant); expected: without noise, what practice shows");
  return text + notes_text(plan.notes);
}

Json plan_json(const theory::PlanRequest& request, const theory::Plan& plan,
               const std::optional<PlannedTraffic>& traffic) {
  Json terms = Json::array();
  for (const theory::Term& term : plan.terms)
    terms.push_back({{"name", term.name}, {"value", number(term.value)}, {"source", term.source}});
  Json rows = Json::array();
  for (const PlanRow& row : plan.rows)
    rows.push_back({{"method", theory::name(row.method)},
                    {"momentum", number(row.beta)},
                    {"shift", number(row.shift)},
                    {"iterations", figure_json(row.iterations)},
                    {"predicted_iterations", figure_json(row.predicted_iterations)},
                    {"noise_outside", figure_json(row.noise_outside)},
                    {"noise_inside", figure_json(row.noise_inside)},
                    {"reachable_epsilon", figure_json(row.reachable_epsilon)},
                    {"predicted_floor", figure_json(row.predicted_floor)},
                    {"predicted_white_floor", figure_json(row.predicted_white_floor)},
                    {"block_columns", row.block_columns},
                    {"traffic", traffic_json(row.traffic)},
                    {"predicted_traffic", traffic_json(row.predicted_traffic)}});
  return {{"command", "plan"},
          {"dimension", request.dimension},
          {"k", request.rank},
          {"lambda_1", number(request.lambda_1)},
          {"lambda_k", number(request.lambda_k)},
          {"lambda_next", number(request.lambda_next)},
          {"epsilon", request.epsilon},
          {"start_tangent", number(plan.h0)},
          {"noise_sigma", request.noise_sigma ? number(*request.noise_sigma) : Json(nullptr)},
          {"products", figure_json(plan.products)},
          {"rows", std::move(rows)},
          {"terms", std::move(terms)},
          {"planned_traffic", traffic ? planned_json(*traffic) : Json(nullptr)},
          {"notes", plan.notes}};
}

}  // namespace hearsay::app

#include "reports/run_page.hpp"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "drawings/charts.hpp"
#include "drawings/figure.hpp"
#include "files/provenance.hpp"
#include "formats/escapes.hpp"
#include "hearsay/theory.hpp"
#include "reports/certificate.hpp"
#include "reports/error_bar.hpp"
#include "reports/page.hpp"

namespace hearsay::app {

namespace {

constexpr Index most_pictures = 8, most_bar_charts = 4, most_bars = 10;
constexpr Index smallest_picture = 16, largest_picture = 1024;  // pixels
constexpr std::size_t most_groups = 200;                        // more of them are names, not groups

struct Exhibit {
  Chart chart;
  std::string caption = {};  // text
};

std::string id_of(const std::vector<Exhibit>& exhibits) { return fmt::format("figure-{}", exhibits.size() + 1); }

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

// ---- Eigenvalues ----------------------------------------------------------------------------------------------------

std::vector<double> listed(const Vector<double>& values) { return {values.begin(), values.end()}; }

std::string share_text(const Vector<double>& eigenvalues, double total) {
  if (!(total > 0) || !std::isfinite(total)) return "";
  return fmt::format(" Together they hold {} of the variance.", percent(eigenvalues.sum() / total));
}

Exhibit scree_of(const std::string& id, const Report& report) {
  const PowerResult<double>& power = report.outcome.power;
  const Certificate& certificate = power.certificate;
  const auto in_its_words = [&report](std::string text) {
    return report.singular ? of_singular_values(std::move(text)) : text;
  };
  Scree scree{.title = report.singular ? "Singular values" : "Eigenvalues",
              .y_label = !report.samples                    ? in_its_words("eigenvalue")
                         : report.samples->scale.size() > 0 ? "variance (standardized)"
                                                            : "variance",
              .values = listed(power.eigenvalues),
              .within = certificate.residual + certificate.rounding};
  std::string caption = fmt::format(
      "The eigenvalues that were found. Within the mark on each, {:.2g} up and down, there lies one of the matrix if "
      "its "
      "products are exact.",
      *scree.within);
  if (was_averaged(power)) {
    scree.within.reset();
    for (const double error : power.bar.eigenvalues) scree.errors.push_back(bar_factor * error);
    caption = power.bar.exists() ? fmt::format(
                                       "The eigenvalues that were found. The mark on each is {:g} standard "
                                       "errors up and down, by the scatter of the products alone.",
                                       bar_factor)
                                 : "The eigenvalues that were found.";
  }
  if (certificate.nothing_missed != Knowledge::unknown && std::isfinite(certificate.nothing_missed_above)) {
    const Index rank = report.job.solve.power.rank, count = certificate.nothing_missed_count;
    scree.above = certificate.nothing_missed_above;
    scree.above_text =
        fmt::format("{} above {:.4g} ({})", count == rank ? "no other" : fmt::format("at most {}", count),
                    certificate.nothing_missed_above, name(certificate.nothing_missed));
    caption += " The dashed line is what the certificate says of all the others.";
  }
  return {scree_chart(id, scree),
          in_its_words(caption) + share_text(power.eigenvalues, report.samples ? report.samples->total_variance : 0)};
}

// ---- Convergence ----------------------------------------------------------------------------------------------------

NamedCurve level(std::string name, double value, double first, double last) {
  return {.name = std::move(name), .x = {first, last}, .y = {value, value}};
}

template <class Value>
NamedCurve along_history(std::string name, const std::vector<HistoryEntry>& history, Value value) {
  NamedCurve curve{.name = std::move(name), .x = {}, .y = {}};
  for (const HistoryEntry& entry : history) {
    curve.x.push_back(static_cast<double>(entry.t));
    curve.y.push_back(value(entry));
  }
  return curve;
}

bool says_something(const NamedCurve& curve) {
  return std::count_if(curve.y.begin(), curve.y.end(), [](double y) { return std::isfinite(y) && y > 0; }) > 1;
}

// The main theorem's promise of sin(theta), from a random start, at the Ritz values that the run ended with. Nothing
// where it has none: no gap, or no column beyond k to see it.
NamedCurve promise_of(const Report& report) {
  const PowerResult<double>& power = report.outcome.power;
  NamedCurve curve{.name = "envelope of the theory", .x = {}, .y = {}};
  if (power.history.empty() || report.dimension <= report.job.solve.power.rank) return curve;
  const HistoryEntry& last = power.history.back();
  const bool accelerated = power.method == SolveMethod::krylov || power.edge > 0;
  const double b = power.edge > 0 ? power.edge : last.theta_next;
  if (!(last.theta_k > b) || !(b > 0)) return curve;
  const theory::Damped problem = theory::damped(last.theta_k, b, power.damping);
  const double reached = power.sin_theta_estimate;
  const theory::Target target{.epsilon = std::isfinite(reached) ? std::clamp(reached, 1e-16, 0.5) : 1e-16,
                              .h0 = theory::random_start_tangent(report.dimension, report.job.solve.power.rank)};
  const double plain = accelerated ? 0 : theory::contraction_npm(last.theta_k, b);
  for (const HistoryEntry& entry : power.history) {
    const double tangent = accelerated ? theory::envelope(entry.t, problem.lambda_k, problem.beta, target)
                                       : target.epsilon / 2 + theory::start_constant * target.h0 *
                                                                  std::pow(plain, static_cast<double>(entry.t));
    curve.x.push_back(static_cast<double>(entry.t));
    curve.y.push_back(std::min(1.0, tangent));
  }
  return curve;
}

// The error bar of sin(theta), over the iterations that were averaged, and the band that it stands for.
NamedCurve bar_of(const PowerFacts& power) {
  const ErrorBar& bar = power.bar;
  NamedCurve curve{
      .name = bar.kind == BarKind::bound ? "sin(theta), at most" : "sin(theta), error bar", .x = {}, .y = {}};
  if (!bar.exists() || power.history.empty()) return curve;
  const auto last = static_cast<double>(power.history.back().t);
  curve.x = {std::max(0.0, last - static_cast<double>(bar.steps)), last};
  curve.y.assign(2, bar.sin_theta);
  if (bar.kind != BarKind::bound) {
    curve.low.assign(2, bar.sin_theta / bar_factor);
    curve.high.assign(2, std::min(1.0, bar.sin_theta * bar_factor));
  }
  return curve;
}

Exhibit convergence_of(const std::string& id, const Report& report) {
  const PowerResult<double>& power = report.outcome.power;
  const auto& history = power.history;
  std::vector<NamedCurve> curves{along_history("residual", history, [](const HistoryEntry& e) { return e.residual; })};
  if (!history.empty()) curves.front().y.back() = power.residual;  // of the basis that was returned
  std::string caption = was_averaged(power)
                            ? "The residual of each block: one noisy product's, which averages do not lower."
                            : "The residual after each iteration, and the tolerance it had to meet.";
  const NamedCurve sine = along_history("sin(theta)", history, [](const HistoryEntry& e) { return e.sin_theta; });
  const NamedCurve estimate =
      along_history("sin(theta), estimate", history, [](const HistoryEntry& e) { return e.sin_theta_estimate; });
  if (says_something(sine)) {
    curves.push_back(sine);
  } else if (says_something(estimate)) {
    curves.push_back(estimate);
  }
  if (NamedCurve bar = bar_of(power); says_something(bar)) {
    caption += power.bar.kind == BarKind::bound
                   ? " The error of the answer is at most the line at the end, by the noise norm given."
                   : fmt::format(
                         " The band at the end is the error bar of the answer, {:g} times up and down, over "
                         "the iterations that were averaged.",
                         bar_factor);
    curves.push_back(std::move(bar));
  }
  if (report.outcome.audit) {
    NamedCurve measured{.name = "tan(theta)", .x = {}, .y = {}},
        promised{.name = "envelope of the theory", .x = {}, .y = {}};
    for (const theory::AuditStep& step : report.outcome.audit->steps) {
      for (NamedCurve* curve : {&measured, &promised}) curve->x.push_back(static_cast<double>(step.iteration));
      measured.y.push_back(step.tan_theta);
      promised.y.push_back(step.envelope);
    }
    curves.push_back(std::move(measured));
    curves.push_back(std::move(promised));
    caption += " The envelope is that of the audit: with the eigenvalues and the noise of this very run.";
  } else if (NamedCurve promised = promise_of(report); !was_averaged(power) && says_something(promised)) {
    const bool krylov = power.method == SolveMethod::krylov, flat = promised.y.back() >= 1;
    if (krylov && flat)
      caption +=
          " The theory promises the paper's iteration nothing in so few steps; the Krylov space, which was used, "
          "needs fewer.";
    else if (krylov)
      caption +=
          " The envelope is what the theory promises the paper's iteration from a random start; the Krylov "
          "space, which was used, needs fewer.";
    else
      caption +=
          " The envelope is what the theory promises of sin(theta) from a random start, at the eigenvalues "
          "found, while the noise is small enough.";
    if (!krylov || !flat) curves.push_back(std::move(promised));
  }
  const double first = history.empty() ? 0 : static_cast<double>(history.front().t);
  const double last = history.empty() ? 1 : static_cast<double>(history.back().t);
  const PowerOptions& asked = report.job.solve.power;
  if (!was_averaged(power))
    curves.push_back(level("tolerance", *asked.tolerance, first, std::max(last, first + 1)));
  else if (asked.accuracy)
    curves.push_back(level("accuracy", *asked.accuracy, first, std::max(last, first + 1)));
  return {curves_chart(id,
                       {.name = id,
                        .title = "Convergence",
                        .x = {.label = "iteration", .low = first},
                        .y = {.label = "error", .logarithmic = true},
                        .curves = {}},
                       curves),
          caption};
}

// ---- Scores ---------------------------------------------------------------------------------------------------------

// Numbers by their value, words by the alphabet.
bool before(const std::string& a, const std::string& b) {
  const auto counts = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  return counts(a) && counts(b) && a.size() != b.size() ? a.size() < b.size() : a < b;
}

void put_into_groups(Scatter& scatter, const std::vector<std::string>& labels) {
  std::vector<std::string> names = labels;
  std::sort(names.begin(), names.end(), before);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() < 2 || names.size() > most_groups) return;
  for (const std::string& label : labels)
    scatter.group.push_back(
        static_cast<std::size_t>(std::lower_bound(names.begin(), names.end(), label, before) - names.begin()));
  scatter.names = std::move(names);
}

Exhibit scores_of(const std::string& id, const Report& report, const PageData& data, Index across, Index up) {
  const bool nodes = report.job.command == "cluster";
  const std::string what = nodes ? "coordinate" : "component";
  const bool scaled = report.samples && report.samples->scale.size() > 0;
  const std::string unit = report.job.whiten ? " (whitened)" : scaled ? " (standardized)" : "";
  Scatter scatter{.title = nodes ? "Nodes in their embedding" : "Scores",
                  .x_label = fmt::format("{} {}{}", what, across + 1, unit),
                  .y_label = fmt::format("{} {}{}", what, up + 1, unit),
                  .x = listed(data.scores.col(across)),
                  .y = listed(data.scores.col(up))};
  if (data.groups.size() == scatter.x.size()) put_into_groups(scatter, data.groups);
  std::string caption = fmt::format("A point is a {}", nodes ? "node" : "sample");
  if (!scatter.names.empty())
    caption +=
        fmt::format(", a colour a {}{}", data.group_name, scatter.names.size() > 10 ? "; colours come again" : "");
  if (scatter.x.size() > most_points) caption += fmt::format("; some of all {} are drawn", scatter.x.size());
  return {scatter_chart(id, scatter), caption + "."};
}

// ---- Components -----------------------------------------------------------------------------------------------------

bool is_a_picture(const Block<double>& basis, const std::vector<std::string>& features) {
  const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(basis.rows()))));
  return features.empty() && side * side == basis.rows() && basis.rows() >= smallest_picture &&
         basis.rows() <= largest_picture;
}

Bars largest_of(const Vector<double>& column, const std::vector<std::string>& features, std::string_view unnamed,
                std::string title) {
  std::vector<Index> order(static_cast<std::size_t>(column.size()));
  std::iota(order.begin(), order.end(), Index{0});
  const auto shown = std::min<std::ptrdiff_t>(most_bars, column.size());
  std::partial_sort(order.begin(), order.begin() + shown, order.end(),
                    [&](Index a, Index b) { return std::abs(column(a)) > std::abs(column(b)); });
  Bars bars{.title = std::move(title), .names = {}, .values = {}};
  for (std::ptrdiff_t i = 0; i < shown; ++i) {
    const Index at = order[static_cast<std::size_t>(i)];
    bars.names.push_back(features.empty() ? fmt::format("{} {}", unnamed, at + 1)
                                          : features[static_cast<std::size_t>(at)]);
    bars.values.push_back(column(at));
  }
  return bars;
}

// The vectors themselves: pictures where the features can be the pixels of one, else their largest entries.
void add_components(std::vector<Exhibit>& exhibits, const Block<double>& basis, const Vector<double>& eigenvalues,
                    double total, const std::vector<std::string>& features, bool samples) {
  if (samples && is_a_picture(basis, features)) {
    Pictures pictures{
        .title = "Components", .columns = basis.leftCols(std::min(most_pictures, basis.cols())), .names = {}};
    for (Index c = 0; c < pictures.columns.cols(); ++c)
      pictures.names.push_back(total > 0 && std::isfinite(total)
                                   ? fmt::format("{}: {}", c + 1, percent(eigenvalues(c) / total))
                                   : fmt::format("{}", c + 1));
    exhibits.push_back({pictures_chart(id_of(exhibits), pictures),
                        fmt::format("The first {} components, each as a picture, for {} features make a square. One "
                                    "colour is above zero, the other below.",
                                    pictures.columns.cols(), basis.rows())});
    return;
  }
  for (Index c = 0; c < std::min(most_bar_charts, basis.cols()); ++c)
    exhibits.push_back(
        {bars_chart(id_of(exhibits), largest_of(basis.col(c), features, samples ? "column" : "row",
                                                fmt::format("{} {}", samples ? "Component" : "Eigenvector", c + 1))),
         basis.rows() > most_bars ? fmt::format("Its {} largest entries of {}.", most_bars, basis.rows()) : ""});
}

Exhibit sizes_of(const std::string& id, const std::vector<Index>& sizes) {
  Vector<double> counts(static_cast<Index>(sizes.size()));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    counts(static_cast<Index>(i)) = static_cast<double>(sizes[i]);
    names.push_back(fmt::format("cluster {}", i));
  }
  return {bars_chart(id, largest_of(counts, names, "", "Nodes in a cluster")),
          sizes.size() > most_bars ? fmt::format("The {} largest of {}.", most_bars, sizes.size()) : ""};
}

// ---- Agents ---------------------------------------------------------------------------------------------------------

Exhibit agreement_of(const std::string& id, const DecentralizedReport& report) {
  NamedCurve residual{.name = "residual", .x = {}, .y = {}}, apart{.name = "disagreement", .x = {}, .y = {}},
      sine{.name = "sin(theta)", .x = {}, .y = {}};
  for (const DecentralizedEntry& entry : report.result.history) {
    for (NamedCurve* curve : {&residual, &apart, &sine}) curve->x.push_back(static_cast<double>(entry.rounds));
    residual.y.push_back(entry.residual);
    apart.y.push_back(entry.disagreement);
    sine.y.push_back(entry.sin_theta);
  }
  const double last = residual.x.empty() ? 1 : std::max(1.0, residual.x.back());
  const bool known = says_something(sine);
  std::vector<NamedCurve> curves{std::move(residual), std::move(apart)};
  if (known) curves.push_back(std::move(sine));
  if (report.options.tolerance > 0) curves.push_back(level("tolerance", report.options.tolerance, 0, last));
  return {curves_chart(id,
                       {.name = id,
                        .title = "Agreement",
                        .x = {.label = "rounds of gossip", .low = 0},
                        .y = {.label = "error", .logarithmic = true},
                        .curves = {}},
                       curves),
          fmt::format("The worst agent's residual, and a bound on what a gossip left between the agents, in the same "
                      "unit{}. At the end they are {:.2g} apart.",
                      known ? "; sin(theta) is against the reference" : "", report.result.agreement)};
}

Exhibit network_of(const std::string& id, const DecentralizedReport& report) {
  Circle circle{.title = "Who talks to whom", .graph = report.W.graph(), .names = {}};
  for (const std::string& source : report.held.sources)
    circle.names.push_back(std::filesystem::path(source).filename().string());
  return {network_chart(id, circle),
          fmt::format("{} agents on {} edges. The spectral gap of the gossip matrix is {:.3g}, the diameter {}.",
                      report.W.agents(), report.W.edges(), report.spectrum.gap(), report.W.diameter())};
}

// ---- The page -------------------------------------------------------------------------------------------------------

std::string_view kind_of(const std::string& command) {
  if (command == "cluster") return "Communities of";
  if (command == "svd") return "Singular vectors of";
  return command == "eigs" ? "Eigenvectors of" : "Principal components of";
}

std::string input_text(const Job& job) {
  return job.inputs.size() > 1 ? fmt::format("{} and {} more", job.inputs.front(), job.inputs.size() - 1) : job.input;
}

// As a shell would read it.
std::string quoted(const std::string& argument) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%{}";
  if (!argument.empty() && argument.find_first_not_of(plain) == argument.npos) return argument;
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string command_line(const Job& job) {
  std::string line = "hearsay " + job.command;
  for (const std::string& input : job.inputs.empty() ? std::vector{job.input} : job.inputs) line += " " + quoted(input);
  for (const auto& [option, text] : job.given) {
    const bool flag = find_option(option).kind == OptionKind::flag;
    line += flag ? fmt::format(" --{}{}", text == "false" ? "no-" : "", option)
                 : fmt::format(" --{} {}", option, quoted(text));
  }
  return line;
}

std::string provenance_html(const Job& job) {
  const Json provenance = provenance_json(job);
  const auto text = [](const Json& json, const char* key) { return html_safe(json[key].get<std::string>()); };
  std::string rows;
  for (const Json& input : provenance["inputs"])
    rows += fmt::format(
        "<tr><td>{}</td><td data-name=\"bytes\" class=\"n\">{}</td><td data-name=\"SHA-256\" "
        "class=\"hash\">{}</td></tr>\n",
        text(input, "path"), input["bytes"].dump(),
        input["sha256"].is_string() ? text(input, "sha256") : "not known: a pipe, or on another machine");
  return fmt::format(
      "<h2>Where it comes from</h2>\n<div "
      "class=\"wide\"><table><thead><tr><th>input</th><th>bytes</th><th>SHA-256</th></tr>"
      "</thead><tbody>\n{}</tbody></table></div>\n<pre>{}</pre>\n"
      "<p class=\"soft\">hearsay {}, {}, {} kernels, seed {}.</p>\n",
      rows, html_safe(command_line(job)), text(provenance, "version"), text(provenance, "compiler"),
      text(provenance, "kernels"), provenance["seed"].dump());
}

// What the certificate says, a line each, and what a bound rests on.
std::string trust_html(const PowerFacts& power, Index rank, bool singular = false) {
  constexpr std::size_t margin = 15;  // of line()
  const std::string lines =
      singular ? of_singular_values(certificate_text(power, rank)) : certificate_text(power, rank);
  std::string items;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string line = lines.substr(at, end - at);
    if (line.starts_with("  given")) {
      items += fmt::format("<li class=\"soft\">Given: {}.</li>\n",
                           html_safe(fmt::format("{}", fmt::join(power.certificate.assumptions, "; "))));
      break;
    }
    items += fmt::format("<li>{}.</li>\n", html_safe(line.substr(std::min(margin, line.size()))));
    at = end + 1;
  }
  return fmt::format("<h2>How far to trust it</h2>\n<ul>\n{}</ul>\n", items);
}

struct Words {
  std::string title;  // text
  Status status;
  std::string summary;  // its first line says how it ended
  std::string trust;    // HTML
};

std::string rendered(const Job& job, const Words& words, const std::vector<Exhibit>& exhibits) {
  if (job.report.extension() == ".svg") {
    std::vector<Chart> charts;
    for (const Exhibit& exhibit : exhibits) charts.push_back(exhibit.chart);
    return charts_svg(charts, words.title);
  }
  std::string figures;
  for (const Exhibit& exhibit : exhibits)
    figures += fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", chart_svg(exhibit.chart),
                           html_safe(exhibit.caption));
  const std::size_t first = std::min(words.summary.find('\n'), words.summary.size());
  return html_page(words.title, fmt::format("<h1>{}</h1>\n<p class=\"{}\">{}.</p>\n{}<div class=\"panels\">\n{}</div>\n"
                                            "<h2>The run, in numbers</h2>\n<pre>{}</pre>\n{}",
                                            html_safe(words.title), words.status == Status::converged ? "holds" : "odd",
                                            html_safe(words.summary.substr(0, first)), words.trust, figures,
                                            html_safe(words.summary.substr(first)), provenance_html(job)));
}

}  // namespace

std::string run_page(const Report& report, const PageData& data) {
  const PowerResult<double>& power = report.outcome.power;
  const bool nodes = report.job.command == "cluster";
  std::vector<Exhibit> exhibits;
  exhibits.push_back(scree_of(id_of(exhibits), report));
  exhibits.push_back(convergence_of(id_of(exhibits), report));
  const Index columns = data.scores.cols();
  // The first coordinate of a connected graph is the same for all but the degrees, so the next two show more.
  if (columns >= 2 && !(nodes && columns >= 3)) exhibits.push_back(scores_of(id_of(exhibits), report, data, 0, 1));
  if (columns >= 3) exhibits.push_back(scores_of(id_of(exhibits), report, data, 1, 2));
  if (!data.cluster_sizes.empty()) exhibits.push_back(sizes_of(id_of(exhibits), data.cluster_sizes));
  if (!nodes)
    add_components(exhibits, power.basis, power.eigenvalues, report.samples ? report.samples->total_variance : 0,
                   data.features, report.samples || report.singular);
  std::string trust = trust_html(power, report.job.solve.power.rank, report.singular.has_value());
  if (!data.without.empty()) trust += fmt::format("<p class=\"soft\">{}</p>\n", html_safe(data.without));
  return rendered(report.job,
                  {.title = fmt::format("{} {}", kind_of(report.job.command), terminal_safe(input_text(report.job))),
                   .status = power.status,
                   .summary = summary(report) + data.more,
                   .trust = trust},
                  exhibits);
}

std::string run_page(const DecentralizedReport& report) {
  const DecentralizedResult& result = report.result;
  const Vector<double> eigenvalues =
      result.eigenvalues.row(result.contributors.empty() ? 0 : result.contributors.front());
  std::vector<Exhibit> exhibits;
  exhibits.push_back(network_of(id_of(exhibits), report));
  exhibits.push_back(agreement_of(id_of(exhibits), report));
  exhibits.push_back({scree_chart(id_of(exhibits), {.title = "Eigenvalues",
                                                    .y_label = report.held.samples > 0 ? "variance" : "eigenvalue",
                                                    .values = listed(eigenvalues)}),
                      "As the first agent has them."});
  const auto answer =
      std::find_if(result.bases.begin(), result.bases.end(), [](const auto& basis) { return basis.size() > 0; });
  if (answer != result.bases.end())
    add_components(exhibits, *answer, eigenvalues, 0, report.held.features, report.held.samples > 0);
  return rendered(
      report.job,
      {.title = fmt::format("{} {}, by gossip", kind_of(report.job.command), terminal_safe(input_text(report.job))),
       .status = result.status,
       .summary = summary(report),
       .trust = {}},
      exhibits);
}

}  // namespace hearsay::app

#include "reports/figure_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "drawings/figure.hpp"
#include "formats/escapes.hpp"
#include "hearsay/version.hpp"
#include "reports/page.hpp"

namespace hearsay::app {

namespace {

using experiments::Verdict;

struct Tally {
  std::size_t held = 0, departed = 0, untested = 0, failed = 0;
  std::size_t all() const { return held + departed + untested + failed; }
};

Tally tally(const std::vector<Reproduced>& all) {
  Tally tally;
  for (const Reproduced& done : all)
    for (const Verdict& verdict : done.outcome.verdicts)
      ++(verdict.kind == Verdict::Kind::holds      ? tally.held
         : verdict.kind == Verdict::Kind::departs  ? tally.departed
         : verdict.kind == Verdict::Kind::untested ? tally.untested
                                                   : tally.failed);
  return tally;
}

std::string interval(const std::optional<double>& at_least, const std::optional<double>& at_most) {
  if (at_least && at_most) return fmt::format("from {:g} to {:g}", *at_least, *at_most);
  return at_least ? fmt::format("at least {:g}", *at_least) : fmt::format("at most {:g}", at_most.value_or(0));
}

std::string value_text(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : "not measured"; }

// Beside the paper's sentence: why it is not tested, or known not to hold as worded.
std::string departure_text(const Verdict& verdict) {
  if (!verdict.claim.untested.empty())
    return fmt::format("<br><span class=\"soft\">Not tested: {}.</span>", html_safe(verdict.claim.untested));
  if (!verdict.claim.departure) return "";
  const experiments::Departure& departure = *verdict.claim.departure;
  return fmt::format("<br><span class=\"soft\">Known not to hold as worded; expected {}. {}</span>",
                     interval(departure.at_least, departure.at_most), html_safe(departure.because));
}

std::string cell_text(double value) {
  if (!std::isfinite(value)) return std::isinf(value) ? "∞" : "–";
  return value == std::floor(value) && std::abs(value) < 1e6 ? fmt::format("{:.0f}", value)
                                                             : fmt::format("{:.3g}", value);
}

std::string facts_table(const experiments::TableSpec& spec, const experiments::FactsTable& table) {
  std::string head = "<th></th>", rows;
  for (const auto& column : spec.columns) head += fmt::format("<th>{}</th>", html_safe(column.label));
  for (const auto& row : table.rows) {
    rows += fmt::format("<tr><td>{}</td>", html_safe(row.name));
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const auto& cell = row.cells[c];
      rows += fmt::format("<td data-name=\"{}\" class=\"n\">{}{}</td>", html_safe(spec.columns[c].label),
                          cell ? cell_text(cell->median) : "–",
                          cell && cell->low < cell->high ? fmt::format(" <span class=\"soft\">{}–{}</span>",
                                                                       cell_text(cell->low), cell_text(cell->high))
                                                         : "");
    }
    rows += "</tr>\n";
  }
  return fmt::format(
      "<div class=\"wide\"><table class=\"facts\"><caption>{}</caption><thead><tr>{}</tr></thead><tbody>\n"
      "{}</tbody></table></div>\n",
      html_safe(spec.title), head, rows);
}

std::string claims_table(const std::vector<Verdict>& verdicts) {
  std::string rows;
  for (const Verdict& verdict : verdicts)
    rows += fmt::format(
        "<tr><td class=\"{0}\">{0}</td><td>{1}{5}</td><td data-name=\"measured\" class=\"n\">{2}</td><td "
        "data-name=\"asked\" class=\"n\">{3}</td><td data-name=\"how\" class=\"soft\">{4}</td></tr>\n",
        verdict_word(verdict), html_safe(verdict.claim.says), value_text(verdict.value), bounds_text(verdict.claim),
        html_safe(fmt::format("{}{} in {}", verdict.claim.measure,
                              verdict.claim.fact.empty() ? "" : " " + verdict.claim.fact, verdict.claim.panel)),
        departure_text(verdict));
  return fmt::format(
      "<div class=\"wide\"><table class=\"claims\"><thead><tr><th></th><th>the paper says</th><th>measured</th>"
      "<th>asked</th><th>how</th></tr></thead><tbody>\n{}</tbody></table></div>\n",
      rows);
}

std::string section(const Reproduced& done) {
  const experiments::Experiment& experiment = done.file.experiment;
  std::string panels;
  for (const Drawing& drawing : drawings(experiment, done.outcome))
    panels += panel_svg(drawing, html_id(fmt::format("{}-{}", experiment.name, drawing.spec.name)));
  std::string tables;
  for (const experiments::TableSpec& spec : experiment.tables)
    tables += facts_table(spec, experiments::tabulate(spec, done.outcome));
  return fmt::format(
      "<section id=\"{0}\"><h2>{1}</h2>\n<figure style=\"margin:0\"><figcaption><p>{2}</p></figcaption>\n"
      "<div class=\"panels\">\n{3}</div></figure>\n{8}{4}"
      "<p class=\"soft\">Lines are medians over the seeds {5}, bands the extremes. {6:.1f} s.</p>\n"
      "<details><summary>The experiment, as data</summary><pre>{7}</pre></details></section>\n",
      html_id(experiment.name), html_safe(experiment.title), html_safe(experiment.caption), panels,
      done.outcome.verdicts.empty() ? "" : claims_table(done.outcome.verdicts), fmt::join(experiment.seeds, ", "),
      done.seconds, html_safe(done.file.settled), tables);
}

}  // namespace

std::string curves_csv(const Reproduced& done) {
  std::string text = "panel,curve,x,median,low,high";
  for (const std::uint64_t seed : done.file.experiment.seeds) text += fmt::format(",seed {}", seed);
  text += '\n';
  for (const Drawing& drawing : drawings(done.file.experiment, done.outcome))
    for (std::size_t c = 0; c < drawing.bands.size(); ++c) {
      const experiments::Band& band = drawing.bands[c];
      for (std::size_t i = 0; i < band.x.size(); ++i) {
        text += fmt::format("{},{},{},{},{},{}", csv_cell(drawing.spec.name), csv_cell(drawing.spec.curves[c].name),
                            band.x[i], band.median[i], band.low[i], band.high[i]);
        for (const std::vector<double>& errors : band.seeds) text += fmt::format(",{}", errors[i]);
        text += '\n';
      }
    }
  return text;
}

Json claims_json(const std::vector<Reproduced>& all) {
  Json claims = Json::array();
  for (const Reproduced& done : all)
    for (const Verdict& verdict : done.outcome.verdicts) {
      Json claim = {{"figure", done.file.experiment.name},
                    {"name", verdict.claim.name},
                    {"says", verdict.claim.says},
                    {"panel", verdict.claim.panel},
                    {"measure", verdict.claim.measure}};
      if (!verdict.claim.curves.empty()) claim["curves"] = verdict.claim.curves;
      if (!verdict.claim.fact.empty()) claim["fact"] = verdict.claim.fact;
      if (!verdict.claim.over_fact.empty()) claim["over_fact"] = verdict.claim.over_fact;
      if (verdict.claim.at) claim["at"] = *verdict.claim.at;
      claim["value"] = number(verdict.value);
      if (verdict.claim.at_least) claim["at_least"] = *verdict.claim.at_least;
      if (verdict.claim.at_most) claim["at_most"] = *verdict.claim.at_most;
      claim["holds"] = verdict.kind == Verdict::Kind::holds;
      claim["verdict"] = verdict_word(verdict);
      if (verdict.claim.departure) claim["departure"] = verdict.claim.departure->because;
      if (!verdict.claim.untested.empty()) claim["untested"] = verdict.claim.untested;
      if (verdict.claim.measured) claim["measured"] = *verdict.claim.measured;
      if (!verdict.claim.bound_by.empty()) claim["bound_by"] = verdict.claim.bound_by;
      claims.push_back(std::move(claim));
    }
  const Tally tally = app::tally(all);
  return {{"version", version},         {"claims", tally.all()}, {"hold", tally.held}, {"depart", tally.departed},
          {"untested", tally.untested}, {"fail", tally.failed},  {"verdicts", claims}};
}

std::string bounds_text(const experiments::Claim& claim) { return interval(claim.at_least, claim.at_most); }

std::string tally_text(const std::vector<Reproduced>& all) {
  const Tally tally = app::tally(all);
  std::string text = fmt::format("{} of {} claims hold", tally.held, tally.all());
  if (tally.departed > 0) text += fmt::format(", {} depart from the paper's words as documented", tally.departed);
  if (tally.untested > 0) text += fmt::format(", {} not tested", tally.untested);
  if (tally.failed > 0) text += fmt::format(", {} fail", tally.failed);
  return text;
}

std::string_view verdict_word(const experiments::Verdict& verdict) {
  switch (verdict.kind) {
    case experiments::Verdict::Kind::holds:
      return "holds";
    case experiments::Verdict::Kind::departs:
      return "departs";
    case experiments::Verdict::Kind::untested:
      return "untested";
    case experiments::Verdict::Kind::fails:
      break;
  }
  return "fails";
}

std::string table_csv(const experiments::TableSpec& spec, const Reproduced& done) {
  std::string text = "row,column,median,low,high\n";
  for (const auto& row : experiments::tabulate(spec, done.outcome).rows)
    for (std::size_t c = 0; c < row.cells.size(); ++c)
      if (const auto& cell = row.cells[c])
        text += fmt::format("{},{},{:.17g},{:.17g},{:.17g}\n", csv_cell(row.name), csv_cell(spec.columns[c].fact),
                            cell->median, cell->low, cell->high);
  return text;
}

std::string page_html(const std::vector<Reproduced>& all, const Circumstances& circumstances) {
  std::string links, sections;
  for (const Reproduced& done : all) {
    links +=
        fmt::format("<a href=\"#{}\">{}</a>", html_id(done.file.experiment.name), html_safe(done.file.experiment.name));
    sections += section(done);
  }
  const std::string title = "The Accelerated Noisy Power Method, reproduced";
  return html_page(
      title,
      fmt::format(
          "<h1>{title}</h1>\n"
          "<p>The experiments of P. Aguié, M. Even and L. Massoulié, <i>Improved Analysis of the Accelerated Noisy "
          "Power "
          "Method with Applications to Decentralized PCA</i> (2026), run again by hearsay {version}, drawn, and held "
          "against what the paper says of them.</p>\n"
          "<p><span class=\"{mood}\">{tally}.</span></p>\n<nav>{links}</nav>\n{sections}"
          "<h2>Where and when</h2>\n<p class=\"soft\">{processor}; {threads} threads, {kernels} kernels; {compiler}. "
          "Finished {finished} after {seconds:.0f} s. The same experiments give the same numbers on any number of "
          "threads.</p>\n<pre>{command}</pre>\n",
          fmt::arg("title", title), fmt::arg("version", version),
          fmt::arg("mood", tally(all).failed == 0 ? "holds" : "fails"), fmt::arg("tally", tally_text(all)),
          fmt::arg("links", links), fmt::arg("sections", sections),
          fmt::arg("processor", html_safe(circumstances.processor)), fmt::arg("threads", circumstances.threads),
          fmt::arg("kernels", html_safe(circumstances.kernels)),
          fmt::arg("compiler", html_safe(circumstances.compiler)), fmt::arg("finished", circumstances.finished),
          fmt::arg("seconds", circumstances.seconds), fmt::arg("command", html_safe(circumstances.command))));
}

}  // namespace hearsay::app

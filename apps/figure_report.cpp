#include "figure_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "figure.hpp"
#include "hearsay/version.hpp"

namespace hearsay::app {

namespace {

using experiments::Verdict;

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

struct Tally {
  std::size_t held = 0, all = 0;
};

Tally tally(const std::vector<Reproduced>& all) {
  Tally tally;
  for (const Reproduced& done : all)
    for (const Verdict& verdict : done.outcome.verdicts) ++tally.all, tally.held += verdict.holds ? 1 : 0;
  return tally;
}

std::string_view page_style() {
  return R"(:root{color-scheme:light dark;--paper:#fff;--ink:#222;--soft:#666;--line:#ddd;--good:#0a6b3d;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--paper:#16181c;--ink:#e6e6e6;--soft:#a0a6ad;--line:#363a40;--good:#5fd49a;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1240px;padding:1rem clamp(.8rem,3vw,2rem);background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}
h1{font-size:1.6rem;line-height:1.25;margin:.6rem 0}h2{font-size:1.25rem;margin:2.2rem 0 .3rem}
p{max-width:75ch;margin:.4rem 0}a{color:inherit}
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:.6rem 1rem}
.panels svg{width:100%;height:auto;display:block}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem;margin:.6rem 0}
th,td{text-align:left;vertical-align:top;padding:.35rem .6rem .35rem 0;border-bottom:1px solid var(--line)}
td.n{white-space:nowrap;font-variant-numeric:tabular-nums}
.holds{color:var(--good);font-weight:600}.fails{color:var(--bad);font-weight:600}
.soft,figcaption,summary{color:var(--soft)}
pre{overflow-x:auto;font-size:.8rem;border:1px solid var(--line);padding:.6rem}
nav a{margin-right:1rem}
@media (max-width:640px){table.claims thead{display:none}table.claims tr{display:block;border-bottom:1px solid var(--line);padding:.4rem 0}
table.claims td{display:block;border:0;padding:.1rem 0}table.claims td[data-name]::before{content:attr(data-name) ": ";color:var(--soft)}}
)";
}

std::string value_text(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : "not measured"; }

std::string claims_table(const std::vector<Verdict>& verdicts) {
  std::string rows;
  for (const Verdict& verdict : verdicts)
    rows += fmt::format(
        "<tr><td class=\"{0}\">{0}</td><td>{1}</td><td data-name=\"measured\" class=\"n\">{2}</td><td "
        "data-name=\"asked\" class=\"n\">{3}</td><td data-name=\"how\" class=\"soft\">{4}</td></tr>\n",
        verdict.holds ? "holds" : "fails", escaped(verdict.claim.says), value_text(verdict.value),
        bounds_text(verdict.claim),
        escaped(fmt::format("{}{} in {}", verdict.claim.measure,
                            verdict.claim.fact.empty() ? "" : " " + verdict.claim.fact, verdict.claim.panel)));
  return fmt::format(
      "<div class=\"wide\"><table class=\"claims\"><thead><tr><th></th><th>the paper says</th><th>measured</th>"
      "<th>asked</th><th>how</th></tr></thead><tbody>\n{}</tbody></table></div>\n",
      rows);
}

std::string section(const Reproduced& done) {
  const experiments::Experiment& experiment = done.file.experiment;
  std::string panels;
  for (const Drawing& drawing : drawings(experiment, done.outcome))
    panels += panel_svg(drawing, fmt::format("{}-{}", experiment.name, drawing.spec.name));
  return fmt::format(
      "<section id=\"{0}\"><h2>{1}</h2>\n<figure style=\"margin:0\"><figcaption><p>{2}</p></figcaption>\n"
      "<div class=\"panels\">\n{3}</div></figure>\n{4}"
      "<p class=\"soft\">Lines are medians over the seeds {5}, bands the extremes. {6:.1f} s.</p>\n"
      "<details><summary>The experiment, as data</summary><pre>{7}</pre></details></section>\n",
      experiment.name, escaped(experiment.title), escaped(experiment.caption), panels,
      done.outcome.verdicts.empty() ? "" : claims_table(done.outcome.verdicts), fmt::join(experiment.seeds, ", "),
      done.seconds, escaped(done.file.settled));
}

}  // namespace

std::string curves_csv(const Reproduced& done) {
  std::string text = "panel,curve,x,median,low,high\n";
  for (const Drawing& drawing : drawings(done.file.experiment, done.outcome))
    for (std::size_t c = 0; c < drawing.bands.size(); ++c) {
      const experiments::Band& band = drawing.bands[c];
      for (std::size_t i = 0; i < band.x.size(); ++i)
        text += fmt::format("{},{},{},{},{},{}\n", drawing.spec.name, csv_field(drawing.spec.curves[c].name), band.x[i],
                            band.median[i], band.low[i], band.high[i]);
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
      claim["value"] = number(verdict.value);
      if (verdict.claim.at_least) claim["at_least"] = *verdict.claim.at_least;
      if (verdict.claim.at_most) claim["at_most"] = *verdict.claim.at_most;
      claim["holds"] = verdict.holds;
      claims.push_back(std::move(claim));
    }
  const auto [held, count] = tally(all);
  return {{"version", version}, {"claims", count}, {"hold", held}, {"fail", count - held}, {"verdicts", claims}};
}

std::string bounds_text(const experiments::Claim& claim) {
  if (claim.at_least && claim.at_most) return fmt::format("from {:g} to {:g}", *claim.at_least, *claim.at_most);
  return claim.at_least ? fmt::format("at least {:g}", *claim.at_least)
                        : fmt::format("at most {:g}", claim.at_most.value_or(0));
}

std::string page_html(const std::vector<Reproduced>& all, const Circumstances& circumstances) {
  const auto [held, count] = tally(all);
  std::string links, sections;
  for (const Reproduced& done : all) {
    links += fmt::format("<a href=\"#{0}\">{0}</a>", done.file.experiment.name);
    sections += section(done);
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>The Accelerated Noisy Power Method, reproduced</title>\n<link rel=\"icon\" href=\"data:,\">\n"
      "<style>\n{style}{figures}</style></head><body>\n"
      "<h1>The Accelerated Noisy Power Method, reproduced</h1>\n"
      "<p>The experiments of P. Aguié, M. Even and L. Massoulié, <i>Improved Analysis of the Accelerated Noisy Power "
      "Method with Applications to Decentralized PCA</i> (2026), run again by hearsay {version}, drawn, and held "
      "against "
      "what the paper says of them.</p>\n"
      "<p><span class=\"{mood}\">{held} of {count} claims hold.</span></p>\n<nav>{links}</nav>\n{sections}"
      "<h2>Where and when</h2>\n<p class=\"soft\">{processor}; {threads} threads, {kernels} kernels; {compiler}. "
      "Finished "
      "{finished} after {seconds:.0f} s. The same experiments give the same numbers on any number of threads.</p>\n"
      "<pre>{command}</pre>\n</body></html>\n",
      fmt::arg("style", page_style()), fmt::arg("figures", figure_style()), fmt::arg("version", version),
      fmt::arg("mood", held == count ? "holds" : "fails"), fmt::arg("held", held), fmt::arg("count", count),
      fmt::arg("links", links), fmt::arg("sections", sections), fmt::arg("processor", escaped(circumstances.processor)),
      fmt::arg("threads", circumstances.threads), fmt::arg("kernels", circumstances.kernels),
      fmt::arg("compiler", escaped(circumstances.compiler)), fmt::arg("finished", circumstances.finished),
      fmt::arg("seconds", circumstances.seconds), fmt::arg("command", escaped(circumstances.command)));
}

}  // namespace hearsay::app

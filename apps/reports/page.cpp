#include "reports/page.hpp"

#include <fmt/format.h>

#include "drawings/canvas.hpp"
#include "formats/escapes.hpp"

namespace hearsay::app {

namespace {

std::string_view page_style() {
  return R"(:root{color-scheme:light dark;--paper:#fff;--ink:#222;--soft:#666;--line:#ddd;--good:#0a6b3d;--bad:#b3261e;--odd:#8a5a00}
@media (prefers-color-scheme:dark){:root{--paper:#16181c;--ink:#e6e6e6;--soft:#a0a6ad;--line:#363a40;--good:#5fd49a;--bad:#ff8a80;--odd:#f0c83c}}
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
.holds{color:var(--good);font-weight:600}.fails{color:var(--bad);font-weight:600}.departs,.untested{color:var(--odd);font-weight:600}
caption{text-align:left;font-weight:600;padding:.4rem 0}
.soft,figcaption,summary{color:var(--soft)}
figure{margin:0 0 .8rem}figcaption{font-size:.92rem}
.odd{color:var(--odd);font-weight:600}.hash{overflow-wrap:anywhere;font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.82rem}
pre{overflow-x:auto;font-size:.8rem;border:1px solid var(--line);padding:.6rem}
nav a{margin-right:1rem}
@media (max-width:640px){thead{display:none}tr{display:block;border-bottom:1px solid var(--line);padding:.4rem 0}caption{display:block}td.n{white-space:normal}
td{display:block;border:0;padding:.1rem 0}td[data-name]::before{content:attr(data-name) ": ";color:var(--soft)}table.facts td:first-child{font-weight:600}}
)";
}

}  // namespace

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{}{}</style></head><body>\n{}</body></html>\n",
      html_safe(title), page_style(), figure_style(), body);
}

}  // namespace hearsay::app

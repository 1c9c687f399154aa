#include "drawings/canvas.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/escapes.hpp"

namespace hearsay::app {

namespace {

constexpr int most_ticks = 12;

// Enough that no two ticks bear the same number.
int digits_for(const std::vector<double>& values) {
  for (int digits = 6; digits < 17; ++digits) {
    bool distinct = true;
    for (std::size_t i = 1; i < values.size(); ++i)
      distinct = distinct && fmt::format("{:.{}g}", values[i - 1], digits) != fmt::format("{:.{}g}", values[i], digits);
    if (distinct) return digits;
  }
  return 17;
}

std::string with_thousands(double value, int digits) {
  std::string text = fmt::format("{:.{}g}", value, digits);
  if (value < 1e4 || value >= 1e6 || text.find_first_not_of("0123456789") != text.npos) return text;
  const std::size_t thousands = text.size() - 3;
  return fmt::format("{} {}", text.substr(0, thousands), text.substr(thousands));  // 10 000
}

constexpr double least_size = 8;  // below it nobody reads: what is too long even so is shortened

// A character in ems, at most: fonts differ, and DejaVu Sans is the widest that the style sheet names.
double ems(char c) {
  constexpr std::string_view narrow = " .,:;'|!()[]fijlrt-/I", wide = "mwMW@%";
  return narrow.find(c) != narrow.npos ? 0.42 : wide.find(c) != wide.npos ? 1.0 : c >= 'A' && c <= 'Z' ? 0.78 : 0.64;
}

double width_of(std::string_view text, double size) {
  double width = 0;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) width += size * ems(c);
  return width;
}

double width_of(const Tick& tick, double size) {
  return width_of(tick.text, size) + width_of(tick.raised, size * 5 / 7);
}

std::string svg_of(const Tick& tick) {
  return tick.raised.empty() ? tick.text
                             : fmt::format("{}<tspan dy=\"-5\" class=\"hs-up\">{}</tspan>", tick.text, tick.raised);
}

double fitting_size(double size, double width, double room) { return width > room ? size * room / width : size; }

std::string size_attribute(double size, double usual) {
  return size < usual ? fmt::format(" style=\"font-size:{:.1f}px\"", std::floor(10 * size) / 10) : "";
}

// One size for the labels of an axis.
double size_of_labels(const std::vector<Tick>& ticks, double room) {
  double size = text_size;
  for (const Tick& tick : ticks) size = std::min(size, fitting_size(text_size, width_of(tick, text_size), room));
  return size;
}

}  // namespace

Scale::Scale(const experiments::Axis& axis, double least, double most, bool tight, double from, double to)
    : logarithmic_(axis.logarithmic), from_(from), to_(to) {
  low_ = axis.low ? place(*axis.low) : logarithmic_ ? std::floor(place(least) + 1e-9) : std::min(0.0, least);
  high_ = axis.high ? place(*axis.high) : logarithmic_ && !tight ? std::ceil(place(most) - 1e-9) : place(most);
  constexpr double least_width = 1e-290;  // a fifth of it must still be a number
  if (!(high_ > low_)) high_ = std::max(low_ + 1, std::nextafter(low_, std::numeric_limits<double>::infinity()));
  if (!(high_ / 2 - low_ / 2 > least_width)) high_ = low_ + 4 * least_width;
}

double Scale::operator()(double value) const {
  const double share = (place(value) / 2 - low_ / 2) / (high_ / 2 - low_ / 2);  // the halves cannot overflow
  return from_ + (to_ - from_) * std::clamp(share, -0.5, 1.5);  // a little outside, where the clip hides it
}

double Scale::place(double value) const { return logarithmic_ ? std::log10(std::max(value, 1e-300)) : value; }

std::vector<Tick> Scale::decades() const {
  std::vector<Tick> ticks;
  const int step = std::max(1, static_cast<int>(std::ceil((high_ - low_) / 8)));
  const int first = step * static_cast<int>(std::ceil((low_ - 1e-9) / step));  // so that 1 is among them
  for (int n = first; n <= high_ + 1e-9; n += step)
    ticks.push_back({.at = at(n),
                     .text = n == 0 ? "1" : "10",
                     .raised = n == 0 || n == 1 ? ""
                               : n < 0          ? fmt::format("−{}", -n)
                                                : fmt::to_string(n)});
  return ticks;
}

// Counted, not added up: far from zero, n + 1 may be n.
std::vector<Tick> Scale::round_numbers() const {
  const double rough = high_ / 5 - low_ / 5, unit = std::pow(10.0, std::floor(std::log10(rough)));
  const double step = unit * (rough / unit < 1.5 ? 1 : rough / unit < 3.5 ? 2 : rough / unit < 7.5 ? 5 : 10);
  const double first = std::ceil(low_ / step - 1e-9), end = high_ + 1e-9 * step;
  std::vector<double> values;
  for (int i = 0; i < most_ticks; ++i) {
    const double value = first + i == 0 ? 0.0 : (first + i) * step;  // never -0
    if (!(value <= end)) break;
    if (values.empty() || value > values.back()) values.push_back(value);
  }
  std::vector<Tick> ticks;
  for (const double value : values) ticks.push_back({at(value), with_thousands(value, digits_for(values)), {}});
  return ticks;
}

void Extent::include(double value, bool logarithmic) {
  if (!std::isfinite(value) || (logarithmic && !(value > 0))) return;
  least = std::min(least, value);
  most = std::max(most, value);
}

std::string fitted_text(std::string_view classes, std::string_view place, std::string_view text, double usual,
                        double room) {
  const double wanted = fitting_size(usual, width_of(text, usual), room), size = std::max(wanted, least_size);
  const auto fit = static_cast<std::size_t>(static_cast<double>(letters(text)) * std::min(1.0, wanted / size));
  return fmt::format("<text class=\"{}\" {}{}>{}</text>\n", classes, place, size_attribute(size, usual),
                     html_safe(shortened(text, std::max<std::size_t>(1, fit))));
}

std::string title_svg(std::string_view title) {
  return fitted_text("hs-title", fmt::format("x=\"{:.1f}\" y=\"20\" text-anchor=\"middle\"", panel_width / 2), title,
                     title_size, panel_width - 2 * page_margin);
}

std::string axes_svg(const std::vector<Tick>& across, const std::vector<Tick>& up, std::string_view x_label,
                     std::string_view y_label) {
  const double end = plot_left + plot_width, middle = plot_left + plot_width / 2;
  std::string drawn;
  const double up_size = size_of_labels(up, plot_left - 7 - y_label_end);
  for (const Tick& tick : up)
    drawn += fmt::format(
        "<path class=\"hs-grid\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/><text class=\"hs-t\" x=\"{3:.1f}\" "
        "y=\"{4:.1f}\" text-anchor=\"end\"{5}>{6}</text>\n",
        plot_left, tick.at, end, plot_left - 7, tick.at + 4.5, size_attribute(up_size, text_size), svg_of(tick));
  double apart = plot_width;
  for (std::size_t i = 1; i < across.size(); ++i) apart = std::min(apart, across[i].at - across[i - 1].at);
  const double across_size = size_of_labels(across, apart - 2);
  for (const Tick& tick : across) {
    // A tick may stand at the end of the axis: its label stays on the page.
    const double last = panel_width - page_margin - width_of(tick, across_size) / 2;
    drawn += fmt::format(
        "<path class=\"hs-grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/><text class=\"hs-t\" x=\"{3:.1f}\" "
        "y=\"{4:.1f}\" text-anchor=\"middle\"{5}>{6}</text>\n",
        tick.at, plot_top, plot_bottom, std::min(tick.at, last), plot_bottom + 18,
        size_attribute(across_size, text_size), svg_of(tick));
  }
  drawn += fmt::format("<path class=\"hs-frame\" d=\"M{} {}V{}H{}\"/>\n", plot_left, plot_top, plot_bottom, end);
  drawn +=
      fitted_text("hs-t", fmt::format("x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\"", middle, plot_bottom + 38),
                  x_label, text_size, 2 * (panel_width - page_margin - middle));
  drawn += fitted_text(
      "hs-t",
      fmt::format("transform=\"translate(15 {:.1f}) rotate(-90)\" text-anchor=\"middle\"", plot_top + plot_height / 2),
      y_label, text_size, 2 * (plot_top - page_margin) + plot_height);
  return drawn;
}

std::string clipped_group(const std::string& id) {
  return fmt::format(
      "<clipPath id=\"{0}-clip\"><path d=\"M{1} {2}h{3}v{4}h-{3}Z\"/></clipPath>\n<g clip-path=\"url(#{0}-clip)\">\n",
      id, plot_left, plot_top - 1, plot_width + 1, plot_height + 2);
}

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string shortened(std::string_view text, std::size_t most) {
  if (letters(text) <= most) return std::string(text);
  std::size_t bytes = 0;
  for (std::size_t seen = 0; bytes < text.size(); ++bytes)
    if ((static_cast<unsigned char>(text[bytes]) & 0xC0) != 0x80 && ++seen == most) break;
  return std::string(text.substr(0, bytes)) + "…";
}

// Colours that the colour-blind can tell apart (after Okabe and Ito), lighter ones on a dark ground. Without variables,
// which not every drawing program knows.
std::string_view figure_style() {
  return R"(.hs-t,.hs-title{font:14px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:#333}
.hs-title{font-weight:600;font-size:15px;fill:#111}
.hs-up{font-size:10px}
.hs-paper{fill:#fff}
.hs-grid{stroke:#ddd;stroke-width:.8;fill:none}
.hs-frame{stroke:#555;stroke-width:1.2;fill:none}
.hs-l{fill:none;stroke-width:1.9;stroke-linejoin:round}
.hs-b{fill-opacity:.16;stroke:none}
.hs-m{stroke:#fff;stroke-width:.7}
.hs-s{font-size:12px}
.hs-p{fill:none;stroke-width:4.4;stroke-linecap:round;stroke-opacity:.72}
.hs-halo{font-weight:600;paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
.hs-bar{fill:#0072b2;fill-opacity:.55}
.hs-pos{fill:#c4501b}.hs-neg{fill:#2068b0}
.hs-edge{stroke:#8a94a0;stroke-width:1.1;stroke-opacity:.75;fill:none}
.hs-node{fill:#0072b2;stroke:#fff;stroke-width:1}
.g0{stroke:#4e79a7}.g1{stroke:#f28e2b}.g2{stroke:#e15759}.g3{stroke:#59b3ac}.g4{stroke:#59a14f}
.g5{stroke:#d9b425}.g6{stroke:#b07aa1}.g7{stroke:#ff8fa0}.g8{stroke:#9c755f}.g9{stroke:#8a8a8a}
.hs-l.c0{stroke:#000}.hs-b.c0,.hs-m.c0{fill:#000}
.hs-l.c1{stroke:#0072b2}.hs-b.c1,.hs-m.c1{fill:#0072b2}
.hs-l.c2{stroke:#d55e00}.hs-b.c2,.hs-m.c2{fill:#d55e00}
.hs-l.c3{stroke:#009e73}.hs-b.c3,.hs-m.c3{fill:#009e73}
.hs-l.c4{stroke:#aa4499}.hs-b.c4,.hs-m.c4{fill:#aa4499}
.hs-l.c5{stroke:#b38600}.hs-b.c5,.hs-m.c5{fill:#b38600}
.hs-l.c6{stroke:#3a9fd8}.hs-b.c6,.hs-m.c6{fill:#3a9fd8}
.hs-l.c7{stroke:#7a5230}.hs-b.c7,.hs-m.c7{fill:#7a5230}
@media (prefers-color-scheme:dark){
.hs-t{fill:#ccc}.hs-title{fill:#f2f2f2}.hs-paper{fill:#16181c}.hs-grid{stroke:#363a40}.hs-frame{stroke:#9aa}
.hs-b{fill-opacity:.22}.hs-m{stroke:#16181c}.hs-halo{stroke:#16181c}.hs-bar{fill:#4db3ee}
.hs-pos{fill:#ff8b3d}.hs-neg{fill:#4db3ee}.hs-node{fill:#4db3ee;stroke:#16181c}
.hs-l.c0{stroke:#eee}.hs-b.c0,.hs-m.c0{fill:#eee}
.hs-l.c1{stroke:#4db3ee}.hs-b.c1,.hs-m.c1{fill:#4db3ee}
.hs-l.c2{stroke:#ff8b3d}.hs-b.c2,.hs-m.c2{fill:#ff8b3d}
.hs-l.c3{stroke:#2fd6a3}.hs-b.c3,.hs-m.c3{fill:#2fd6a3}
.hs-l.c4{stroke:#e68ad6}.hs-b.c4,.hs-m.c4{fill:#e68ad6}
.hs-l.c5{stroke:#f0c83c}.hs-b.c5,.hs-m.c5{fill:#f0c83c}
.hs-l.c6{stroke:#9bd7ff}.hs-b.c6,.hs-m.c6{fill:#9bd7ff}
.hs-l.c7{stroke:#cfa27c}.hs-b.c7,.hs-m.c7{fill:#cfa27c}
}
)";
}

std::string chart_svg(const Chart& chart) {
  return fmt::format(
      "<svg id=\"{0}\" role=\"img\" viewBox=\"0 0 {1} {2}\" xmlns=\"http://www.w3.org/2000/svg\">"
      "<title>{3}</title>\n{4}</svg>\n",
      chart.id, panel_width, chart.height, html_safe(chart.title), chart.content);
}

std::string charts_svg(const std::vector<Chart>& charts, const std::string& title) {
  constexpr std::size_t in_row = 2;
  const double heading = title.empty() ? 0 : 40;
  const std::size_t columns = std::min(in_row, charts.size());
  std::string drawn;
  double y = heading;
  for (std::size_t p = 0; p < charts.size(); p += columns) {
    double tallest = 0;
    for (std::size_t c = p; c < std::min(charts.size(), p + columns); ++c) {
      drawn += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n{}</g>\n",
                           panel_width * static_cast<double>(c - p), y, charts[c].content);
      tallest = std::max(tallest, charts[c].height);
    }
    y += tallest;
  }
  const double across = panel_width * static_cast<double>(columns);
  const std::string head =
      title.empty() ? ""
                    : fitted_text("hs-title", fmt::format("x=\"{}\" y=\"26\" text-anchor=\"middle\"", across / 2),
                                  title, title_size, across - 2 * page_margin);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>{2}</title>\n<style>\n{3}</style>\n"
      "<rect class=\"hs-paper\" width=\"{0}\" height=\"{1}\"/>\n{4}{5}</svg>\n",
      across, y, html_safe(title.empty() && !charts.empty() ? charts.front().title : title), figure_style(), head,
      drawn);
}

}  // namespace hearsay::app

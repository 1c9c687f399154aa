#include "drawings/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/escapes.hpp"

namespace hearsay::app {

namespace {

using experiments::Axis;
using experiments::Band;

// A panel, in the units of its drawing.
constexpr double width = 480, left = 66, right = 14, top = 34, plot_height = 270, below_plot = 52, legend_row = 21;
constexpr double plot_width = width - left - right;
constexpr int markers_per_curve = 7, most_ticks = 12;

constexpr std::string_view dashes[] = {"none", "7 3", "2 2.5", "9 3 2 3", "14 4", "5 2 1 2 1 2", "4 5", "12 3 4 3"};
constexpr std::size_t styles = std::size(dashes);

// The outline of a marker around the origin.
constexpr std::string_view markers[] = {"M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0Z",
                                        "M-3.2-3.2H3.2V3.2H-3.2Z",
                                        "M0-4.4L4.2 3.2H-4.2Z",
                                        "M0-4.8L4.2 0L0 4.8L-4.2 0Z",
                                        "M0 4.4L4.2-3.2H-4.2Z",
                                        "M-4-1.3H-1.3V-4H1.3V-1.3H4V1.3H1.3V4H-1.3V1.3H-4Z",
                                        "M-4-3.8L4 3.8V-3.8L-4 3.8Z",
                                        "M-2-4.6H2V4.6H-2Z"};
static_assert(std::size(markers) == styles);

// From numbers to places along one axis.
class Scale {
 public:
  /// Where the axis does not say, whole decades, and a linear one begins at zero; `tight` ends with the data instead.
  Scale(const Axis& axis, double least, double most, bool tight, double from, double to)
      : logarithmic_(axis.logarithmic), from_(from), to_(to) {
    low_ = axis.low ? place(*axis.low) : logarithmic_ ? std::floor(place(least) + 1e-9) : std::min(0.0, least);
    high_ = axis.high ? place(*axis.high) : logarithmic_ && !tight ? std::ceil(place(most) - 1e-9) : place(most);
    constexpr double least_width = 1e-290;  // a fifth of it must still be a number
    if (!(high_ > low_)) high_ = std::max(low_ + 1, std::nextafter(low_, std::numeric_limits<double>::infinity()));
    if (!(high_ / 2 - low_ / 2 > least_width)) high_ = low_ + 4 * least_width;
  }

  double operator()(double value) const {
    const double share = (place(value) / 2 - low_ / 2) / (high_ / 2 - low_ / 2);  // the halves cannot overflow
    return from_ + (to_ - from_) * std::clamp(share, -0.5, 1.5);  // a little outside, where the clip hides it
  }

  struct Tick {
    double at;
    std::string text;  // SVG
  };

  std::vector<Tick> ticks() const { return logarithmic_ ? decades() : round_numbers(); }

 private:
  double place(double value) const { return logarithmic_ ? std::log10(std::max(value, 1e-300)) : value; }
  double at(double placed) const { return from_ + (to_ - from_) * ((placed / 2 - low_ / 2) / (high_ / 2 - low_ / 2)); }

  std::vector<Tick> decades() const {
    std::vector<Tick> ticks;
    const int step = std::max(1, static_cast<int>(std::ceil((high_ - low_) / 8)));
    const int first = step * static_cast<int>(std::ceil((low_ - 1e-9) / step));  // so that 1 is among them
    for (int n = first; n <= high_ + 1e-9; n += step)
      ticks.push_back({at(n), n == 0   ? "1"
                              : n == 1 ? "10"
                                       : fmt::format("10<tspan dy=\"-5\" class=\"hs-up\">{}</tspan>",
                                                     n < 0 ? fmt::format("−{}", -n) : fmt::to_string(n))});
    return ticks;
  }

  // Counted, not added up: far from zero, n + 1 may be n.
  std::vector<Tick> round_numbers() const {
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
    for (const double value : values) ticks.push_back({at(value), with_thousands(value, digits_for(values))});
    return ticks;
  }

  // Enough that no two ticks bear the same number.
  static int digits_for(const std::vector<double>& values) {
    for (int digits = 6; digits < 17; ++digits) {
      bool distinct = true;
      for (std::size_t i = 1; i < values.size(); ++i)
        distinct =
            distinct && fmt::format("{:.{}g}", values[i - 1], digits) != fmt::format("{:.{}g}", values[i], digits);
      if (distinct) return digits;
    }
    return 17;
  }

  static std::string with_thousands(double value, int digits) {
    std::string text = fmt::format("{:.{}g}", value, digits);
    if (value < 1e4 || value >= 1e6 || text.find_first_not_of("0123456789") != text.npos) return text;
    const std::size_t thousands = text.size() - 3;
    return fmt::format("{} {}", text.substr(0, thousands), text.substr(thousands));  // 10 000
  }

  bool logarithmic_;
  double low_, high_, from_, to_;
};

struct Extent {
  double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();

  void include(double value, bool logarithmic) {
    if (!std::isfinite(value) || (logarithmic && !(value > 0))) return;
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

Scale scale_of(const Axis& axis, const std::vector<Band>& bands, bool of_x) {
  Extent extent;
  for (const Band& band : bands)
    for (const auto* values : of_x ? std::vector{&band.x} : std::vector{&band.median, &band.low, &band.high})
      for (const double value : *values) extent.include(value, axis.logarithmic);
  if (!(extent.least <= extent.most)) extent = {.least = 1, .most = 10};
  return of_x ? Scale(axis, extent.least, extent.most, true, left, left + plot_width)
              : Scale(axis, extent.least, extent.most, false, top + plot_height, top);
}

std::string points(const std::vector<double>& x, const std::vector<double>& y, const Scale& across, const Scale& up) {
  std::string path;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isfinite(y[i])) path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "" : "L", across(x[i]), up(y[i]));
  return path;
}

std::string band_path(const Band& band, const Scale& across, const Scale& up) {
  const std::string forth = points(band.x, band.high, across, up);
  const std::string back = points({band.x.rbegin(), band.x.rend()}, {band.low.rbegin(), band.low.rend()}, across, up);
  return forth.empty() || back.empty() ? "" : "M" + forth + "L" + back + "Z";
}

std::string marker(std::size_t style, double x, double y) {
  return fmt::format("<path class=\"hs-m c{}\" transform=\"translate({:.1f} {:.1f})\" d=\"{}\"/>\n", style, x, y,
                     markers[style]);
}

// Spread along the axis, each curve's a little apart from the others'.
std::string markers_of(const Band& band, std::size_t curve, std::size_t curves, const Scale& across, const Scale& up) {
  std::string drawn;
  const double spacing = plot_width / markers_per_curve;
  double next = left + spacing * (static_cast<double>(curve) + 0.5) / static_cast<double>(curves);
  for (std::size_t i = 0; i < band.x.size(); ++i) {
    const double x = across(band.x[i]), y = up(band.median[i]);
    if (!(x >= next) || !(y >= top && y <= top + plot_height) || x > left + plot_width) continue;
    drawn += marker(curve % styles, x, y);
    while (next <= x) next += spacing;
  }
  return drawn;
}

std::string axes(const experiments::PanelSpec& spec, const Scale& across, const Scale& up) {
  const double bottom = top + plot_height, end = left + plot_width;
  std::string drawn;
  for (const auto& [at, text] : up.ticks())
    drawn += fmt::format(
        "<path class=\"hs-grid\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/><text class=\"hs-t\" x=\"{3:.1f}\" "
        "y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        left, at, end, left - 7, at + 4.5, text);
  for (const auto& [at, text] : across.ticks())
    drawn += fmt::format(
        "<path class=\"hs-grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/><text class=\"hs-t\" x=\"{0:.1f}\" "
        "y=\"{3:.1f}\" text-anchor=\"middle\">{4}</text>\n",
        at, top, bottom, bottom + 18, text);
  drawn += fmt::format("<path class=\"hs-frame\" d=\"M{} {}V{}H{}\"/>\n", left, top, bottom, end);
  drawn += fmt::format("<text class=\"hs-t\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                       left + plot_width / 2, bottom + 38, html_safe(spec.x.label));
  drawn += fmt::format(
      "<text class=\"hs-t\" transform=\"translate(15 {:.1f}) rotate(-90)\" text-anchor=\"middle\">"
      "{}</text>\n",
      top + plot_height / 2, html_safe(spec.y.label));
  return drawn;
}

// Characters, not bytes.
std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

int legend_columns(const experiments::PanelSpec& spec) {
  std::size_t longest = 0;
  for (const auto& curve : spec.curves) longest = std::max(longest, letters(curve.name));
  return longest <= 11 ? 3 : longest <= 22 ? 2 : 1;
}

double height_of(const experiments::PanelSpec& spec) {
  const auto columns = static_cast<std::size_t>(legend_columns(spec));
  const auto rows = (spec.curves.size() + columns - 1) / columns;
  return top + plot_height + below_plot + legend_row * static_cast<double>(rows) + 6;
}

std::string legend(const experiments::PanelSpec& spec) {
  const int columns = legend_columns(spec);
  const double column_width = (width - 20) / columns;
  std::string drawn;
  for (std::size_t c = 0; c < spec.curves.size(); ++c) {
    const double x = 20 + column_width * static_cast<double>(c % static_cast<std::size_t>(columns));
    const double y =
        top + plot_height + below_plot + 8 + legend_row * static_cast<double>(c / static_cast<std::size_t>(columns));
    const std::size_t style = c % styles;
    drawn += fmt::format("<path class=\"hs-l c{}\" stroke-dasharray=\"{}\" d=\"M{:.1f} {:.1f}h36\"/>", style,
                         dashes[style], x, y);
    drawn += marker(style, x + 18, y);
    drawn += fmt::format("<text class=\"hs-t\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 44, y + 4.5,
                         html_safe(spec.curves[c].name));
  }
  return drawn;
}

std::string content(const Drawing& drawing, const std::string& id) {
  const auto& [spec, bands] = drawing;
  const Scale across = scale_of(spec.x, bands, true), up = scale_of(spec.y, bands, false);
  std::string drawn = fmt::format("<text class=\"hs-title\" x=\"{:.1f}\" y=\"20\" text-anchor=\"middle\">{}</text>\n",
                                  width / 2, html_safe(spec.title));
  drawn += axes(spec, across, up);
  drawn += fmt::format("<clipPath id=\"{}-clip\"><path d=\"M{} {}h{}v{}h-{}Z\"/></clipPath>\n", id, left, top - 1,
                       plot_width + 1, plot_height + 2, plot_width + 1);
  drawn += fmt::format("<g clip-path=\"url(#{}-clip)\">\n", id);
  for (std::size_t c = 0; c < bands.size(); ++c)
    if (const std::string path = band_path(bands[c], across, up); !path.empty())
      drawn += fmt::format("<path class=\"hs-b c{}\" d=\"{}\"/>\n", c % styles, path);
  for (std::size_t c = 0; c < bands.size(); ++c) {
    const std::string path = points(bands[c].x, bands[c].median, across, up);
    drawn += fmt::format("<path class=\"hs-l c{0}\" stroke-dasharray=\"{1}\" d=\"M{2}\"/>\n", c % styles,
                         dashes[c % styles], path);
    drawn += markers_of(bands[c], c, bands.size(), across, up);
  }
  return drawn + "</g>\n" + legend(spec);
}

}  // namespace

std::vector<Drawing> drawings(const experiments::Experiment& experiment, const experiments::Outcome& outcome) {
  std::vector<Drawing> drawn;
  for (std::size_t p = 0; p < experiment.panels.size(); ++p) {
    const experiments::PanelSpec& spec = experiment.panels[p];
    Drawing& drawing = drawn.emplace_back(Drawing{.spec = spec, .bands = {}});
    for (const auto& curve : outcome.panels[p].curves)
      drawing.bands.push_back(experiments::band(curve, spec.against, spec.x.logarithmic, points_drawn));
  }
  return drawn;
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
.hs-b{fill-opacity:.22}.hs-m{stroke:#16181c}
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

std::string panel_svg(const Drawing& drawing, const std::string& id) {
  return fmt::format(
      "<svg id=\"{0}\" role=\"img\" viewBox=\"0 0 {1} {2}\" xmlns=\"http://www.w3.org/2000/svg\">"
      "<title>{3}</title>\n{4}</svg>\n",
      id, width, height_of(drawing.spec), html_safe(drawing.spec.title), content(drawing, id));
}

std::string figure_svg(const std::vector<Drawing>& panels, const std::string& title) {
  constexpr std::size_t in_row = 2;
  constexpr double heading = 40;
  const std::size_t columns = std::min(in_row, panels.size());
  std::string drawn;
  double y = heading;
  for (std::size_t p = 0; p < panels.size(); p += columns) {
    double tallest = 0;
    for (std::size_t c = p; c < std::min(panels.size(), p + columns); ++c) {
      drawn += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n{}</g>\n", width * static_cast<double>(c - p),
                           y, content(panels[c], fmt::format("panel-{}", c + 1)));
      tallest = std::max(tallest, height_of(panels[c].spec));
    }
    y += tallest;
  }
  const double across = width * static_cast<double>(columns);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>{2}</title>\n<style>\n{3}</style>\n"
      "<rect class=\"hs-paper\" width=\"{0}\" height=\"{1}\"/>\n"
      "<text class=\"hs-title\" x=\"{4}\" y=\"26\" text-anchor=\"middle\">{2}</text>\n{5}</svg>\n",
      across, y, html_safe(title), figure_style(), across / 2, drawn);
}

}  // namespace hearsay::app

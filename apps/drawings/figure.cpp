#include "drawings/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hearsay::app {

namespace {

using experiments::Axis;
using experiments::Band;

constexpr int markers_per_curve = 7;

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

Scale scale_of(const Axis& axis, const std::vector<Band>& bands, bool of_x) {
  Extent extent;
  for (const Band& band : bands)
    for (const auto* values : of_x ? std::vector{&band.x} : std::vector{&band.median, &band.low, &band.high})
      for (const double value : *values) extent.include(value, axis.logarithmic);
  if (!(extent.least <= extent.most)) extent = {.least = 1, .most = 10};
  return of_x ? Scale(axis, extent.least, extent.most, true, plot_left, plot_left + plot_width)
              : Scale(axis, extent.least, extent.most, false, plot_bottom, plot_top);
}

std::string points(const std::vector<double>& x, const std::vector<double>& y, const Scale& across, const Scale& up) {
  std::string path;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
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

// Spread along the axis, each curve's a little apart from the others'; on every point where there are but a few.
std::string markers_of(const Band& band, std::size_t curve, std::size_t curves, const Scale& across, const Scale& up) {
  std::string drawn;
  const double spacing = plot_width / markers_per_curve;
  const bool on_every_point = band.x.size() <= markers_per_curve;
  double next = plot_left + spacing * (static_cast<double>(curve) + 0.5) / static_cast<double>(curves);
  for (std::size_t i = 0; i < band.x.size(); ++i) {
    const double x = across(band.x[i]), y = up(band.median[i]);
    if (!(x >= next || on_every_point) || !(y >= plot_top && y <= plot_bottom) || x > plot_left + plot_width) continue;
    drawn += marker(curve % styles, x, y);
    while (next <= x) next += spacing;
  }
  return drawn;
}

int legend_columns(const experiments::PanelSpec& spec) {
  std::size_t longest = 0;
  for (const auto& curve : spec.curves) longest = std::max(longest, letters(curve.name));
  return longest <= 11 ? 3 : longest <= 22 ? 2 : 1;
}

double height_of(const experiments::PanelSpec& spec) {
  const auto columns = static_cast<std::size_t>(legend_columns(spec));
  const auto rows = (spec.curves.size() + columns - 1) / columns;
  return plot_bottom + below_plot + legend_row * static_cast<double>(rows) + 6;
}

std::string legend(const experiments::PanelSpec& spec) {
  const int columns = legend_columns(spec);
  const double column_width = (panel_width - 20) / columns;
  std::string drawn;
  for (std::size_t c = 0; c < spec.curves.size(); ++c) {
    const double x = 20 + column_width * static_cast<double>(c % static_cast<std::size_t>(columns));
    const double y =
        plot_bottom + below_plot + 8 + legend_row * static_cast<double>(c / static_cast<std::size_t>(columns));
    const std::size_t style = c % styles;
    drawn += fmt::format("<path class=\"hs-l c{}\" stroke-dasharray=\"{}\" d=\"M{:.1f} {:.1f}h36\"/>", style,
                         dashes[style], x, y);
    drawn += marker(style, x + 18, y);
    drawn += fitted_text("hs-t", fmt::format("x=\"{:.1f}\" y=\"{:.1f}\"", x + 44, y + 4.5), spec.curves[c].name,
                         text_size, std::min(column_width, panel_width - page_margin - x) - 44);
  }
  return drawn;
}

std::string content(const Drawing& drawing, const std::string& id) {
  const auto& [spec, bands] = drawing;
  const Scale across = scale_of(spec.x, bands, true), up = scale_of(spec.y, bands, false);
  std::string drawn = title_svg(spec.title) + axes_svg(across.ticks(), up.ticks(), spec.x.label, spec.y.label);
  drawn += clipped_group(id);
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

Chart chart_of(const Drawing& drawing, const std::string& id) {
  return {.id = id, .title = drawing.spec.title, .height = height_of(drawing.spec), .content = content(drawing, id)};
}

Chart curves_chart(const std::string& id, experiments::PanelSpec spec, const std::vector<NamedCurve>& curves) {
  Drawing drawing{.spec = spec, .bands = {}};
  for (const NamedCurve& curve : curves) {
    spec.curves.push_back({.name = curve.name, .run = {}});
    Band& band = drawing.bands.emplace_back();
    const std::size_t step = curve.x.size() / points_drawn + 1;
    for (std::size_t i = 0; i < curve.x.size(); ++i)
      if (i % step == 0 || i + 1 == curve.x.size()) {  // the last one always
        band.x.push_back(curve.x[i]);
        band.median.push_back(curve.y[i]);
        if (curve.low.size() == curve.x.size()) band.low.push_back(curve.low[i]);
        if (curve.high.size() == curve.x.size()) band.high.push_back(curve.high[i]);
      }
  }
  return chart_of(drawing, id);
}

std::string panel_svg(const Drawing& drawing, const std::string& id) { return chart_svg(chart_of(drawing, id)); }

std::string figure_svg(const std::vector<Drawing>& panels, const std::string& title) {
  std::vector<Chart> charts;
  for (const Drawing& panel : panels) charts.push_back(chart_of(panel, fmt::format("panel-{}", charts.size() + 1)));
  return charts_svg(charts, title);
}

}  // namespace hearsay::app

#include "drawings/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace hearsay::app {

namespace {

constexpr std::size_t colours = 10;              // g0 to g9 of the style sheet
constexpr std::size_t most_named = 12;           // groups that a legend can hold, and a plot can bear the names of
constexpr std::size_t most_labelled_nodes = 36;  // whose names fit around a circle

// On the page, whatever the text.
std::string text(std::string_view classes, double x, double y, std::string_view anchor, std::string_view content) {
  const double before = x - page_margin, after = panel_width - page_margin - x;
  return fitted_text(classes, fmt::format("x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"", x, y, anchor), content,
                     classes.ends_with("hs-s") ? small_size : text_size,
                     anchor == "start" ? after
                     : anchor == "end" ? before
                                       : 2 * std::min(before, after));
}

// 1, 2, 3, ... or every fifth, every tenth.
std::vector<Tick> counting_ticks(std::size_t count, const Scale& across) {
  std::size_t step = 1;
  for (const std::size_t larger : {2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000})
    if (count / step > 12) step = larger;
  std::vector<Tick> ticks;
  for (std::size_t i = step; i <= count; i += step)
    ticks.push_back({across(static_cast<double>(i)), fmt::to_string(i)});
  return ticks;
}

experiments::Axis axis_around(const Extent& extent) {
  constexpr double end = std::numeric_limits<double>::max();
  const double margin = 0.08 * (extent.most / 2 - extent.least / 2);  // the halves cannot overflow
  return {.label = {}, .low = std::max(-end, extent.least - margin), .high = std::min(end, extent.most + margin)};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::size_t legend_columns(const std::vector<std::string>& names) {
  std::size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, letters(name));
  return longest <= 4 ? 6 : longest <= 10 ? 4 : longest <= 22 ? 2 : 1;
}

std::string point_legend(const std::vector<std::string>& names) {
  const std::size_t columns = legend_columns(names);
  const double column = (panel_width - 30) / static_cast<double>(columns);
  std::string drawn;
  for (std::size_t g = 0; g < names.size(); ++g) {
    const double x = 26 + column * static_cast<double>(g % columns);
    const double y = plot_bottom + below_plot + 8 + legend_row * static_cast<double>(g / columns);
    drawn +=
        fmt::format("<path class=\"hs-p g{}\" style=\"stroke-width:9\" d=\"M{:.1f} {:.1f}h0\"/>", g % colours, x, y);
    drawn += text("hs-t", x + 12, y + 4.5, "start", shortened(names[g], 44));
  }
  return drawn;
}

// Short names, each at the middle of its points, or a little above or below where another one stands.
std::string names_at_middles(const std::vector<std::string>& names, const std::vector<std::vector<double>>& xs,
                             const std::vector<std::vector<double>>& ys) {
  constexpr double line = 16, wide = 26;
  if (std::any_of(names.begin(), names.end(), [](const std::string& name) { return letters(name) > 3; })) return "";
  std::vector<std::pair<double, double>> taken;
  std::string drawn;
  for (std::size_t g = 0; g < names.size(); ++g) {
    if (xs[g].empty()) continue;
    const double x = median(xs[g]), y = median(ys[g]) + 5;
    for (const double offset : {0.0, -line, line, -2 * line, 2 * line}) {
      const bool free = std::none_of(taken.begin(), taken.end(), [&](const auto& other) {
        return std::abs(other.first - x) < wide && std::abs(other.second - y - offset) < line;
      });
      if (!free) continue;
      taken.emplace_back(x, y + offset);
      drawn += text("hs-t hs-halo", x, y + offset, "middle", names[g]);
      break;
    }
  }
  return drawn;
}

}  // namespace

Chart scree_chart(const std::string& id, const Scree& scree) {
  const std::size_t count = scree.values.size();
  const bool each = count > 0 && scree.errors.size() == count, marked = each || scree.within;
  const auto within = [&](std::size_t i) { return each ? scree.errors[i] : scree.within.value_or(0); };
  Extent extent;
  for (std::size_t i = 0; i < count; ++i) {
    extent.include(scree.values[i] + within(i));
    extent.include(scree.values[i] - within(i));
  }
  if (scree.above) extent.include(*scree.above);
  if (extent.empty()) extent = {.least = 0, .most = 1};
  // Values that lie close together would be bars of one height: only their tops are drawn then.
  const bool close = extent.least > 0.5 * extent.most;
  experiments::Axis height = axis_around(extent);
  if (!close) height.low = std::min(0.0, extent.least);
  const Scale up(height, extent.least, extent.most, false, plot_bottom, plot_top);
  const Scale across({.label = {}, .low = 0.4, .high = static_cast<double>(count) + 0.6}, 0, 1, true, plot_left,
                     plot_left + plot_width);
  const double half = std::min(15.0, 0.34 * plot_width / static_cast<double>(std::max<std::size_t>(1, count)));

  std::string drawn =
      title_svg(scree.title) + axes_svg(counting_ticks(count, across), up.ticks(), "component", scree.y_label);
  drawn += clipped_group(id);
  std::string bars, marks;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = across(static_cast<double>(i + 1)), value = scree.values[i];
    if (!std::isfinite(value)) continue;
    if (!close)
      bars += fmt::format("M{:.1f} {:.1f}h{:.1f}V{:.1f}h-{:.1f}Z", x - half, up(0), 2 * half, up(value), 2 * half);
    if (!close && !marked) continue;
    const double least = up(value - within(i)), most = up(value + within(i));
    marks += fmt::format("M{:.1f} {:.1f}h{:.1f}M{:.1f} {:.1f}h{:.1f}M{:.1f} {:.1f}V{:.1f}", x - half, most, 2 * half,
                         x - half, least, 2 * half, x, least, most);
  }
  if (!bars.empty()) drawn += fmt::format("<path class=\"hs-bar\" d=\"{}\"/>\n", bars);
  if (!marks.empty()) drawn += fmt::format("<path class=\"hs-l c0\" d=\"{}\"/>\n", marks);
  if (scree.above)
    drawn += fmt::format("<path class=\"hs-l c2\" stroke-dasharray=\"7 3\" d=\"M{:.1f} {:.1f}h{:.1f}\"/>\n", plot_left,
                         up(*scree.above), plot_width);
  drawn += "</g>\n";
  if (scree.above) {
    const double y = plot_bottom + below_plot + 8;
    drawn += fmt::format("<path class=\"hs-l c2\" stroke-dasharray=\"7 3\" d=\"M20 {:.1f}h36\"/>\n", y);
    drawn += text("hs-t", 64, y + 4.5, "start", shortened(scree.above_text, 58));
  }
  return {.id = id,
          .title = scree.title,
          .height = plot_bottom + below_plot + (scree.above ? legend_row : 0) + 6,
          .content = std::move(drawn)};
}

Chart scatter_chart(const std::string& id, const Scatter& scatter) {
  Extent wide, high;
  for (const double x : scatter.x) wide.include(x);
  for (const double y : scatter.y) high.include(y);
  if (wide.empty() || high.empty()) wide = high = {.least = 0, .most = 1};
  const Scale across(axis_around(wide), wide.least, wide.most, true, plot_left, plot_left + plot_width);
  const Scale up(axis_around(high), high.least, high.most, true, plot_bottom, plot_top);

  const bool grouped = !scatter.group.empty();
  std::vector<std::string> points(grouped ? scatter.names.size() : 1);
  std::vector<std::vector<double>> xs(points.size()), ys(points.size());
  const std::size_t step = (scatter.x.size() + most_points - 1) / most_points;
  for (std::size_t i = 0; i < scatter.x.size(); i += std::max<std::size_t>(1, step)) {
    if (!std::isfinite(scatter.x[i]) || !std::isfinite(scatter.y[i])) continue;
    const std::size_t g = grouped ? scatter.group[i] : 0;
    xs[g].push_back(across(scatter.x[i]));
    ys[g].push_back(up(scatter.y[i]));
    points[g] += fmt::format("M{:.1f} {:.1f}h0", xs[g].back(), ys[g].back());
  }

  std::string drawn = title_svg(scatter.title) + axes_svg(across.ticks(), up.ticks(), scatter.x_label, scatter.y_label);
  drawn += clipped_group(id);
  for (std::size_t g = 0; g < points.size(); ++g)
    if (!points[g].empty()) drawn += fmt::format("<path class=\"hs-p g{}\" d=\"{}\"/>\n", g % colours, points[g]);
  const bool named = grouped && scatter.names.size() <= most_named;
  if (named) drawn += names_at_middles(scatter.names, xs, ys);
  drawn += "</g>\n";
  const std::size_t columns = named ? legend_columns(scatter.names) : 1;
  const std::size_t rows = named ? (scatter.names.size() + columns - 1) / columns : 0;
  if (named) drawn += point_legend(scatter.names);
  return {.id = id,
          .title = scatter.title,
          .height = plot_bottom + below_plot + legend_row * static_cast<double>(rows) + 6,
          .content = std::move(drawn)};
}

Chart bars_chart(const std::string& id, const Bars& bars) {
  constexpr double names_end = 150, row = 22, first = 40, numbers = 62;
  Extent extent{.least = 0, .most = 0};
  for (const double value : bars.values) extent.include(value);
  const Scale across({.label = {}, .low = extent.least, .high = extent.most}, extent.least, extent.most, true,
                     names_end + 10, panel_width - numbers);
  std::string drawn = title_svg(bars.title), right, left;
  const double zero = across(0);
  for (std::size_t i = 0; i < bars.values.size(); ++i) {
    const double y = first + row * static_cast<double>(i), value = bars.values[i];
    drawn += text("hs-t hs-s", names_end, y + 12, "end", shortened(bars.names[i], 20));
    drawn += text("hs-t hs-s", panel_width - 8, y + 12, "end", fmt::format("{:.3g}", value));
    if (std::isfinite(value))
      (value < 0 ? left : right) += fmt::format("M{:.1f} {:.1f}H{:.1f}v14H{:.1f}Z", zero, y, across(value), zero);
  }
  const double height = first + row * static_cast<double>(bars.values.size()) + 8;
  if (!right.empty()) drawn += fmt::format("<path class=\"hs-pos\" fill-opacity=\".75\" d=\"{}\"/>\n", right);
  if (!left.empty()) drawn += fmt::format("<path class=\"hs-neg\" fill-opacity=\".75\" d=\"{}\"/>\n", left);
  drawn += fmt::format("<path class=\"hs-frame\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", zero, first - 4, height - 8);
  return {.id = id, .title = bars.title, .height = height, .content = std::move(drawn)};
}

Chart pictures_chart(const std::string& id, const Pictures& pictures) {
  constexpr Index in_row = 4;
  constexpr double size = 100, gap = (panel_width - in_row * size) / (in_row + 1), first = 36, caption = 26;
  constexpr int shades = 16;
  const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(pictures.columns.rows()))));
  const double pixel = size / static_cast<double>(side);
  std::string drawn = title_svg(pictures.title);
  for (Index c = 0; c < pictures.columns.cols(); ++c) {
    const double x0 = gap + static_cast<double>(c % in_row) * (size + gap);
    const double y0 = first + static_cast<double>(c / in_row) * (size + caption);
    const double largest = pictures.columns.col(c).cwiseAbs().maxCoeff();
    std::array<std::string, 2 * shades + 1> paths;  // a path for each shade: from below zero to above
    for (Index i = 0; i < pictures.columns.rows(); ++i) {
      const double share = largest > 0 ? pictures.columns(i, c) / largest : 0;
      if (!std::isfinite(share)) continue;
      paths[static_cast<std::size_t>(shades + std::lround(share * shades))] +=
          fmt::format("M{0:.2f} {1:.2f}h{2:.2f}v{2:.2f}h-{2:.2f}Z", x0 + pixel * static_cast<double>(i % side),
                      y0 + pixel * static_cast<double>(i / side), pixel);
    }
    for (int shade = -shades; shade <= shades; ++shade)
      if (const std::string& path = paths[static_cast<std::size_t>(shades + shade)]; shade != 0 && !path.empty())
        drawn += fmt::format("<path class=\"{}\" shape-rendering=\"crispEdges\" fill-opacity=\"{:.3g}\" d=\"{}\"/>\n",
                             shade > 0 ? "hs-pos" : "hs-neg", std::abs(shade) / static_cast<double>(shades), path);
    drawn += fmt::format("<path class=\"hs-grid\" d=\"M{:.1f} {:.1f}h{}v{}h-{}Z\"/>\n", x0, y0, size, size, size);
    drawn += text("hs-t hs-s", x0 + size / 2, y0 + size + 16, "middle",
                  shortened(pictures.names[static_cast<std::size_t>(c)], 18));
  }
  const Index rows = (pictures.columns.cols() + in_row - 1) / in_row;
  return {.id = id,
          .title = pictures.title,
          .height = first + static_cast<double>(rows) * (size + caption) + 8,
          .content = std::move(drawn)};
}

Chart network_chart(const std::string& id, const Circle& circle) {
  constexpr double radius = 118, middle_x = panel_width / 2, middle_y = 195, height = 372;
  const auto nodes = static_cast<std::size_t>(circle.graph.nodes);
  const auto place = [&](std::size_t node, double distance) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(node) / static_cast<double>(std::max<std::size_t>(1, nodes));
    return std::pair(middle_x + distance * std::sin(angle), middle_y - distance * std::cos(angle));
  };
  std::string edges, drawn = title_svg(circle.title);
  for (const auto& [i, j] : circle.graph.edges) {
    const auto [x, y] = place(static_cast<std::size_t>(i), radius);
    const auto [to_x, to_y] = place(static_cast<std::size_t>(j), radius);
    edges += fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", x, y, to_x, to_y);
  }
  if (!edges.empty()) drawn += fmt::format("<path class=\"hs-edge\" d=\"{}\"/>\n", edges);
  const bool labelled = nodes <= most_labelled_nodes;
  for (std::size_t node = 0; node < nodes; ++node) {
    const auto [x, y] = place(node, radius);
    drawn += fmt::format("<circle class=\"hs-node\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>\n", x, y, labelled ? 6 : 3);
    if (!labelled) continue;
    const auto [label_x, label_y] = place(node, radius + 14);
    const double side = (label_x - middle_x) / radius;
    drawn += text("hs-t hs-s", label_x, label_y + 4,
                  side > 0.2    ? "start"
                  : side < -0.2 ? "end"
                                : "middle",
                  node < circle.names.size() ? shortened(circle.names[node], 16) : fmt::to_string(node));
  }
  return {.id = id, .title = circle.title, .height = height, .content = std::move(drawn)};
}

}  // namespace hearsay::app

// Figures as SVG: curves with their bands on linear or logarithmic axes, told apart by colour, dash and marker, so that
// they can be read in grey; light or dark as the reader's screen is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "drawings/canvas.hpp"
#include "experiments/experiment.hpp"

namespace hearsay::app {

/// How many points of a curve are drawn, and written to the CSV.
inline constexpr std::size_t points_drawn = 500;

/// A panel with its curves, ready to be drawn.
struct Drawing {
  const experiments::PanelSpec& spec;
  std::vector<experiments::Band> bands;  ///< one per curve of it
};
std::vector<Drawing> drawings(const experiments::Experiment& experiment, const experiments::Outcome& outcome);

Chart chart_of(const Drawing& drawing, const std::string& id);

/// Curves; NaN is not drawn. `spec` gives title and axes.
struct NamedCurve {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> low = {}, high = {};  ///< a band around it, or nothing
};
Chart curves_chart(const std::string& id, experiments::PanelSpec spec, const std::vector<NamedCurve>& curves);

/// An <svg> element for a page that has the style sheet. `id` is unique on the page.
std::string panel_svg(const Drawing& drawing, const std::string& id);

/// A file of its own: all panels side by side, two in a row.
std::string figure_svg(const std::vector<Drawing>& panels, const std::string& title);

}  // namespace hearsay::app

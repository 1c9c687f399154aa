// The ground that drawings share: a panel's measures, scales with their ticks, axes, legends, the style sheet.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/experiment.hpp"

namespace hearsay::app {

/// A panel, in the units of its drawing.
inline constexpr double panel_width = 480, plot_left = 66, plot_right = 24, plot_top = 34, plot_height = 270;
inline constexpr double below_plot = 52, legend_row = 21, page_margin = 3;
inline constexpr double text_size = 14, title_size = 15, small_size = 12;  // as in the style sheet
inline constexpr double y_label_end = 18;                                  // the label runs upwards at the left edge
inline constexpr double plot_width = panel_width - plot_left - plot_right, plot_bottom = plot_top + plot_height;

/// A drawing of the width of a panel, ready to be put on a page or into a file.
struct Chart {
  std::string id;     ///< unique on the page
  std::string title;  ///< as text
  double height = 0;
  std::string content = {};  ///< SVG
};

struct Tick {
  double at;
  std::string text;         ///< SVG
  std::string raised = {};  ///< an exponent
};

/// From numbers to places along one axis.
class Scale {
 public:
  /// Where the axis does not say, whole decades, and a linear one begins at zero; `tight` ends with the data instead.
  Scale(const experiments::Axis& axis, double least, double most, bool tight, double from, double to);

  double operator()(double value) const;
  std::vector<Tick> ticks() const { return logarithmic_ ? decades() : round_numbers(); }

 private:
  double place(double value) const;
  double at(double placed) const { return from_ + (to_ - from_) * ((placed / 2 - low_ / 2) / (high_ / 2 - low_ / 2)); }
  std::vector<Tick> decades() const;
  std::vector<Tick> round_numbers() const;

  bool logarithmic_;
  double low_, high_, from_, to_;
};

/// The least and the largest of what can be drawn.
struct Extent {
  double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();

  void include(double value, bool logarithmic = false);
  bool empty() const { return !(least <= most); }
};

/// A text that takes no more room than there is: smaller where it must be, and shortened where that is not enough.
/// `place`: its attributes of position.
std::string fitted_text(std::string_view classes, std::string_view place, std::string_view text, double usual_size,
                        double room);

/// Title, grid, frame, ticks and labels of a plot.
std::string title_svg(std::string_view title);
std::string axes_svg(const std::vector<Tick>& across, const std::vector<Tick>& up, std::string_view x_label,
                     std::string_view y_label);

/// What a plot may not leave: the clip path, and the group that goes by it up to "</g>".
std::string clipped_group(const std::string& id);

/// Characters, not bytes.
std::size_t letters(std::string_view text);

/// At most so many letters, with an ellipsis in place of the rest.
std::string shortened(std::string_view text, std::size_t most);

/// The style sheet that the classes in a panel refer to: once per page, or per file.
std::string_view figure_style();

/// An <svg> element for a page that has the style sheet.
std::string chart_svg(const Chart& chart);

/// A file of its own: all charts, two in a row, below the title where there is one.
std::string charts_svg(const std::vector<Chart>& charts, const std::string& title);

}  // namespace hearsay::app

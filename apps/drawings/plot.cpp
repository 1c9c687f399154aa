#include "drawings/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hearsay::app {

std::string plot(const std::vector<Curve>& curves, const std::string& title, int width, int height) {
  std::size_t longest = 2;
  double top = -300, bottom = 300;  // decades
  for (const Curve& curve : curves) {
    longest = std::max(longest, curve.values.size());
    for (const double value : curve.values) {
      top = std::max(top, std::ceil(std::log10(value)));
      bottom = std::min(bottom, std::floor(std::log10(value)));
    }
  }
  const int columns = width - 8;
  std::vector<std::string> rows(static_cast<std::size_t>(height), std::string(static_cast<std::size_t>(columns), ' '));
  for (const Curve& curve : curves)
    for (std::size_t t = 0; t < curve.values.size(); ++t) {
      const auto column = t * static_cast<std::size_t>(columns - 1) / (longest - 1);
      const double depth = (top - std::log10(curve.values[t])) / std::max(1.0, top - bottom);
      rows[static_cast<std::size_t>(std::lround(depth * (height - 1)))][column] = curve.mark;
    }

  std::string text = fmt::format("{}\n", title);
  for (int row = 0; row < height; ++row) {
    const double decade = top - (top - bottom) * row / (height - 1);
    const bool labelled = std::abs(decade - std::round(decade)) < 1e-9;
    text += fmt::format("{:>6} |{}\n", labelled ? fmt::format("1e{:d}", std::lround(decade)) : "",
                        rows[static_cast<std::size_t>(row)]);
  }
  text += fmt::format("       +{}\n        0{:>{}}\n", std::string(static_cast<std::size_t>(columns), '-'),
                      fmt::format("{} iterations", longest - 1), columns - 1);
  for (const Curve& curve : curves) text += fmt::format("        {}  {}\n", curve.mark, curve.name);
  return text;
}

}  // namespace hearsay::app

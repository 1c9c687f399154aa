#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace hearsay::experiments {

struct Line {
  double slope = std::numeric_limits<double>::quiet_NaN(), r_squared = std::numeric_limits<double>::quiet_NaN();
};

/// By least squares; NaN of fewer than two points.
inline Line fit(std::span<const double> x, std::span<const double> y) {
  if (x.size() < 2) return {};
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mean_x += x[i] / n, mean_y += y[i] / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return {.slope = xy / xx, .r_squared = xy * xy / (xx * yy)};
}

}  // namespace hearsay::experiments

// A plot for a terminal: curves on a logarithmic scale, a letter each.
#pragma once

#include <string>
#include <vector>

namespace hearsay::app {

struct Curve {
  char mark;
  std::string name;
  std::vector<double> values;  ///< one per iteration, positive
};

/// Rows of text, at most `width` columns wide.
std::string plot(const std::vector<Curve>& curves, const std::string& title, int width = 76, int height = 15);

}  // namespace hearsay::app

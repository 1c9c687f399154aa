// Pictures of one result: eigenvalues, scores, components, the network of agents. Names come from files, and are
// escaped here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "drawings/canvas.hpp"
#include "hearsay/block.hpp"
#include "hearsay/graph.hpp"

namespace hearsay::app {

struct Scree {
  std::string title, y_label;
  std::vector<double> values;         ///< descending
  std::optional<double> within = {};  ///< each of them is so close to an eigenvalue
  std::vector<double> errors = {};    ///< or each to its own, where there are any
  std::optional<double> above = {};   ///< a level ...
  std::string above_text = {};        ///< ... and what is known of it
};
Chart scree_chart(const std::string& id, const Scree& scree);

/// Points of the plane, coloured by their group where there are groups, whose names stand at their middles.
struct Scatter {
  std::string title, x_label, y_label;
  std::vector<double> x, y;
  std::vector<std::size_t> group = {};  ///< of each point; empty: none
  std::vector<std::string> names = {};  ///< of the groups
};
inline constexpr std::size_t most_points = 6000;  ///< of more, every second, third, ... is drawn
Chart scatter_chart(const std::string& id, const Scatter& scatter);

/// A bar to the left or to the right for every number, with its name.
struct Bars {
  std::string title;
  std::vector<std::string> names;
  std::vector<double> values;
};
Chart bars_chart(const std::string& id, const Bars& bars);

/// Square pictures side by side, a column of `columns` each, read row by row: one colour above zero, one below.
struct Pictures {
  std::string title;
  Block<double> columns;
  std::vector<std::string> names;  ///< under each
};
Chart pictures_chart(const std::string& id, const Pictures& pictures);

/// Nodes on a circle, in their order, and who is joined to whom.
struct Circle {
  std::string title;
  Graph graph;
  std::vector<std::string> names;  ///< of the nodes; numbers where empty
};
Chart network_chart(const std::string& id, const Circle& circle);

}  // namespace hearsay::app

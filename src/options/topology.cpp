#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/error.hpp"
#include "hearsay/network.hpp"
#include "hearsay/options.hpp"

namespace hearsay {
namespace {

struct Sides {
  Index rows, columns;
};

// "RxC", whose product must be the number of agents; without it, the divisors nearest to a square.
Sides sides(std::string_view name, std::string_view text, Index agents) {
  if (text.empty()) {
    auto rows = std::max<Index>(1, static_cast<Index>(std::sqrt(static_cast<double>(agents))));
    while (agents % rows != 0) --rows;
    return {rows, agents / rows};
  }
  const std::size_t cross = text.find('x');
  require(cross != std::string_view::npos, fmt::format("topology = {}:{}: must be {}:RxC", name, text, name));
  const Sides given{parse_integer("topology rows", text.substr(0, cross), 1),
                    parse_integer("topology columns", text.substr(cross + 1), 1)};
  require(given.rows <= agents && given.columns <= agents && given.rows * given.columns == agents,
          fmt::format("topology = {}:{}: must have {} places, one for each agent", name, text, agents));
  return given;
}

}  // namespace

std::optional<Graph> named_topology(std::string_view text, Index agents, std::uint64_t seed) {
  require(agents >= 1, fmt::format("agents = {}: must be at least 1", agents));
  const std::size_t colon = text.find(':');
  const bool given = colon != std::string_view::npos;
  const std::string_view name = text.substr(0, colon), parameter = given ? text.substr(colon + 1) : std::string_view();

  constexpr std::pair<std::string_view, Graph (*)(Index)> plain[] = {
      {"ring", ring_graph}, {"path", path_graph}, {"star", star_graph}, {"complete", complete_graph}};
  for (const auto& [word, make] : plain) {
    if (name != word) continue;
    require(!given, fmt::format("topology = {}: {} takes no parameter", text, name));
    return make(agents);
  }
  if (name == "grid" || name == "torus") {
    const Sides shape = sides(name, parameter, agents);
    return name == "grid" ? grid_graph(shape.rows, shape.columns) : torus_graph(shape.rows, shape.columns);
  }
  if (name == "erdos") {
    require(given, "topology = erdos: must be erdos:P, with a probability P");
    return erdos_renyi_graph(agents, parse_real("topology probability", parameter), seed);
  }
  if (name == "regular") {
    require(given, "topology = regular: must be regular:D, with a degree D");
    return random_regular_graph(agents, parse_integer("topology degree", parameter, 1), seed);
  }
  return std::nullopt;
}

}  // namespace hearsay

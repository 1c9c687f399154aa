// The paper's experiments, as they lie in experiments/ of the sources.
#pragma once

#include <span>
#include <string_view>

namespace hearsay::app {

struct EmbeddedExperiment {
  std::string_view name;
  std::string_view text;  ///< JSON
};

/// In the paper's order.
std::span<const EmbeddedExperiment> embedded_experiments();

}  // namespace hearsay::app

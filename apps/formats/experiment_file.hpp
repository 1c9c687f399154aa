// Experiments as users write them: a JSON file each. docs/reference/experiments.md is the reference.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "experiments/experiment.hpp"

namespace hearsay::app {

/// An experiment and the text it was read from, as it was run.
struct ExperimentFile {
  experiments::Experiment experiment;
  std::string settled;  ///< JSON, `quick` applied
};

/// With `quick`, what the file says under "quick" replaces what it says elsewhere. Throws DataError, naming file, key,
/// value and rule, for a file that describes no experiment.
ExperimentFile read_experiment(const std::filesystem::path& path, bool quick);

/// The same for text at hand; messages begin with `name`.
ExperimentFile parse_experiment(std::string_view text, std::string_view name, bool quick);

}  // namespace hearsay::app

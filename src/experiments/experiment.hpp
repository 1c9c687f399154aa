// Experiments as data: which instance, which methods, which seeds; and their outcome, curves with a band over the
// seeds.
//
// An experiment is a list of panels, a panel a list of curves, a curve one run repeated for every seed. Runs that two
// panels share are made once. Every number depends on the experiment alone, not on threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "experiments/agents.hpp"
#include "experiments/runs.hpp"

namespace hearsay::experiments {

/// What a panel is drawn against.
enum class Abscissa { iterations, rounds, bytes };

struct Axis {
  std::string label;
  bool logarithmic = false;
  std::optional<double> low = {}, high = {};  ///< what the data say, where not given
};

using Run = std::variant<PlantedRun, TheoremRun, AgentsRun>;

struct CurveSpec {
  std::string name;
  Run run;
  double parameter = 0;  ///< what varies from curve to curve, where a claim asks for the dependence on it
};

struct PanelSpec {
  std::string name;  ///< a word, unique in its figure
  std::string title;
  Abscissa against = Abscissa::iterations;
  Axis x, y;
  std::vector<CurveSpec> curves;
};

/// A sentence of the paper as a number and its bounds.
struct Claim {
  std::string name;  ///< a word, unique in its figure
  std::string says;  ///< the sentence
  std::string panel;
  std::string measure;              ///< one of measure_names()
  std::vector<std::string> curves;  ///< by name; empty: all of the panel
  double level = 1e-2;              ///< the error that counts as reached, where the measure asks for one
  std::string fact;                 ///< which one, where the measure asks for one
  std::optional<double> at_least = {}, at_most = {};
};

struct Experiment {
  std::string name;  ///< a word: fig1
  std::string title;
  std::string caption;
  std::vector<std::uint64_t> seeds = {1};
  std::vector<PanelSpec> panels;
  std::vector<Claim> claims;
};

/// A curve as it came out: one trace for every seed.
struct Curve {
  std::string name;
  double parameter = 0;
  std::vector<Trace> traces;
};

struct Panel {
  std::string name;
  std::vector<Curve> curves;
};

struct Verdict {
  Claim claim;
  double value = 0;  ///< NaN where it could not be measured, which passes nothing
  bool holds = false;
};

struct Outcome {
  std::vector<Panel> panels;
  std::vector<Verdict> verdicts;
};

/// Told after each run how many of all are done; false stops the experiment.
using Progress = std::function<bool(std::size_t done, std::size_t all)>;

/// Runs it on so many threads. Throws InvalidArgument for curves and claims that do not fit together; nothing where
/// progress stopped it.
std::optional<Outcome> run(const Experiment& experiment, int workers, const Progress& progress = {});

/// The median and the extremes over the seeds.
struct Band {
  std::vector<double> x, median, low, high;
};

/// At most about `points` of them, evenly in x, the last one always there; on a logarithmic axis evenly in its
/// logarithm, and without x = 0.
Band band(const Curve& curve, Abscissa against, bool logarithmic, std::size_t points);

}  // namespace hearsay::experiments

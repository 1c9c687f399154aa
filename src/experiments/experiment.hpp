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

#include "experiments/agent_runs.hpp"
#include "experiments/exponents.hpp"
#include "experiments/graph_run.hpp"
#include "experiments/noisy_solves.hpp"
#include "experiments/promise.hpp"
#include "experiments/rounds.hpp"
#include "experiments/runs.hpp"
#include "experiments/tolerance.hpp"

namespace hearsay::experiments {

/// What a panel is drawn against.
enum class Abscissa { iterations, rounds, bytes, swept };

struct Axis {
  std::string label;
  bool logarithmic = false;
  std::optional<double> low = {}, high = {};  ///< what the data say, where not given
};

using Run = std::variant<PlantedRun, TheoremRun, AgentsRun, ToleranceRun, ExponentRun, RoundsRun, PromiseRun, GraphRun,
                         BudgetRun, SolveRun, RecordedRun>;

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

/// Facts of the curves of a panel: a row for each curve, a column for each fact.
struct TableSpec {
  struct Column {
    std::string label;
    std::string fact;
  };
  std::string name;  ///< a word, unique in its figure
  std::string title;
  std::string panel;
  std::vector<Column> columns;
};

/// Why a sentence of the paper is not expected to hold as it is worded, and within which bounds it is missed. A claim
/// that departs otherwise, or holds after all, fails.
struct Departure {
  std::string because;
  std::optional<double> at_least = {}, at_most = {};
};

/// A sentence of the paper as a number and its bounds.
struct Claim {
  std::string name;  ///< a word, unique in its figure
  std::string says;  ///< the sentence
  std::string panel;
  std::string measure;              ///< one of measure_names()
  std::vector<std::string> curves;  ///< by name; empty: all of the panel
  double level = 1e-2;              ///< the error that counts as reached, where the measure asks for one
  std::optional<double> at = {};    ///< the place in a sweep, where the measure asks for one
  std::string fact;                 ///< which one, where the measure asks for one
  std::string over_fact = {};       ///< and over which other
  std::optional<double> at_least = {}, at_most = {};
  std::optional<Departure> departure = {};
  /// What a whole run gave when the bounds were set, and what set them where that did not: a theorem or a definition
  /// (its own constant), or rounding (a number at the limit of double, which differs from machine to machine).
  std::optional<double> measured = {};
  std::string bound_by = {};
  std::string of = {};        ///< the data set it speaks of, where another may stand in for it
  std::string untested = {};  ///< why it is not tested here; empty: it is
};

struct Experiment {
  std::string name;  ///< a word: fig1
  std::string title;
  std::string caption;
  std::vector<std::uint64_t> seeds = {1};
  std::vector<PanelSpec> panels;
  std::vector<TableSpec> tables = {};
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
  enum class Kind {
    holds,
    fails,
    departs,  ///< does not hold, as its departure says
    untested  ///< the data it speaks of are not here
  };
  Claim claim;
  double value = 0;  ///< NaN where it could not be measured, which passes nothing
  Kind kind = Kind::fails;
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
  std::vector<std::vector<double>> seeds = {};  ///< the errors themselves, by seed and point
};

/// At most about `points` of them, evenly in x, the last one always there; on a logarithmic axis evenly in its
/// logarithm, and without x = 0.
Band band(const Curve& curve, Abscissa against, bool logarithmic, std::size_t points);

/// A table as it came out. A cell is empty where some run of its curve has no such fact.
struct FactsTable {
  struct Cell {
    double median = 0, low = 0, high = 0;  ///< over the seeds
  };
  struct Row {
    std::string name;
    std::vector<std::optional<Cell>> cells;
  };
  std::vector<Row> rows;
};

/// Throws InvalidArgument for a table of a panel that is not there.
void check_tables(const Experiment& experiment);

FactsTable tabulate(const TableSpec& spec, const Outcome& outcome);

}  // namespace hearsay::experiments

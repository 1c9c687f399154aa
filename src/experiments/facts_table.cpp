#include <fmt/format.h>

#include <algorithm>

#include "experiments/experiment.hpp"
#include "hearsay/error.hpp"

namespace hearsay::experiments {

void check_tables(const Experiment& experiment) {
  for (const TableSpec& table : experiment.tables) {
    require(std::any_of(experiment.panels.begin(), experiment.panels.end(),
                        [&table](const PanelSpec& panel) { return panel.name == table.panel; }),
            fmt::format("table {}: panel = {}: must be one of the experiment's", table.name, table.panel));
    require(!table.columns.empty(), fmt::format("table {}: must have at least one column", table.name));
  }
}

FactsTable tabulate(const TableSpec& spec, const Outcome& outcome) {
  const auto panel = std::find_if(outcome.panels.begin(), outcome.panels.end(),
                                  [&spec](const Panel& one) { return one.name == spec.panel; });
  FactsTable table;
  for (const Curve& curve : panel->curves) {
    auto& row = table.rows.emplace_back(FactsTable::Row{.name = curve.name, .cells = {}});
    for (const TableSpec::Column& column : spec.columns) {
      std::vector<double> values;
      for (const Trace& trace : curve.traces)
        if (const auto fact = trace.facts.find(column.fact); fact != trace.facts.end()) values.push_back(fact->second);
      if (values.size() < curve.traces.size()) {  // some seed has nothing to say
        row.cells.emplace_back();
        continue;
      }
      std::sort(values.begin(), values.end());
      const std::size_t middle = values.size() / 2;
      row.cells.push_back(FactsTable::Cell{
          .median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2,
          .low = values.front(),
          .high = values.back()});
    }
  }
  return table;
}

}  // namespace hearsay::experiments

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "experiments/experiment.hpp"
#include "experiments/measures.hpp"
#include "hearsay/error.hpp"
#include "hearsay/threads.hpp"

namespace hearsay::experiments {
namespace {

// Restores the library's threads, which belong to the whole process.
class ThreadsFor {
 public:
  explicit ThreadsFor(int count) : before_(threads()) { set_threads(count); }
  ThreadsFor(const ThreadsFor&) = delete;
  ThreadsFor& operator=(const ThreadsFor&) = delete;
  ~ThreadsFor() { set_threads(before_); }

 private:
  int before_;
};

// About how long it takes, for what is like it.
Index length(const PlantedRun& run) { return run.iterations; }
Index length(const TheoremRun& run) { return run.iterations; }
Index length(const AgentsRun& run) { return run.iterations; }
Index length(const ToleranceRun& run) { return run.levels; }
Index length(const ExponentRun& run) { return run.levels; }
Index length(const PromiseRun&) { return 1 << 20; }  // hundreds of rounds an iteration
Index length(const RoundsRun& run) { return run.agents.iterations * static_cast<Index>(run.rounds.size()); }
Index length(const GraphRun& run) { return run.iterations; }
Index length(const BudgetRun& run) { return run.products.back() / (run.instance.rank + 1); }
Index length(const SolveRun& run) { return run.iterations; }
Index length(const RecordedRun&) { return 0; }

Index length(const Run& run) {
  return std::visit([](const auto& described) { return length(described); }, run);
}

// One description made for one seed, and where its trace goes.
struct Task {
  const Run* run;
  std::uint64_t seed;
  Trace* trace;
};

// The runs of all panels, each once, and the curves that show them.
struct Schedule {
  std::vector<Run> runs;
  std::vector<std::vector<Trace>> traces;        // by run and seed
  std::vector<std::vector<std::size_t>> curves;  // by panel and curve: the run

  explicit Schedule(const Experiment& experiment) {
    for (const PanelSpec& panel : experiment.panels) {
      auto& shown = curves.emplace_back();
      for (const CurveSpec& curve : panel.curves) {
        const auto known = std::find(runs.begin(), runs.end(), curve.run);
        shown.push_back(static_cast<std::size_t>(known - runs.begin()));
        if (known == runs.end()) runs.push_back(curve.run);
      }
    }
    traces.assign(runs.size(), std::vector<Trace>(experiment.seeds.size()));
  }

  // The longest first, so that none of them is left to the end.
  std::vector<Task> tasks(const std::vector<std::uint64_t>& seeds) {
    std::vector<std::size_t> order(runs.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t a, std::size_t b) { return length(runs[a]) > length(runs[b]); });
    std::vector<Task> tasks;
    for (const std::size_t run : order)
      for (std::size_t s = 0; s < seeds.size(); ++s) tasks.push_back({&runs[run], seeds[s], &traces[run][s]});
    return tasks;
  }
};

// False where progress said to stop.
bool carry_out(const std::vector<Task>& tasks, int workers, const Progress& progress) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stop = false;
  std::mutex mutex;
  std::size_t done = 0;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size() && !stop; i = next++) {
      try {
        *tasks[i].trace =
            std::visit([&](const auto& described) { return trace(described, tasks[i].seed); }, *tasks[i].run);
        const std::lock_guard lock(mutex);
        ++done;
        if (progress && !progress(done, tasks.size())) stop = true;
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        stop = true;
      }
    }
  };
  std::vector<std::thread> pool;
  for (int w = 1; w < workers; ++w) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
  return !stop || done == tasks.size();
}

// Whether its traces can be drawn against that.
bool goes_with(const Run& run, Abscissa against) {
  const auto* theorem = std::get_if<TheoremRun>(&run);
  const bool sweep = std::holds_alternative<ToleranceRun>(run) || std::holds_alternative<RoundsRun>(run) ||
                     std::holds_alternative<ExponentRun>(run) || std::holds_alternative<BudgetRun>(run) ||
                     std::holds_alternative<RecordedRun>(run) ||
                     (theorem != nullptr && theorem->theorem == TheoremRun::Theorem::random_start);
  switch (against) {
    case Abscissa::swept:
      return sweep;
    case Abscissa::rounds:
    case Abscissa::bytes:
      return std::holds_alternative<AgentsRun>(run) || std::holds_alternative<PromiseRun>(run);
    case Abscissa::iterations:
      break;
  }
  return !sweep;
}

void check(const Experiment& experiment) {
  require(!experiment.seeds.empty(), fmt::format("{}: must have at least one seed", experiment.name));
  require(!experiment.panels.empty(), fmt::format("{}: must have at least one panel", experiment.name));
  std::set<std::string> panels;
  for (const PanelSpec& panel : experiment.panels) {
    require(panels.insert(panel.name).second, fmt::format("panel {}: must be there once", panel.name));
    require(!panel.curves.empty(), fmt::format("panel {}: must have at least one curve", panel.name));
    std::set<std::string> curves;
    for (const CurveSpec& curve : panel.curves) {
      require(curves.insert(curve.name).second,
              fmt::format("curve {} of panel {}: must be there once", curve.name, panel.name));
      require(goes_with(curve.run, panel.against),
              fmt::format("curve {} of panel {}: sweeps are drawn against what is swept, rounds and bytes are those of "
                          "agents",
                          curve.name, panel.name));
    }
  }
  std::set<std::string> tables;
  for (const TableSpec& table : experiment.tables)
    require(table.name != experiment.name && tables.insert(table.name).second,
            fmt::format("table {}: must be there once, and not be called as the experiment is", table.name));
  std::set<std::string> claims;
  for (const Claim& claim : experiment.claims)
    require(claims.insert(claim.name).second, fmt::format("claim {}: must be there once", claim.name));
}

double median_of_seeds(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double place(const Trace& trace, Abscissa against, std::size_t t) {
  switch (against) {
    case Abscissa::rounds:
      return trace.rounds.at(t);
    case Abscissa::bytes:
      return trace.bytes.at(t);
    case Abscissa::swept:
      return trace.swept.at(t);
    case Abscissa::iterations:
      break;
  }
  return static_cast<double>(t);
}

// Iterations to show: all of a short curve, else evenly spread ones.
std::vector<std::size_t> samples(std::size_t length, bool logarithmic, std::size_t points) {
  std::vector<std::size_t> chosen;
  const double last = static_cast<double>(length) - 1, steps = static_cast<double>(points) - 1;
  for (std::size_t i = 0; i < points; ++i) {
    const double share = static_cast<double>(i) / steps;
    const auto t = static_cast<std::size_t>(std::lround(logarithmic ? std::pow(last, share) : last * share));
    if (chosen.empty() || t > chosen.back()) chosen.push_back(t);
  }
  return chosen;
}

}  // namespace

std::optional<Outcome> run(const Experiment& experiment, int workers, const Progress& progress) {
  check(experiment);
  check_tables(experiment);
  check_claims(experiment);
  Schedule schedule(experiment);
  const std::vector<Task> tasks = schedule.tasks(experiment.seeds);
  const int hands = std::clamp(workers, 1, static_cast<int>(tasks.size()));
  const ThreadsFor each(std::max(1, workers / hands));
  if (!carry_out(tasks, hands, progress)) return std::nullopt;

  Outcome outcome;
  for (std::size_t p = 0; p < experiment.panels.size(); ++p) {
    const PanelSpec& spec = experiment.panels[p];
    Panel& panel = outcome.panels.emplace_back(Panel{.name = spec.name, .curves = {}});
    for (std::size_t c = 0; c < spec.curves.size(); ++c)
      panel.curves.push_back({.name = spec.curves[c].name,
                              .parameter = spec.curves[c].parameter,
                              .traces = schedule.traces[schedule.curves[p][c]]});
  }
  for (const Claim& claim : experiment.claims) outcome.verdicts.push_back(judge(claim, outcome));
  return outcome;
}

Band band(const Curve& curve, Abscissa against, bool logarithmic, std::size_t points) {
  require(points >= 2, fmt::format("points = {}: must be at least 2", points));
  std::size_t length = curve.traces.front().error.size();
  for (const Trace& trace : curve.traces) length = std::min(length, trace.error.size());
  Band band;
  band.seeds.resize(curve.traces.size());
  for (const std::size_t t : samples(length, logarithmic && against != Abscissa::swept, points)) {
    std::vector<double> values;
    for (const Trace& trace : curve.traces) values.push_back(trace.error[t]);
    for (std::size_t s = 0; s < values.size(); ++s) band.seeds[s].push_back(values[s]);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    band.x.push_back(place(curve.traces.front(), against, t));
    band.low.push_back(*low);
    band.high.push_back(*high);
    band.median.push_back(median_of_seeds(std::move(values)));
  }
  return band;
}

}  // namespace hearsay::experiments

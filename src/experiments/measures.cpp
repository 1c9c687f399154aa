#include "experiments/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/line.hpp"
#include "hearsay/error.hpp"
#include "hearsay/options.hpp"

namespace hearsay::experiments {
namespace {

constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();
constexpr double transient_begins = 0.3;          // below it the start no longer matters
constexpr double transient_ends_above_floor = 5;  // times the floor

double median(std::vector<double> values) {
  if (values.empty() || std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
    return nowhere;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// The first iteration with at most that error.
double reached(const Trace& trace, double level) {
  const auto first =
      std::find_if(trace.error.begin(), trace.error.end(), [level](double error) { return error <= level; });
  return first == trace.error.end() ? nowhere : static_cast<double>(first - trace.error.begin());
}

std::span<const double> last_tenth(const Trace& trace) {
  const std::size_t count = std::max<std::size_t>(1, trace.error.size() / 10);
  return std::span(trace.error).last(count);
}

double floor_of(const Trace& trace) {
  const auto tail = last_tenth(trace);
  return median({tail.begin(), tail.end()});
}

double plateau_spread(const Trace& trace) {
  const auto tail = last_tenth(trace);
  return *std::max_element(tail.begin(), tail.end()) / *std::min_element(tail.begin(), tail.end());
}

// The largest error from each iteration on: falls where the error oscillates on its way down.
Trace envelope(Trace trace) {
  for (std::size_t t = trace.error.size(); t-- > 1;) trace.error[t - 1] = std::max(trace.error[t - 1], trace.error[t]);
  return trace;
}

// log(error) from where the start is forgotten to where the floor begins to show.
std::vector<double> transient(const Trace& trace) {
  const Trace above = envelope(trace);
  const double first = reached(above, transient_begins);
  const double last = reached(above, transient_ends_above_floor * floor_of(trace));
  std::vector<double> logs;
  if (!(first < last)) return logs;
  for (auto t = static_cast<std::size_t>(first); t <= static_cast<std::size_t>(last); ++t)
    logs.push_back(std::log(trace.error[t]));
  return logs;
}

Line line_of(const std::vector<double>& logs) {
  std::vector<double> t(logs.size());
  for (std::size_t i = 0; i < t.size(); ++i) t[i] = static_cast<double>(i);
  return fit(t, logs);
}

Line transient_line(const Trace& trace) { return line_of(transient(envelope(trace))); }

double rises(const Trace& trace) {
  const std::vector<double> logs = transient(trace);
  double count = logs.empty() ? nowhere : 0;
  for (std::size_t i = 1; i < logs.size(); ++i) count += logs[i] > logs[i - 1] ? 1 : 0;
  return count;
}

double fact(const Trace& trace, const std::string& name) {
  const auto found = trace.facts.find(name);
  return found == trace.facts.end() ? nowhere : found->second;
}

using Curves = std::vector<const Curve*>;

// A number of every seed, its median for every curve.
template <class Measure>
std::vector<double> of_each(const Curves& curves, Measure measure) {
  std::vector<double> values;
  for (const Curve* curve : curves) {
    std::vector<double> seeds;
    for (const Trace& trace : curve->traces) seeds.push_back(measure(trace));
    values.push_back(median(std::move(seeds)));
  }
  return values;
}

// The same without the median.
template <class Measure>
std::vector<double> of_all(const Curves& curves, Measure measure) {
  std::vector<double> values;
  for (const Curve* curve : curves)
    for (const Trace& trace : curve->traces) values.push_back(measure(trace));
  return values;
}

double least(const std::vector<double>& values) {
  double least = std::numeric_limits<double>::infinity();
  for (const double value : values) least = std::isnan(value) || value < least ? value : least;
  return values.empty() ? nowhere : least;
}

double most(const std::vector<double>& values) {
  std::vector<double> negated;
  for (const double value : values) negated.push_back(-value);
  return -least(negated);
}

double iterations_ratio(const Curves& curves, const Claim& claim) {
  std::vector<double> ratios;
  for (std::size_t s = 0; s < curves[0]->traces.size(); ++s)
    ratios.push_back(reached(curves[0]->traces[s], claim.level) / reached(curves[1]->traces[s], claim.level));
  return median(std::move(ratios));
}

// The same in rounds of gossip.
double rounds_ratio(const Curves& curves, const Claim& claim) {
  const auto rounds_to = [&claim](const Trace& trace) {
    const double t = reached(trace, claim.level);
    return std::isnan(t) || trace.rounds.empty() ? nowhere : trace.rounds[static_cast<std::size_t>(t)];
  };
  const auto rounds = of_each(curves, rounds_to);
  return rounds[0] / rounds[1];
}

// The same in columns multiplied by A.
double products_ratio(const Curves& curves, const Claim& claim) {
  const auto products_to = [&claim](const Trace& trace) {
    const double t = reached(trace, claim.level);
    return std::isnan(t) || trace.products.empty() ? nowhere : trace.products[static_cast<std::size_t>(t)];
  };
  const auto products = of_each(curves, products_to);
  return products[0] / products[1];
}

// The error of a sweep where it is at `at`.
double error_at(const Trace& trace, double at) {
  const auto place = std::find(trace.swept.begin(), trace.swept.end(), at);
  return place == trace.swept.end() ? nowhere : trace.error[static_cast<std::size_t>(place - trace.swept.begin())];
}

double error_ratio(const Curves& curves, const Claim& claim) {
  const auto errors = of_each(curves, [&claim](const Trace& trace) { return error_at(trace, claim.at.value_or(0)); });
  return errors[0] / errors[1];
}

double iterations_spread(const Curves& curves, const Claim& claim) {
  const auto iterations = of_each(curves, [&claim](const Trace& trace) { return reached(trace, claim.level); });
  return most(iterations) / least(iterations);
}

// Of the logarithm of what is measured, against that of the parameter.
template <class Measure>
double slope_of(const Curves& curves, Measure measure) {
  std::vector<double> x, y;
  for (const double value : of_each(curves, measure)) y.push_back(std::log(value));
  for (const Curve* curve : curves) x.push_back(std::log(curve->parameter));
  return fit(x, y).slope;
}

// What `over_fact` says of the ratio of the first curve to the second: one where nothing is said.
double expected_ratio(const Curves& curves, const Claim& claim) {
  if (claim.over_fact.empty()) return 1;
  const auto facts = of_each(curves, [&claim](const Trace& trace) { return fact(trace, claim.over_fact); });
  return facts[0] / facts[1];
}

double floor_over_fact(const Curves& curves, const Claim& claim) {
  double furthest = 1;
  for (const double ratio :
       of_each(curves, [&claim](const Trace& trace) { return floor_of(trace) / fact(trace, claim.fact); }))
    if (!(std::abs(std::log(ratio)) <= std::abs(std::log(furthest)))) furthest = ratio;
  return furthest;
}

double rate_spread(const Curves& curves) {
  const auto slopes = of_each(curves, [](const Trace& trace) { return -transient_line(trace).slope; });
  return most(slopes) / least(slopes);
}

double largest(const Trace& trace) { return *std::max_element(trace.error.begin(), trace.error.end()); }

double least_late(const Trace& trace) {
  return *std::min_element(trace.error.begin() + static_cast<std::ptrdiff_t>(trace.error.size() / 2),
                           trace.error.end());
}

struct Measure {
  std::string_view name;
  std::size_t curves;  // as many as it needs
  bool of_fact;
  double (*value)(const Curves&, const Claim&);
};

constexpr Measure measures[] = {
    {"iterations_ratio", 2, false, iterations_ratio},
    {"rounds_ratio", 2, false, rounds_ratio},
    {"products_ratio", 2, false, products_ratio},
    {"error_ratio", 2, false, error_ratio},
    {"iterations_spread", 2, false, iterations_spread},
    {"iterations_slope", 2, false,
     [](const Curves& curves, const Claim& claim) {
       return slope_of(curves, [&claim](const Trace& trace) { return reached(trace, claim.level); });
     }},
    {"floor", 1, false, [](const Curves& curves, const Claim&) { return of_each(curves, floor_of).front(); }},
    {"floor_ratio", 2, false,
     [](const Curves& curves, const Claim& claim) {
       const auto floors = of_each(curves, floor_of);
       return floors[0] / floors[1] / expected_ratio(curves, claim);
     }},
    {"floor_spread", 2, false,
     [](const Curves& curves, const Claim&) {
       const auto floors = of_each(curves, floor_of);
       return most(floors) / least(floors);
     }},
    {"floor_slope", 2, false, [](const Curves& curves, const Claim&) { return slope_of(curves, floor_of); }},
    {"floor_over_fact", 1, true, floor_over_fact},
    {"plateau_spread", 1, false,
     [](const Curves& curves, const Claim&) { return most(of_each(curves, plateau_spread)); }},
    {"straightness", 1, false,
     [](const Curves& curves, const Claim&) {
       return least(of_each(curves, [](const Trace& trace) { return transient_line(trace).r_squared; }));
     }},
    {"raw_straightness", 1, false,
     [](const Curves& curves, const Claim&) {
       return least(of_each(curves, [](const Trace& trace) { return line_of(transient(trace)).r_squared; }));
     }},
    {"rate_spread", 2, false, [](const Curves& curves, const Claim&) { return rate_spread(curves); }},
    {"rises", 1, false, [](const Curves& curves, const Claim&) { return least(of_each(curves, rises)); }},
    {"least_late_error", 1, false,
     [](const Curves& curves, const Claim&) { return least(of_all(curves, least_late)); }},
    {"most_error", 1, false, [](const Curves& curves, const Claim&) { return most(of_all(curves, largest)); }},
    {"fact_most", 1, true,
     [](const Curves& curves, const Claim& claim) {
       return most(of_all(curves, [&claim](const Trace& trace) { return fact(trace, claim.fact); }));
     }},
    {"fact_least", 1, true,
     [](const Curves& curves, const Claim& claim) {
       return least(of_all(curves, [&claim](const Trace& trace) { return fact(trace, claim.fact); }));
     }},
    {"fact_ratio", 2, true,
     [](const Curves& curves, const Claim& claim) {
       const auto facts = of_each(curves, [&claim](const Trace& trace) { return fact(trace, claim.fact); });
       return facts[0] / facts[1] / expected_ratio(curves, claim);
     }},
    {"fact_slope", 2, true,
     [](const Curves& curves, const Claim& claim) {
       return slope_of(curves, [&claim](const Trace& trace) { return fact(trace, claim.fact); });
     }},
    {"fact_over_fact", 1, true,
     [](const Curves& curves, const Claim& claim) {
       return most(of_all(
           curves, [&claim](const Trace& trace) { return fact(trace, claim.fact) / fact(trace, claim.over_fact); }));
     }},
};

bool within(double value, std::optional<double> at_least, std::optional<double> at_most) {
  return std::isfinite(value) && (!at_least || value >= *at_least) && (!at_most || value <= *at_most);
}

const Measure* find_measure(std::string_view name) {
  const auto found =
      std::find_if(std::begin(measures), std::end(measures), [name](const Measure& m) { return m.name == name; });
  return found == std::end(measures) ? nullptr : found;
}

template <class Named>
const Named* find_named(const std::vector<Named>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&name](const Named& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::span<const std::string_view> measure_names() {
  static const auto names = [] {
    std::vector<std::string_view> all;
    for (const Measure& measure : measures) all.push_back(measure.name);
    return all;
  }();
  return names;
}

void check_claims(const Experiment& experiment) {
  for (const Claim& claim : experiment.claims) {
    const std::string where = "claim " + claim.name;
    const Measure* measure = find_measure(claim.measure);
    require(measure != nullptr,
            fmt::format("{}: measure = {}: must be one of {}{}", where, claim.measure, fmt::join(measure_names(), ", "),
                        did_you_mean(claim.measure, measure_names())));
    const PanelSpec* panel = find_named(experiment.panels, claim.panel);
    require(panel != nullptr, fmt::format("{}: panel = {}: must be one of the experiment's", where, claim.panel));
    for (const std::string& curve : claim.curves)
      require(find_named(panel->curves, curve) != nullptr,
              fmt::format("{}: curve {}: must be one of panel {}", where, curve, claim.panel));
    const std::size_t curves = claim.curves.empty() ? panel->curves.size() : claim.curves.size();
    require(curves >= measure->curves,
            fmt::format("{}: {} curves: {} needs at least {}", where, curves, claim.measure, measure->curves));
    require(!measure->of_fact || !claim.fact.empty(), fmt::format("{}: {} needs a fact", where, claim.measure));
    require(claim.measure != "fact_over_fact" || !claim.over_fact.empty(),
            fmt::format("{}: {} needs a fact and over_fact", where, claim.measure));
    require(claim.measure != "error_ratio" || claim.at, fmt::format("{}: {} needs at", where, claim.measure));
    require(claim.at_least || claim.at_most, fmt::format("{}: must have at_least, at_most or both", where));
    require(!claim.departure || claim.departure->at_least || claim.departure->at_most,
            fmt::format("{}: departure: must have at_least, at_most or both", where));
  }
}

Verdict judge(const Claim& claim, const Outcome& outcome) {
  const Panel& panel = *find_named(outcome.panels, claim.panel);
  Curves curves;
  for (const std::string& name : claim.curves) curves.push_back(find_named(panel.curves, name));
  if (claim.curves.empty())
    for (const Curve& curve : panel.curves) curves.push_back(&curve);
  const double value = find_measure(claim.measure)->value(curves, claim);
  const bool holds = within(value, claim.at_least, claim.at_most);
  const bool departs = !holds && claim.departure && within(value, claim.departure->at_least, claim.departure->at_most);
  const Verdict::Kind kind = !claim.untested.empty()     ? Verdict::Kind::untested
                             : departs                   ? Verdict::Kind::departs
                             : holds && !claim.departure ? Verdict::Kind::holds
                                                         : Verdict::Kind::fails;
  return {.claim = claim, .value = value, .kind = kind};
}

}  // namespace hearsay::experiments

#include "experiments/measures.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>

#include <cmath>

namespace hearsay::experiments {
namespace {

// Decays by `factor` from one to the floor, and stays there.
Trace decay(double factor, double floor, std::size_t length = 200) {
  Trace trace;
  for (std::size_t t = 0; t < length; ++t)
    trace.error.push_back(std::max(floor, std::pow(factor, static_cast<double>(t))));
  return trace;
}

Curve curve(std::string name, Trace trace, double parameter = 0) {
  return {.name = std::move(name), .parameter = parameter, .traces = {std::move(trace)}};
}

double measured(const std::string& measure, std::vector<Curve> curves, double level = 1e-2, std::string fact = {}) {
  const Outcome outcome{.panels = {{.name = "panel", .curves = std::move(curves)}}, .verdicts = {}};
  return judge({.name = "claim",
                .says = {},
                .panel = "panel",
                .measure = measure,
                .curves = {},
                .level = level,
                .fact = std::move(fact),
                .at_least = 0},
               outcome)
      .value;
}

TEST(Measures, CompareTheIterationsToALevel) {
  const auto slow = curve("slow", decay(0.9, 1e-4)), fast = curve("fast", decay(0.5, 1e-4));

  EXPECT_DOUBLE_EQ(measured("iterations_ratio", {slow, fast}), 44.0 / 7.0);
  EXPECT_DOUBLE_EQ(measured("iterations_spread", {fast, slow}), 44.0 / 7.0);
  EXPECT_TRUE(std::isnan(measured("iterations_ratio", {slow, fast}, 1e-6))) << "a level that is never reached";
}

TEST(Measures, CompareTheRoundsToALevel) {
  Curve few = curve("few", decay(0.9, 1e-4)), many = curve("many", decay(0.9, 1e-4));
  for (std::size_t t = 0; t < 200; ++t) {
    few.traces[0].rounds.push_back(2.0 * static_cast<double>(t));
    many.traces[0].rounds.push_back(6.0 * static_cast<double>(t));
  }

  EXPECT_DOUBLE_EQ(measured("rounds_ratio", {many, few}), 3);
  EXPECT_TRUE(std::isnan(measured("rounds_ratio", {curve("silent", decay(0.9, 1e-4)), few})));
}

TEST(Measures, CompareTheProductsToALevel) {
  Curve wide = curve("wide", decay(0.9, 1e-4)), narrow = curve("narrow", decay(0.9, 1e-4));
  for (std::size_t t = 0; t < 200; ++t) {
    wide.traces[0].products.push_back(20.0 * static_cast<double>(t + 1));
    narrow.traces[0].products.push_back(5.0 * static_cast<double>(t + 1));
  }

  EXPECT_DOUBLE_EQ(measured("products_ratio", {wide, narrow}), 4);
  EXPECT_TRUE(std::isnan(measured("products_ratio", {curve("uncounted", decay(0.9, 1e-4)), narrow})));
}

TEST(Measures, CompareTheErrorsOfASweepAtAPlace) {
  const auto sweep = [](double first, double second) {
    return curve("sweep", {.error = {first, second}, .swept = {10, 20}});
  };
  const Outcome outcome{.panels = {{.name = "panel", .curves = {sweep(6, 2), sweep(3, 4)}}}, .verdicts = {}};
  Claim claim{.name = "c", .says = {}, .panel = "panel", .measure = "error_ratio", .curves = {}, .at = 20, .fact = {}};

  EXPECT_DOUBLE_EQ(judge(claim, outcome).value, 0.5);
  claim.at = 10;
  EXPECT_DOUBLE_EQ(judge(claim, outcome).value, 2);
  claim.at = 15;
  EXPECT_TRUE(std::isnan(judge(claim, outcome).value));
}

TEST(Measures, TakeTheMedianOverTheSeeds) {
  Curve slow = curve("slow", decay(0.9, 1e-4));
  slow.traces = {decay(0.9, 1e-4), decay(0.99, 1e-1), decay(0.9, 1e-4)};

  EXPECT_DOUBLE_EQ(measured("floor", {slow}), 1e-4);
}

TEST(Measures, CompareFloors) {
  const auto low = curve("low", decay(0.5, 1e-4)), high = curve("high", decay(0.5, 3e-4));

  EXPECT_DOUBLE_EQ(measured("floor_ratio", {low, high}), 1.0 / 3);
  EXPECT_DOUBLE_EQ(measured("floor_spread", {low, high}), 3);
  EXPECT_DOUBLE_EQ(measured("plateau_spread", {low, high}), 1);
}

TEST(Measures, FitTheFloorAgainstTheParameter) {
  std::vector<Curve> curves;
  for (const double parameter : {1e-4, 1e-3, 1e-2})
    curves.push_back(curve(std::to_string(parameter), decay(0.5, 5 * std::sqrt(parameter) * 1e-3), parameter));

  EXPECT_NEAR(measured("floor_slope", curves), 0.5, 1e-12);
}

TEST(Measures, FitIterationsAndFactsAgainstTheParameter) {
  std::vector<Curve> curves;
  for (const double gap : {1e-4, 1e-3, 1e-2}) {  // a factor exp(-sqrt(gap)) a step
    curves.push_back(curve(std::to_string(gap), decay(std::exp(-std::sqrt(gap)), 1e-4, 2000), gap));
    curves.back().traces[0].facts["T"] = 3 / gap;
  }

  EXPECT_NEAR(measured("iterations_slope", curves), -0.5, 0.01);
  EXPECT_NEAR(measured("fact_slope", curves, 0, "T"), -1, 1e-12);
  EXPECT_TRUE(std::isnan(measured("iterations_slope", curves, 1e-6))) << "a level that is never reached";
  EXPECT_TRUE(std::isnan(measured("fact_slope", curves, 0, "unheard of")));
}

TEST(Measures, CompareARatioWithTheOneThatFactsForesee) {
  Curve low = curve("low", decay(0.5, 1e-4)), high = curve("high", decay(0.5, 3e-4));
  low.traces[0].facts = {{"foreseen", 2}, {"L", 10}};
  high.traces[0].facts = {{"foreseen", 5}, {"L", 20}};
  const Outcome outcome{.panels = {{.name = "panel", .curves = {high, low}}}, .verdicts = {}};
  Claim claim{.name = "claim", .says = {}, .panel = "panel", .measure = "floor_ratio", .curves = {}, .fact = {}};
  claim.over_fact = "foreseen";

  EXPECT_DOUBLE_EQ(judge(claim, outcome).value, 3 / 2.5);
  claim.measure = "fact_ratio";
  claim.fact = "L";
  EXPECT_DOUBLE_EQ(judge(claim, outcome).value, 2 / 2.5);
  claim.over_fact = "unheard of";
  EXPECT_TRUE(std::isnan(judge(claim, outcome).value));
}

TEST(Measures, KnowAStraightTransientFromACrookedOne) {
  Trace crooked = decay(0.9, 1e-5);
  for (std::size_t t = 0; t < 60; ++t) crooked.error[t] = 0.29 - 0.004 * static_cast<double>(t);

  EXPECT_NEAR(measured("straightness", {curve("straight", decay(0.9, 1e-5))}), 1, 1e-9);
  EXPECT_LT(measured("straightness", {curve("crooked", crooked)}), 0.9);
  EXPECT_NEAR(measured("rate_spread", {curve("a", decay(0.9, 1e-5)), curve("b", decay(0.81, 1e-5))}), 2, 0.01);
}

TEST(Measures, CountTheTimesAnErrorRises) {
  Trace wavy = decay(0.9, 1e-5);
  for (std::size_t t = 20; t < 40; t += 4) wavy.error[t] *= 1.5;

  EXPECT_EQ(measured("rises", {curve("smooth", decay(0.9, 1e-5))}), 0);
  EXPECT_EQ(measured("rises", {curve("wavy", wavy)}), 5);
}

TEST(Measures, LookAtEverySeedForExtremes) {
  Curve two = curve("two", decay(0.5, 1e-2));
  two.traces.push_back(decay(0.5, 1e-4));
  two.traces[0].facts["T"] = 3;
  two.traces[1].facts["T"] = 4;

  EXPECT_DOUBLE_EQ(measured("least_late_error", {two}), 1e-4);
  EXPECT_DOUBLE_EQ(measured("most_error", {two}), 1);
  EXPECT_DOUBLE_EQ(measured("fact_most", {two}, 0, "T"), 4);
  EXPECT_DOUBLE_EQ(measured("fact_least", {two}, 0, "T"), 3);
  EXPECT_TRUE(std::isnan(measured("fact_most", {two}, 0, "unheard of")));
}

TEST(Claims, HoldWithinTheirBoundsAndNeverWithoutANumber) {
  const Outcome outcome{.panels = {{.name = "panel", .curves = {curve("c", decay(0.5, 1e-2))}}}, .verdicts = {}};
  Claim claim{.name = "claim", .says = {}, .panel = "panel", .measure = "floor", .curves = {}, .fact = {}};

  claim.at_least = 5e-3;
  EXPECT_EQ(judge(claim, outcome).kind, Verdict::Kind::holds);
  claim.at_most = 9e-3;
  EXPECT_EQ(judge(claim, outcome).kind, Verdict::Kind::fails);
  claim = {
      .name = "claim", .says = {}, .panel = "panel", .measure = "fact_most", .curves = {}, .fact = "T", .at_least = 0};
  EXPECT_EQ(judge(claim, outcome).kind, Verdict::Kind::fails);
}

TEST(Claims, DepartOnlyAsTheirDepartureSays) {
  const Outcome outcome{.panels = {{.name = "panel", .curves = {curve("c", decay(0.5, 1e-2))}}}, .verdicts = {}};
  Claim claim{
      .name = "claim", .says = {}, .panel = "panel", .measure = "floor", .curves = {}, .fact = {}, .at_most = 5e-3};
  const auto verdict = [&] { return judge(claim, outcome).kind; };

  EXPECT_EQ(verdict(), Verdict::Kind::fails);
  claim.departure = {.because = "known", .at_least = 9e-3, .at_most = 2e-2};
  EXPECT_EQ(verdict(), Verdict::Kind::departs);
  claim.departure->at_least = 1.5e-2;
  EXPECT_EQ(verdict(), Verdict::Kind::fails) << "missed by another amount than documented";
  claim.at_most = 1;
  EXPECT_EQ(verdict(), Verdict::Kind::fails) << "it holds after all, so that the documentation is wrong";
}

TEST(Claims, AreNotTestedOnDataTheyDoNotSpeakOf) {
  const Outcome outcome{.panels = {{.name = "panel", .curves = {curve("c", decay(0.5, 1e-2))}}}, .verdicts = {}};
  Claim claim{
      .name = "claim", .says = {}, .panel = "panel", .measure = "floor", .curves = {}, .fact = {}, .at_most = 1};
  claim.untested = "generated graph";

  const Verdict verdict = judge(claim, outcome);

  EXPECT_EQ(verdict.kind, Verdict::Kind::untested) << "though it would hold";
  EXPECT_DOUBLE_EQ(verdict.value, 1e-2);
}

TEST(Measures, CompareFacts) {
  Curve few = curve("few", decay(0.5, 1e-2)), many = curve("many", decay(0.5, 1e-2));
  few.traces[0].facts = {{"L", 2}};
  many.traces[0].facts = {{"L", 6}};

  EXPECT_DOUBLE_EQ(measured("fact_ratio", {many, few}, 0, "L"), 3);
  EXPECT_TRUE(std::isnan(measured("fact_ratio", {many, curve("none", decay(0.5, 1e-2))}, 0, "L")));
}

TEST(Measures, KnowARawLineFromItsEnvelope) {
  Trace wavy = decay(0.9, 1e-5);
  for (std::size_t t = 0; t < 100; ++t) wavy.error[t] *= t % 2 == 0 ? 1 : 0.2;

  EXPECT_GT(measured("straightness", {curve("wavy", wavy)}), 0.99);
  EXPECT_LT(measured("raw_straightness", {curve("wavy", wavy)}), 0.97);
  EXPECT_NEAR(measured("raw_straightness", {curve("smooth", decay(0.9, 1e-5))}), 1, 1e-9);
}

TEST(Claims, MustBeAboutWhatIsThere) {
  Experiment experiment{.name = "e", .title = "e", .caption = {}, .panels = {}, .claims = {}};
  experiment.panels.push_back({.name = "panel", .title = "p", .x = {}, .y = {}, .curves = {{"c", PlantedRun{}}}});
  const auto refused = [&experiment](Claim claim) {
    experiment.claims = {std::move(claim)};
    EXPECT_THROW(check_claims(experiment), InvalidArgument);
  };
  const Claim fine{
      .name = "c", .says = "s", .panel = "panel", .measure = "floor", .curves = {}, .fact = {}, .at_most = 1};
  experiment.claims = {fine};
  EXPECT_NO_THROW(check_claims(experiment));

  Claim claim = fine;
  claim.panel = "other";
  refused(claim);
  claim = fine;
  claim.measure = "flor";
  refused(claim);
  claim = fine;
  claim.curves = {"d"};
  refused(claim);
  claim = fine;
  claim.measure = "floor_ratio";
  refused(claim);
  claim = fine;
  claim.measure = "fact_most";
  refused(claim);
  claim = fine;
  claim.at_most.reset();
  refused(claim);
}

}  // namespace
}  // namespace hearsay::experiments

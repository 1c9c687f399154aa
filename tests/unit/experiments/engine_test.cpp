#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/threads.hpp>

#include "experiments/experiment.hpp"

namespace hearsay::experiments {
namespace {

PlantedRun small_engine_run(double fraction) {
  return {.spectrum = {.dimension = 40, .rank = 3, .gap = 0.1},
          .momentum = {MomentumChoice::Rule::times_optimal, fraction},
          .iterations = 150};
}

Experiment small_experiment() {
  Experiment experiment{.name = "small", .title = "t", .caption = {}, .seeds = {1, 2, 3}, .panels = {}, .claims = {}};
  for (const char* name : {"one", "two"})
    experiment.panels.push_back({.name = name,
                                 .title = name,
                                 .x = {},
                                 .y = {},
                                 .curves = {{"plain", small_engine_run(0)}, {"best", small_engine_run(1)}}});
  experiment.claims.push_back({.name = "faster",
                               .says = "s",
                               .panel = "two",
                               .measure = "iterations_ratio",
                               .curves = {"plain", "best"},
                               .fact = {},
                               .at_least = 1});
  return experiment;
}

TEST(Experiments, GiveTheSameNumbersOnAnyNumberOfThreads) {
  const auto alone = run(small_experiment(), 1), together = run(small_experiment(), 3);

  ASSERT_TRUE(alone && together);
  for (std::size_t p = 0; p < 2; ++p)
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t s = 0; s < 3; ++s)
        EXPECT_EQ(alone->panels[p].curves[c].traces[s].error, together->panels[p].curves[c].traces[s].error);
  EXPECT_EQ(alone->verdicts[0].value, together->verdicts[0].value);
  EXPECT_EQ(alone->verdicts[0].kind, Verdict::Kind::holds);
}

TEST(Experiments, MakeARunThatTwoPanelsShareOnce) {
  std::size_t all = 0;

  const auto outcome = run(small_experiment(), 2, [&all](std::size_t, std::size_t count) { return all = count, true; });

  EXPECT_EQ(all, 2 * 3u) << "two runs of three seeds, not four";
  EXPECT_EQ(outcome->panels[0].curves[1].traces[2].error, outcome->panels[1].curves[1].traces[2].error);
}

TEST(Experiments, TabulateTheFactsOfAPanel) {
  const TableSpec spec{
      .name = "t", .title = "t", .panel = "p", .columns = {{.label = "T", .fact = "T"}, {.label = "L", .fact = "L"}}};
  Outcome outcome{.panels = {{.name = "p", .curves = {{.name = "c", .traces = {Trace{}, Trace{}, Trace{}}}}}},
                  .verdicts = {}};
  auto& traces = outcome.panels[0].curves[0].traces;
  traces[0].facts = {{"T", 5}, {"L", 1}}, traces[1].facts = {{"T", 1}, {"L", 2}}, traces[2].facts = {{"T", 3}};

  const FactsTable table = tabulate(spec, outcome);

  ASSERT_EQ(table.rows.size(), 1u);
  ASSERT_TRUE(table.rows[0].cells[0].has_value());
  EXPECT_EQ(table.rows[0].cells[0]->median, 3);
  EXPECT_EQ(table.rows[0].cells[0]->low, 1);
  EXPECT_EQ(table.rows[0].cells[0]->high, 5);
  EXPECT_FALSE(table.rows[0].cells[1].has_value()) << "one seed has no such fact";
}

TEST(Experiments, DrawSweepsAgainstWhatIsSweptAndNothingElse) {
  Experiment experiment = small_experiment();
  experiment.panels[0].against = Abscissa::swept;
  EXPECT_THROW(run(experiment, 1), InvalidArgument);
  experiment.panels[0].against = Abscissa::rounds;
  EXPECT_THROW(run(experiment, 1), InvalidArgument);
  experiment = small_experiment();
  experiment.panels[0].curves[0].run = ToleranceRun{};
  EXPECT_THROW(run(experiment, 1), InvalidArgument);
  experiment = small_experiment();
  experiment.tables = {{.name = "t", .title = "t", .panel = "three", .columns = {{"T", "T"}}}};
  EXPECT_THROW(run(experiment, 1), InvalidArgument);
}

TEST(Experiments, StopWhenToldToAndLeaveTheThreadsAsTheyWere) {
  const int before = threads();

  const auto outcome = run(small_experiment(), 1, [](std::size_t done, std::size_t) { return done < 2; });

  EXPECT_FALSE(outcome.has_value());
  EXPECT_EQ(threads(), before);
}

TEST(Experiments, PassOnWhatARunThrows) {
  Experiment experiment = small_experiment();
  auto run_without_gap = small_engine_run(1);
  run_without_gap.spectrum.gap = 2;
  experiment.panels[0].curves[0].run = run_without_gap;

  EXPECT_THROW((void)run(experiment, 2), InvalidArgument);
}

TEST(Experiments, RefuseNamesThatAreGivenTwice) {
  Experiment experiment = small_experiment();
  experiment.panels[1].name = "one";
  EXPECT_THROW((void)run(experiment, 1), InvalidArgument);

  experiment = small_experiment();
  experiment.panels[0].curves[1].name = "plain";
  EXPECT_THROW((void)run(experiment, 1), InvalidArgument);

  experiment = small_experiment();
  experiment.seeds.clear();
  EXPECT_THROW((void)run(experiment, 1), InvalidArgument);
}

TEST(Bands, HoldMedianAndExtremesAtEveryPoint) {
  const Curve curve{.name = "c", .traces = {{.error = {1, 2}}, {.error = {3, 8}}, {.error = {2, 4}}}};

  const Band whole = band(curve, Abscissa::iterations, false, 10);

  EXPECT_EQ(whole.x, (std::vector<double>{0, 1}));
  EXPECT_EQ(whole.median, (std::vector<double>{2, 4}));
  EXPECT_EQ(whole.low, (std::vector<double>{1, 2}));
  EXPECT_EQ(whole.high, (std::vector<double>{3, 8}));
  EXPECT_EQ(whole.seeds, (std::vector<std::vector<double>>{{1, 2}, {3, 8}, {2, 4}}));
}

TEST(Bands, ThinALongCurveEvenlyOnItsAxis) {
  const Curve curve{.name = "c", .traces = {{.error = std::vector<double>(1001, 1.0)}}};

  const Band linear = band(curve, Abscissa::iterations, false, 11);
  const Band logarithmic = band(curve, Abscissa::iterations, true, 4);

  EXPECT_EQ(linear.x, (std::vector<double>{0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}));
  EXPECT_EQ(logarithmic.x, (std::vector<double>{1, 10, 100, 1000}));
}

}  // namespace
}  // namespace hearsay::experiments

#include "formats/experiment_file.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>

#include <string>

namespace hearsay::app {
namespace {

using namespace experiments;

constexpr const char* whole = R"({
  "name": "mine", "title": "Mine", "seeds": [7, 8],
  "axes": {"y": {"label": "error"}},
  "run": {"dimension": 50, "gap": 0.1},
  "panels": [
    {"name": "a", "title": "A", "axes": {"x": {"scale": "log"}}, "run": {"gap": 0.2},
     "curves": [{"name": "plain", "run": {"momentum": "none"}},
                {"name": "near", "parameter": 0.3, "run": {"gap": 0.3, "momentum": "between:0.25", "noise": "sphere"}}]},
    {"name": "b", "title": "B", "curves": [{"name": "t", "run": {"momentum": "paper"}}]}],
  "claims": [{"name": "c", "says": "s", "panel": "a", "measure": "floor", "curves": ["plain"], "at_most": 1}],
  "quick": {"seeds": [7], "run": {"dimension": 20}}
})";

std::string changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string message_of(const std::string& text) {
  try {
    (void)parse_experiment(text, "my.json", false);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ExperimentFile, SaysOnceWhatItsPartsHaveInCommon) {
  const Experiment experiment = parse_experiment(whole, "my.json", false).experiment;

  EXPECT_EQ(experiment.seeds, (std::vector<std::uint64_t>{7, 8}));
  const auto plain = std::get<PlantedRun>(experiment.panels[0].curves[0].run);
  const auto near = std::get<PlantedRun>(experiment.panels[0].curves[1].run);
  const auto other = std::get<PlantedRun>(experiment.panels[1].curves[0].run);
  EXPECT_EQ(plain.spectrum.dimension, 50);
  EXPECT_EQ(plain.spectrum.gap, 0.2);
  EXPECT_EQ(plain.momentum, (MomentumChoice{MomentumChoice::Rule::times_optimal, 0}));
  EXPECT_EQ(near.spectrum.gap, 0.3);
  EXPECT_EQ(near.momentum, (MomentumChoice{MomentumChoice::Rule::between, 0.25}));
  EXPECT_EQ(near.noise, NoiseChoice::Kind::sphere);
  EXPECT_EQ(other.spectrum.gap, 0.1);
  EXPECT_EQ(other.momentum.rule, MomentumChoice::Rule::paper);
  EXPECT_TRUE(experiment.panels[0].x.logarithmic);
  EXPECT_FALSE(experiment.panels[1].x.logarithmic);
  EXPECT_EQ(experiment.panels[1].y.label, "error");
  EXPECT_EQ(experiment.claims[0].at_most, 1);
}

TEST(ExperimentFile, DescribesNoisySolvesAndWhatWasRecorded) {
  const auto curve = [](const std::string& run) {
    return parse_experiment(changed(whole, R"({"momentum": "none"})", run), "my.json", false)
        .experiment.panels[0]
        .curves[0]
        .run;
  };

  const auto budget = std::get<BudgetRun>(curve(R"({"kind": "budget", "solver": "oja", "products": [10, 20]})"));
  const auto solve = std::get<SolveRun>(curve(R"({"kind": "solve", "solver": "paper", "spectrum": "harmonic"})"));
  const auto recorded =
      std::get<RecordedRun>(curve(R"({"kind": "recorded", "products": [10], "errors": [0.5], "source": "there"})"));

  EXPECT_EQ(budget.solver, BudgetRun::Solver::oja);
  EXPECT_EQ(budget.instance.dimension, 50);
  EXPECT_EQ(budget.products, (std::vector<Index>{10, 20}));
  EXPECT_EQ(solve.instance.spectrum, NoisyInstance::Spectrum::harmonic);
  EXPECT_EQ(recorded.errors, std::vector<double>{0.5});
  const auto names = [](const std::string& key, const std::string& run) {
    return message_of(changed(whole, R"({"momentum": "none"})", run)).find(key) != std::string::npos;
  };
  EXPECT_TRUE(names("source", R"({"kind": "recorded", "products": [10], "errors": [0.5]})"));
  EXPECT_TRUE(names("errors", R"({"kind": "recorded", "products": [10], "errors": [], "source": "there"})"));
  EXPECT_TRUE(names("ascending", R"({"kind": "budget", "products": [20, 10]})"));
}

TEST(ExperimentFile, DescribesSweepsTablesAndDepartures) {
  constexpr const char* text = R"({
    "name": "tables", "title": "T", "seeds": [1],
    "panels": [
      {"name": "noise", "title": "N", "against": "swept",
       "curves": [{"name": "xu", "run": {"kind": "tolerance", "analysis": "xu", "part": "inside", "most": 10}}]},
      {"name": "rounds", "title": "R", "against": "swept",
       "curves": [{"name": "depm", "run": {"kind": "rounds", "data": "heart", "algorithm": "depm", "rounds": [1, 4],
                                           "level": 1e-3}}]},
      {"name": "graph", "title": "G",
       "curves": [{"name": "npm", "run": {"kind": "graph", "nodes": 500, "momentum": "none", "graph_seed": 0}}]}],
    "tables": [{"name": "facts", "title": "F", "panel": "noise", "columns": [{"label": "T promised", "fact": "T"}]}],
    "claims": [{"name": "c", "says": "s", "panel": "noise", "measure": "fact_over_fact", "fact": "T",
                "over_fact": "iterations", "at_most": 1,
                "departure": {"because": "b", "at_least": 2}, "measured": 0.9, "bound_by": "theorem",
                "of": "generated"}]})";

  const Experiment experiment = parse_experiment(text, "my.json", false).experiment;

  const auto& noise = std::get<ToleranceRun>(experiment.panels[0].curves[0].run);
  EXPECT_EQ(noise.analysis, ToleranceRun::Analysis::xu);
  EXPECT_EQ(noise.part, ToleranceRun::Part::inside);
  EXPECT_EQ(noise.most, 10);
  const auto& rounds = std::get<RoundsRun>(experiment.panels[1].curves[0].run);
  EXPECT_EQ(rounds.rounds, (std::vector<Index>{1, 4}));
  EXPECT_EQ(rounds.agents.algorithm, Algorithm::depm);
  EXPECT_EQ(rounds.level, 1e-3);
  const auto& graph = std::get<GraphRun>(experiment.panels[2].curves[0].run);
  EXPECT_EQ(graph.generated.nodes, 500);
  EXPECT_EQ(graph.generated.seed, 0u);
  EXPECT_FALSE(graph.accelerated);
  EXPECT_EQ(experiment.tables[0].columns[0].fact, "T");
  EXPECT_EQ(experiment.claims[0].over_fact, "iterations");
  ASSERT_TRUE(experiment.claims[0].departure.has_value());
  EXPECT_EQ(experiment.claims[0].measured, 0.9);
  EXPECT_EQ(experiment.claims[0].bound_by, "theorem");
  EXPECT_EQ(experiment.claims[0].of, "generated");
  EXPECT_EQ(message_of(changed(text, "\"of\": \"generated\"", "\"of\": \"amazon\"")),
            "my.json: claims[0].of = \"amazon\": must be one of amazon0302, generated; did you mean amazon0302?");
  EXPECT_EQ(message_of(changed(text, "[1, 4]", "[4, 1]")),
            "my.json: panels[1].curves[0].run.rounds = [4,1]: must be ascending");
  EXPECT_EQ(message_of(changed(text, "\"facts\"", "\"../facts\"")),
            "my.json: tables[0].name = \"../facts\": must be a word of small letters, digits and dashes, for files "
            "bear it");
}

TEST(ExperimentFile, DescribesPromisesExponentsAndPushes) {
  constexpr const char* text = R"({
    "name": "strict", "title": "T", "seeds": [1],
    "panels": [
      {"name": "promise", "title": "P",
       "curves": [{"name": "heart", "run": {"kind": "promise", "data": "heart", "rank": 2, "level": 1e-3,
                                            "audit": "yes"}}]},
      {"name": "exponents", "title": "E", "against": "swept",
       "curves": [{"name": "xu", "run": {"kind": "exponents", "part": "inside", "lambda_next": 0.9, "h0": 5}}]},
      {"name": "push", "title": "U",
       "curves": [{"name": "main", "run": {"kind": "theorem", "noise": "push"}}]}]})";

  const Experiment experiment = parse_experiment(text, "my.json", false).experiment;

  const auto& promise = std::get<PromiseRun>(experiment.panels[0].curves[0].run);
  EXPECT_EQ(promise.level, 1e-3);
  EXPECT_EQ(promise.rounds, 0) << "as promised";
  EXPECT_TRUE(promise.audit);
  const auto& exponents = std::get<ExponentRun>(experiment.panels[1].curves[0].run);
  EXPECT_EQ(exponents.part, ToleranceRun::Part::inside);
  EXPECT_EQ(exponents.h0, 5);
  EXPECT_EQ(std::get<TheoremRun>(experiment.panels[2].curves[0].run).noise, TheoremRun::Noise::push);
}

TEST(ExperimentFile, IsNotNestedTooDeep) {
  EXPECT_EQ(message_of(std::string(1000000, '[')), "my.json: must not be nested deeper than 32 levels");
}

TEST(ExperimentFile, IsSmallerWhenQuick) {
  const ExperimentFile quick = parse_experiment(whole, "my.json", true);

  EXPECT_EQ(quick.experiment.seeds, std::vector<std::uint64_t>{7});
  EXPECT_EQ(std::get<PlantedRun>(quick.experiment.panels[0].curves[0].run).spectrum.dimension, 20);
  EXPECT_EQ(parse_experiment(quick.settled, "settled", false).experiment.seeds, quick.experiment.seeds);
}

TEST(ExperimentFile, NamesWhatIsWrongWithIt) {
  EXPECT_EQ(message_of(whole), "accepted");
  EXPECT_EQ(message_of(changed(whole, "\"name\": \"mine\", ", "")), "my.json: name: missing; must be a text");
  EXPECT_EQ(message_of(changed(whole, "\"mine\"", "\"../mine\"")),
            "my.json: name = \"../mine\": must be a word of small letters, digits and dashes, for files bear it");
  EXPECT_EQ(message_of(changed(whole, "[7, 8]", "[7, -8]")),
            "my.json: seeds = [7,-8]: must be a list of whole numbers in [0, 2^64)");
  EXPECT_EQ(message_of(changed(whole, "\"between:0.25\"", "\"beetween\"")),
            "my.json: panels[0].curves[1].run.momentum = \"beetween\": must be none, paper, auto, critical, optimal, "
            "optimal:FRACTION or between:SHARE");
  EXPECT_EQ(message_of(changed(whole, "\"gap\": 0.3", "\"gapp\": 0.3")),
            "my.json: panels[0].curves[1].run.gapp: no such key here; did you mean gap?");
  EXPECT_EQ(message_of(changed(whole, "\"sphere\"", "\"spher\"")),
            "my.json: panels[0].curves[1].run.noise = \"spher\": must be one of none, gaussian, sphere, adversarial; "
            "did you mean sphere?");
  EXPECT_EQ(message_of("[1]"), "my.json: must be a JSON object");
  EXPECT_EQ(message_of("{\n\"name\" 1"), "my.json:2:8: must be JSON, and is not from here on");
}

}  // namespace
}  // namespace hearsay::app

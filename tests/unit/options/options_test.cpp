#include "hearsay/options.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

#include "hearsay/error.hpp"

namespace hearsay {
namespace {

std::string complaint(std::string_view name, std::string_view text) {
  SolveSettings settings;
  try {
    set_option(settings, name, text);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

TEST(OptionTable, NamesEveryOptionOnce) {
  std::set<std::string_view> names;

  for (const OptionRecord& record : option_table()) EXPECT_TRUE(names.insert(record.name).second) << record.name;
}

TEST(OptionTable, ExplainsEveryOptionAndGivesItToACommand) {
  for (const OptionRecord& record : option_table()) {
    EXPECT_FALSE(record.help.empty()) << record.name;
    EXPECT_NE(record.commands, 0u) << record.name;
    EXPECT_EQ(record.metavar.empty(), record.kind == OptionKind::flag) << record.name;
  }
}

TEST(OptionTable, StatesTheDefaultsOfTheSolver) {
  const PowerOptions untouched;
  SolveSettings settings;
  settings.power.max_iterations = -7;
  settings.power.cooldown = -7;
  settings.power.oversample = -7;

  for (const std::string_view name : {"max-iterations", "cooldown", "oversample", "seed", "momentum", "damping"})
    EXPECT_TRUE(set_option(settings, name, find_option(name).default_text)) << name;

  EXPECT_EQ(iteration_limit(settings.power), iteration_limit(untouched));
  EXPECT_EQ(settings.power.cooldown, untouched.cooldown);
  EXPECT_EQ(settings.power.oversample, untouched.oversample);
  EXPECT_EQ(settings.power.seed, untouched.seed);
  EXPECT_EQ(settings.power.momentum.rule, untouched.momentum.rule);
  EXPECT_EQ(settings.power.damping, untouched.damping);
  EXPECT_TRUE(find_option("tolerance").default_text.starts_with("1e-10"));
  EXPECT_EQ(tolerance_of<double>(untouched), 1e-10);
  EXPECT_EQ(tolerance_of<float>(untouched), 1e-5);
}

TEST(SetOption, ReadsNumbersAndWords) {
  SolveSettings settings;

  set_option(settings, "rank", "7");
  set_option(settings, "tolerance", "1e-6");
  set_option(settings, "momentum", "0.25");
  set_option(settings, "noise", "sphere:1e-4");
  set_option(settings, "precision", "mixed");

  EXPECT_EQ(settings.power.rank, 7);
  EXPECT_EQ(settings.power.tolerance, 1e-6);
  EXPECT_EQ(settings.power.momentum.edge, 1.0);  // 2 sqrt(beta)
  EXPECT_EQ(settings.noise.kind, NoiseChoice::Kind::sphere);
  EXPECT_EQ(settings.noise.level, 1e-4);
  EXPECT_EQ(settings.precision, Precision::mixed);
}

TEST(SetOption, CertifiesInFullUnlessToldOtherwise) {
  SolveSettings settings;
  EXPECT_EQ(settings.power.certify, Certify::full);

  for (const Certify level : {Certify::none, Certify::residual, Certify::full}) {
    EXPECT_TRUE(set_option(settings, "certify", name(level)));
    EXPECT_EQ(settings.power.certify, level);
  }
  EXPECT_EQ(find_option("certify").default_text, name(Certify::full));
  EXPECT_EQ(find_option("certify").commands, in_solves | in_svd);
  EXPECT_EQ(complaint("certify", "ful"), "certify = ful: must be one of none|residual|full; did you mean full?");
}

TEST(SetOption, KnowsBothSpellingsOfCentred) {
  for (const std::string_view text : {"centred", "centered"}) {
    SolveSettings settings;
    set_option(settings, "damping", text);
    EXPECT_EQ(settings.power.damping, Damping::centred);
  }
}

TEST(SetOption, LeavesToTheCallerWhatIsNotTheSolvers) {
  SolveSettings settings;

  EXPECT_FALSE(set_option(settings, "components", "basis.npy"));
}

TEST(SetOption, NamesTheOptionTheValueAndTheRule) {
  EXPECT_EQ(complaint("rank", "0"), "rank = 0: must be a whole number of at least 1");
  EXPECT_EQ(complaint("rank", "3.5"),
            "rank = 3.5: must be a whole number of at least 1, a share of the variance between 0 and 1, or mle");
  EXPECT_EQ(complaint("tolerance", "nan"), "tolerance = nan: must be a finite number");
  EXPECT_EQ(complaint("tolerance", "0"), "tolerance = 0: must be finite and positive");
  EXPECT_EQ(complaint("noise", "gaussian:x"), "noise level = x: must be a finite number");
}

TEST(SetOption, GuessesWhatAMisspeltWordMeant) {
  EXPECT_EQ(complaint("damping", "symetric"),
            "damping = symetric: must be one of auto|centred|symmetric; did you mean symmetric?");
  EXPECT_EQ(complaint("damping", "xyzzy"), "damping = xyzzy: must be one of auto|centred|symmetric");
  EXPECT_EQ(complaint("tolerence", "1"), "option tolerence: is not known; did you mean tolerance?");
}

TEST(Settle, RefusesMomentumInAPlainMethod) {
  SolveSettings settings;
  set_option(settings, "method", "npm");
  set_option(settings, "momentum", "0.1");

  EXPECT_THROW(settle(settings), InvalidArgument);
}

TEST(Settle, GivesSinglePrecisionAToleranceItCanReach) {
  SolveSettings chosen, given;
  set_option(chosen, "precision", "single");
  set_option(given, "precision", "single");
  set_option(given, "tolerance", "1e-3");

  settle(chosen);
  settle(given);

  EXPECT_EQ(chosen.power.tolerance, 1e-5);
  EXPECT_EQ(given.power.tolerance, 1e-3);
}

TEST(Nearest, FindsTheWordWithTheFewestEdits) {
  const std::string_view words[] = {"momentum", "method", "max-iterations"};

  EXPECT_EQ(nearest("momntum", words), "momentum");
  EXPECT_EQ(nearest("mehtod", words), "method");
  EXPECT_EQ(nearest("max", words), "max-iterations");
  EXPECT_EQ(nearest("banana", words), "");
}

TEST(NamedTopology, MakesTheGraphTheWordMeans) {
  const std::pair<std::string_view, std::size_t> edges[] = {{"ring", 12},     {"path", 11},      {"star", 11},
                                                            {"complete", 66}, {"grid", 17},      {"grid:2x6", 16},
                                                            {"torus", 24},    {"torus:2x6", 18}, {"regular:4", 24}};
  for (const auto& [text, count] : edges) {
    const auto graph = named_topology(text, 12, 1);
    ASSERT_TRUE(graph) << text;
    EXPECT_EQ(graph->nodes, 12) << text;
    EXPECT_EQ(graph->edges.size(), count) << text;
  }
  EXPECT_EQ(named_topology("grid", 7, 0)->edges.size(), 6u);  // a prime number of agents stands in a line
  EXPECT_FALSE(named_topology("friends.txt", 12, 1));
}

TEST(NamedTopology, RefusesParametersThatDoNotFit) {
  for (const char* text : {"grid:5x2", "grid:12", "torus:0x0", "grid:4000000000x4000000000", "ring:3", "erdos",
                           "erdos:2", "erdos:x", "regular", "regular:12", "regular:0"})
    EXPECT_THROW(named_topology(text, 12, 1), InvalidArgument) << text;
}

TEST(DecentralizedSettings, TakeTheirOwnOptionsAndThoseOfTheSolver) {
  DecentralizedSettings settings;
  SolveSettings solve;
  for (const auto& [name, text] : {std::pair{"algorithm", "deepca"},
                                   {"gossip", "plain"},
                                   {"rounds", "7"},
                                   {"message-precision", "bfloat16"},
                                   {"tolerance", "0"}})
    EXPECT_TRUE(set_option(settings, name, text)) << name;
  for (const auto& [name, text] : {std::pair{"rank", "3"}, {"seed", "5"}, {"max-iterations", "9"}}) {
    EXPECT_FALSE(set_option(settings, name, text)) << name;
    EXPECT_TRUE(set_option(solve, name, text)) << name;
  }

  const DecentralizedOptions options = settle(settings, solve);

  EXPECT_EQ(options.algorithm, Algorithm::deepca);
  EXPECT_EQ(options.gossip, GossipKind::plain);
  EXPECT_EQ(options.rounds, 7);
  EXPECT_EQ(options.tolerance, 0);
  EXPECT_EQ(options.rank, 3);
  EXPECT_EQ(options.seed, 5u);
  EXPECT_EQ(options.max_iterations, 9);
  EXPECT_EQ(settings.precision, MessagePrecision::bfloat16);
  EXPECT_THROW(set_option(settings, "no-such-option", "1"), InvalidArgument);
}

// What a door makes of the two options it knows.
std::string as_flags(std::string_view message) {
  return in_words(message, [](std::string_view name) -> std::optional<std::string> {
    if (name != "shift" && name != "method") return std::nullopt;
    return "--" + std::string(name);
  });
}

TEST(InWords, SpellsOptionsAsTheDoorDoes) {
  EXPECT_EQ(as_flags("add a shift (`shift`)"), "add a shift (--shift)");
  EXPECT_EQ(as_flags("`shift` out, or `method` anpm"), "--shift out, or --method anpm");
  EXPECT_EQ(as_flags("`method`"), "--method");
  EXPECT_EQ(as_flags("`method``shift`"), "--method--shift");
}

TEST(InWords, LeavesEverythingElseAsItIs) {
  for (const std::string_view message :
       {"", "shift = 3: must be finite", "`", "``", "a`b", "`rm -rf`", "shift`", "`shift", "`a`b`c`", "--shift"})
    EXPECT_EQ(as_flags(message), message);
  EXPECT_EQ(as_flags("a`file`shift`.csv"), "a`file--shift.csv");
  EXPECT_EQ(as_flags("it's ` and `shift`"), "it's ` and --shift");
}

TEST(InWords, FindsTheOptionsThatTheLibraryNames) {
  SolveSettings settings{.plain = true};
  settings.power.momentum = Momentum::paper();
  try {
    settle(settings);
    ADD_FAILURE() << "a plain method took a momentum";
  } catch (const InvalidArgument& error) {
    const auto shouted = in_words(error.what(), [](std::string_view name) -> std::optional<std::string> {
      return find_option(name).name == "method" ? "METHOD" : "MOMENTUM";
    });
    EXPECT_EQ(shouted, "method = npm: has no momentum; leave MOMENTUM out, or use METHOD anpm");
  }
}

}  // namespace
}  // namespace hearsay

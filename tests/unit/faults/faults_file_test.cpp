// Faults as users write them.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>

#include <fstream>
#include <string>

#include "formats/faults_file.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::app {
namespace {

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_faults(text, "f.json"));
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

std::string flag_refusal(std::string_view flag, std::string_view text) {
  Faults faults;
  try {
    set_fault_flag(faults, flag, text);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(AFileOfFaults, IsReadAsWritten) {
  const test::TempDir directory;
  const auto path = directory.path() / "faults.json";
  std::ofstream(path) << R"({
    "seed": 18446744073709551615, "patience": 3, "quorum": 4, "give_up": 500,
    "drop": 0.1, "loss": 0.05, "delay": {"probability": 0.25, "by": 2},
    "events": [
      {"drop": [2, 3], "rounds": [10, 20]},
      {"lose": [3, 4], "probability": 0.2, "rounds": [5, null]},
      {"delay": [0, 1], "by": 7, "probability": 0.5},
      {"crash": 4, "iteration": 12},
      {"rejoin": 4, "iteration": 30}
    ]
  })";

  const Faults faults = read_faults(path);

  EXPECT_EQ(faults.seed, 18446744073709551615u);
  EXPECT_EQ(faults.patience, 3);
  EXPECT_EQ(faults.quorum, 4);
  EXPECT_EQ(faults.give_up, 500);
  using Kind = LinkFault::Kind;
  const LinkFault links[] = {{.kind = Kind::drop, .probability = 0.1},
                             {.kind = Kind::loss, .probability = 0.05},
                             {.kind = Kind::delay, .probability = 0.25, .rounds_late = 2},
                             {.kind = Kind::drop, .from = 2, .to = 3, .first_round = 10, .last_round = 20},
                             {.kind = Kind::loss, .from = 3, .to = 4, .probability = 0.2, .first_round = 5},
                             {.kind = Kind::delay, .from = 0, .to = 1, .probability = 0.5, .rounds_late = 7}};
  ASSERT_EQ(faults.links.size(), std::size(links));
  for (std::size_t f = 0; f < std::size(links); ++f) EXPECT_EQ(faults.links[f], links[f]) << f;
  ASSERT_EQ(faults.agents.size(), 2u);
  EXPECT_EQ(faults.agents[0], (AgentFault{.kind = AgentFault::Kind::crash, .agent = 4, .iteration = 12}));
  EXPECT_EQ(faults.agents[1], (AgentFault{.kind = AgentFault::Kind::rejoin, .agent = 4, .iteration = 30}));
}

TEST(AFileOfFaults, MayBeAnEmptyObject) {
  const Faults faults = parse_faults("{}", "f.json");

  EXPECT_TRUE(faults.links.empty() && faults.agents.empty());
  EXPECT_EQ(faults.patience, Faults{}.patience);
}

TEST(AFileOfFaults, ThatIsWrongIsRefusedByKeyValueAndRule) {
  EXPECT_EQ(refusal(R"({"drop": 1.5})"), "f.json: drop = 1.5: must be a number in [0, 1]");
  EXPECT_EQ(refusal(R"({"drop": "often"})"), "f.json: drop = \"often\": must be a number in [0, 1]");
  EXPECT_EQ(refusal(R"({"seed": -1})"), "f.json: seed = -1: must be a whole number in [0, 2^64)");
  EXPECT_EQ(refusal(R"({"patience": 1.5})"), "f.json: patience = 1.5: must be a whole number of at least 0");
  EXPECT_EQ(refusal(R"({"delay": 0.1})"), "f.json: delay = 0.1: must be an object with probability and by");
  EXPECT_EQ(refusal(R"({"delay": {"probability": 0.1}})"),
            "f.json: delay.by: missing; must be a whole number of at least 1");
  EXPECT_EQ(refusal(R"({"events": {}})"), "f.json: events = {}: must be a list of objects");
  EXPECT_EQ(refusal(R"({"events": [3]})"), "f.json: events[0]: must be an object");
  EXPECT_EQ(refusal(R"({"events": [{"drop": [2]}]})"), "f.json: events[0].drop = [2]: must be [agent, agent]");
  EXPECT_EQ(refusal(R"({"events": [{"drop": [2, 3], "rounds": [9, 4]}]})"),
            "f.json: events[0].rounds = [9,4]: must be [first, last], or [first, null] for no end");
  EXPECT_EQ(refusal(R"({"events": [{"delay": [2, 3], "by": -2}]})"),
            "f.json: events[0].by = -2: must be a whole number of at least 1");
  EXPECT_EQ(refusal(R"({"events": [{"drop": [0, 1]}, {"crash": 1}]})"),
            "f.json: events[1].iteration: missing; must be a whole number of at least 1");
  EXPECT_EQ(refusal(R"({"events": [{"crash": 99999999999999999999, "iteration": 1}]})"),
            "f.json: events[0].crash = 1e+20: must be a whole number of at least 0");
  EXPECT_EQ(refusal(R"({"events": [{"crash": 1, "drop": [0, 1]}]})"),
            "f.json: events[0].crash: must not stand beside drop");
  EXPECT_EQ(refusal(R"({"events": [{"rounds": [0, 1]}]})"),
            "f.json: events[0]: must have one of drop, lose, delay, crash, rejoin");
}

TEST(AFileOfFaults, WithAnUnknownKeyIsToldTheNearest) {
  EXPECT_EQ(refusal(R"({"dorp": 0.1})"), "f.json: dorp: no such key here; did you mean drop?");
  EXPECT_EQ(refusal(R"({"events": [{"crahs": 1, "iteration": 2}]})"),
            "f.json: events[0].crahs: no such key here; did you mean crash?");
  EXPECT_EQ(refusal(R"({"events": [{"crash": 1, "iterations": 2}]})"),
            "f.json: events[0].iterations: no such key here; did you mean iteration?");
  EXPECT_EQ(refusal(R"({"events": [{"drop": [1, 2], "by": 2}]})"), "f.json: events[0].by: no such key here");
}

TEST(AFileOfFaults, ThatIsNoJsonIsToldWhere) {
  EXPECT_EQ(refusal("{\n  \"drop\": 0.1,\n  oops\n}"), "f.json:3:3: must be JSON, and is not from here on");
  EXPECT_EQ(refusal("{\"drop\": 0.1"), "f.json:1:13: must be JSON, and is not from here on");
  EXPECT_EQ(refusal("[]"), "f.json: must be a JSON object");
  EXPECT_EQ(refusal(R"({"drop": 0.1, "drop": 0.2})"), "f.json: drop: given twice");
}

TEST(FlagsOfFaults, AddUp) {
  Faults faults;

  for (const auto& [flag, text] :
       {std::pair("drop", "0.1"), std::pair("loss", "1"), std::pair("delay", "0.5:3"), std::pair("crash", "4@12"),
        std::pair("rejoin", "4@30"), std::pair("fault-seed", "7")})
    EXPECT_TRUE(set_fault_flag(faults, flag, text)) << flag;
  EXPECT_FALSE(set_fault_flag(faults, "rank", "3"));

  ASSERT_EQ(faults.links.size(), 3u);
  EXPECT_EQ(faults.links[0], (LinkFault{.kind = LinkFault::Kind::drop, .probability = 0.1}));
  EXPECT_EQ(faults.links[1], (LinkFault{.kind = LinkFault::Kind::loss, .probability = 1}));
  EXPECT_EQ(faults.links[2], (LinkFault{.kind = LinkFault::Kind::delay, .probability = 0.5, .rounds_late = 3}));
  ASSERT_EQ(faults.agents.size(), 2u);
  EXPECT_EQ(faults.agents[0], (AgentFault{.kind = AgentFault::Kind::crash, .agent = 4, .iteration = 12}));
  EXPECT_EQ(faults.agents[1], (AgentFault{.kind = AgentFault::Kind::rejoin, .agent = 4, .iteration = 30}));
  EXPECT_EQ(faults.seed, 7u);
}

TEST(FlagsOfFaults, ThatAreWrongAreRefusedByNameValueAndRule) {
  EXPECT_EQ(flag_refusal("drop", "1.5"), "drop = 1.5: must be a probability in [0, 1]");
  EXPECT_EQ(flag_refusal("delay", "0.5"), "delay = 0.5: must be PROBABILITY:ROUNDS");
  EXPECT_EQ(flag_refusal("delay", "0.5:0"), "delay rounds = 0: must be a whole number of at least 1");
  EXPECT_EQ(flag_refusal("crash", "4"), "crash = 4: must be AGENT@ITERATION");
  EXPECT_EQ(flag_refusal("rejoin", "4@0"), "rejoin iteration = 0: must be a whole number of at least 1");
  EXPECT_EQ(flag_refusal("fault-seed", "-1"), "fault-seed = -1: must be a whole number of at least 0");
}

}  // namespace
}  // namespace hearsay::app

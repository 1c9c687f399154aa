// Descriptions of faults that cannot be, and what is said of them.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/faults.hpp>

#include <string>

#include "runs.hpp"

namespace hearsay {
namespace {

using test::crash;
using test::delay;
using test::drop;
using test::rejoin;

std::string refusal(const Faults& faults) {
  try {
    validate(faults, GossipMatrix::ring(6));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Faults, ThatCanBefallANetworkAreAccepted) {
  const Faults faults{
      .links = {drop(0.1),
                {.kind = LinkFault::Kind::drop, .from = 2, .to = 3, .first_round = 10, .last_round = 20},
                {.kind = LinkFault::Kind::loss, .from = 0, .to = 5, .probability = 0.2},
                delay(1, 3)},
      .agents = {crash(4, 12), rejoin(4, 30), crash(4, 31), crash(1, 12)},
      .quorum = 6};

  EXPECT_EQ(refusal(faults), "accepted");
}

TEST(Faults, MustNameLinksThatExist) {
  EXPECT_EQ(refusal({.links = {{.from = 0, .to = 9}}}), "drop of link 0-9: agent 9 does not exist, must lie in [0, 6)");
  EXPECT_EQ(refusal({.links = {{.from = 0, .to = 2}}}),
            "drop of link 0-2: no such link, because the gossip matrix has no edge between them");
  EXPECT_EQ(refusal({.links = {{.kind = LinkFault::Kind::loss, .from = 3, .to = 3}}}),
            "loss of link 3-3: no such link, because the gossip matrix has no edge between them");
  EXPECT_EQ(refusal({.links = {{.from = 0}}}), "drop of link 0--1: must name both ends of the link, or neither");
}

TEST(Faults, HaveProbabilitiesRoundsAndDelaysInRange) {
  EXPECT_EQ(refusal({.links = {drop(1.5)}}), "drop: probability = 1.5: must lie in [0, 1]");
  EXPECT_EQ(refusal({.links = {drop(std::nan(""))}}), "drop: probability = nan: must lie in [0, 1]");
  EXPECT_EQ(refusal({.links = {{.first_round = 5, .last_round = 4}}}),
            "drop: rounds 5 to 4: must begin at 0 or later and not end before");
  EXPECT_EQ(refusal({.links = {delay(0.5, -2)}}), "delay: rounds_late = -2: must be at least 1");
  EXPECT_EQ(refusal({.links = {{.kind = LinkFault::Kind::loss, .rounds_late = 1}}}),
            "loss: rounds_late = 1: is for a delay alone");
  EXPECT_EQ(refusal({.patience = -1}), "patience = -1: must not be negative");
  EXPECT_EQ(refusal({.quorum = 7}), "quorum = 7: must lie in [1, 6]");
  EXPECT_EQ(refusal({.give_up = 0}), "give_up = 0: must be at least 1");
}

TEST(Faults, LetAgentsCrashAndRejoinInTurn) {
  EXPECT_EQ(refusal({.agents = {crash(6, 3)}}), "crash of agent 6: no such agent, must lie in [0, 6)");
  EXPECT_EQ(refusal({.agents = {crash(2, 0)}}), "crash of agent 2: iteration = 0: must be at least 1");
  EXPECT_EQ(refusal({.agents = {rejoin(2, 9)}}),
            "rejoin of agent 2 at iteration 9: it has not crashed, must do so first");
  EXPECT_EQ(refusal({.agents = {crash(2, 4), crash(2, 9)}}),
            "crash of agent 2 at iteration 9: it has crashed already, must rejoin first");
  EXPECT_EQ(refusal({.agents = {crash(2, 4), rejoin(2, 4)}}),
            "agent 2: two faults at iteration 4: must be one at a time");
}

TEST(FaultyNetwork, RefusesWhatCannotBefallIt) {
  EXPECT_THROW(FaultyNetwork(GossipMatrix::ring(6), {.links = {drop(-0.1)}}), InvalidArgument);
}

}  // namespace
}  // namespace hearsay

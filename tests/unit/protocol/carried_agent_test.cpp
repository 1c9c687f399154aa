// Agents whose frames the test carries by hand.
#include <gtest/gtest.h>
#include <hearsay/carried_agent.hpp>
#include <hearsay/error.hpp>
#include <hearsay/solve_decentralized.hpp>

#include "on_links.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::expect_error;
using test::expect_in;
using Clock = HandLinks::Clock;

constexpr Index members = 4;
constexpr double long_enough = 60;  // seconds, of a machine that is busy with something else

FederationSettings carried_federation() {
  FederationSettings settings{.names = {"boston", "leeds", "oslo", "lyon"}, .W = GossipMatrix::ring(members)};
  settings.settings.power.rank = 2;
  settings.network.solver.tolerance = 1e-8;
  return settings;
}

Block<double> rows_of_member(Index agent) {
  Block<double> rows = test::random_block(20 + agent, 8, static_cast<std::uint64_t>(agent) + 1);
  rows.col(0) *= 5;
  rows.col(3) *= 3;
  return rows;
}

using Agents = std::vector<std::unique_ptr<CarriedAgent>>;

Agents all_of(const FederationSettings& federation, Clock clock = Clock::told) {
  Agents agents;
  for (Index agent = 0; agent < members; ++agent)
    agents.push_back(std::make_unique<CarriedAgent>(agent, AgentRows{.rows = rows_of_member(agent)}, federation,
                                                    AgentHooks{.nonce = 77 + static_cast<std::uint64_t>(agent)},
                                                    clock));
  return agents;
}

bool all_done(const Agents& agents) {
  return std::all_of(agents.begin(), agents.end(), [](const auto& agent) { return agent->links().done(); });
}

// Everything that each of them wants to have sent, once.
Index carry(Agents& agents) {
  Index carried = 0;
  for (auto& agent : agents) {
    EXPECT_TRUE(agent->links().rests(long_enough));
    for (const CarriedFrame& frame : agent->links().take()) {
      EXPECT_TRUE(agents[static_cast<std::size_t>(frame.to)]->links().receive(agent->links().self(), frame.bytes, 0));
      ++carried;
    }
  }
  return carried;
}

std::uint64_t digest_of_one_process(const FederationSettings& federation) {
  AloneTransport alone;
  Shards shards{.agents = members};
  for (Index agent = 0; agent < members; ++agent) {
    shards.local.push_back(agent);
    shards.rows.push_back(rows_of_member(agent));
  }
  const ShardTotals totals = totals_of(alone, shards);
  const auto found =
      solve_decentralized(alone, federation.W, {.shards = covariance_shards(std::move(shards), totals, true)},
                          {.network = federation.network, .settings = federation.settings});
  return found.result.digest;
}

TEST(CarriedAgent, FindsTheBitsOfOneProcessThoughTimeStandsStill) {
  const FederationSettings federation = carried_federation();
  Agents agents = all_of(federation);

  while (!all_done(agents)) ASSERT_TRUE(carry(agents) > 0 || all_done(agents)) << "nothing moves any more";

  for (const auto& agent : agents) {
    EXPECT_EQ(agent->outcome().result.digest, digest_of_one_process(federation));
    EXPECT_EQ(agent->outcome().unconfirmed, "");
  }
}

TEST(CarriedAgent, LosesNothingWhenAWayCloses) {
  const FederationSettings federation = carried_federation();
  Agents agents = all_of(federation);
  for (Index step = 0; !all_done(agents); ++step) {
    carry(agents);
    if (step % 7 != 5) continue;
    EXPECT_TRUE(agents[1]->links().rests(long_enough));
    agents[1]->links().closed(2, "a mast fell");  // with the frames that were taken there, but not carried
    agents[2]->links().closed(1, "a mast fell");
    agents[1]->links().opened(2);
    agents[2]->links().opened(1);
  }
  for (const auto& agent : agents) EXPECT_EQ(agent->outcome().result.digest, digest_of_one_process(federation));
  EXPECT_GT(agents[1]->outcome().links[1].reconnections, 2);
}

TEST(CarriedAgent, EndsWhenItIsToldThatTooMuchTimeHasPassed) {
  CarriedAgent alone(0, {.rows = rows_of_member(0)}, carried_federation(), {}, Clock::told);
  ASSERT_TRUE(alone.links().rests(long_enough));
  EXPECT_FALSE(alone.links().done());
  EXPECT_THROW(static_cast<void>(alone.outcome()), Error);

  alone.links().tell(61);

  EXPECT_TRUE(alone.links().rests(long_enough));
  alone.links().take();
  ASSERT_TRUE(alone.links().done());
  expect_error<CommunicationError>([&] { static_cast<void>(alone.outcome()); }, {"not ready within 60 s: agent 1"});
}

TEST(CarriedAgent, StopsEverywhereWithWhatThereIs) {
  FederationSettings federation = carried_federation();
  federation.network.solver.tolerance = 0;
  Agents agents = all_of(federation);
  for (Index step = 0; !all_done(agents); ++step) {
    carry(agents);
    if (step == 40) agents[2]->stop();
  }
  for (const auto& agent : agents) EXPECT_EQ(agent->outcome().result.status, Status::stopped_by_observer);
}

TEST(CarriedAgent, LeavesWithAWordToTheOthers) {
  Agents agents = all_of(carried_federation());
  carry(agents);
  agents[3]->leave();
  for (double time = 1; !all_done(agents); time += 1) {
    ASSERT_LT(time, 100);
    for (auto& agent : agents) agent->links().tell(time);
    carry(agents);
  }
  for (std::size_t agent = 0; agent < 3; ++agent)
    expect_error<CommunicationError>([&] { static_cast<void>(agents[agent]->outcome()); },
                                     {"agent 3 (lyon): was asked to stop"});
}

// Nothing is left behind: the destructor returns though the agents wait for each other.
TEST(CarriedAgent, IsBrokenOffAtAnyMoment) {
  for (Index steps = 0; steps < 12; ++steps) {
    Agents agents = all_of(carried_federation(), steps % 2 == 0 ? Clock::own : Clock::told);
    for (Index step = 0; step < steps; ++step) carry(agents);
  }
}

TEST(CarriedAgent, KeepsSoManyBytesOfANeighbour) {
  HandLinks links(0, {1, 2}, Clock::told, 100);
  const std::vector<std::byte> frame(80);

  EXPECT_TRUE(links.receive(1, frame, 0));
  EXPECT_FALSE(links.receive(1, frame, 0.001));
  EXPECT_TRUE(links.receive(2, frame, 0));
  EXPECT_EQ(links.poll(1).frame, frame);
  EXPECT_TRUE(links.receive(1, frame, 0));
  links.end();
  EXPECT_TRUE(links.receive(1, frame, 0)) << "what comes after the end is dropped";
}

TEST(CarriedAgent, RefusesWhatCannotBe) {
  HandLinks links(0, {1}, Clock::told);
  links.tell(5);
  expect_error<InvalidArgument>([&] { links.tell(4); }, {"the time 4 s: must not be before 5"});
  expect_error<InvalidArgument>([&] { links.receive(2, {}, 0); }, {"agent 2: is no neighbour of agent 0"});
  expect_error<InvalidArgument>([&] { links.opened(0); }, {"agent 0: is no neighbour of agent 0"});
  expect_error<InvalidArgument>([] { HandLinks(0, {1}).tell(1); }, {"can be told only where"});
  expect_error<InvalidArgument>([] { CarriedAgent(4, {.rows = rows_of_member(0)}, carried_federation()); },
                                {"agent 4: must lie in [0, 4)"});
}

}  // namespace
}  // namespace hearsay

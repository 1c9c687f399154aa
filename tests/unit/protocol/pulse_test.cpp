// Signs of life: who computes for long is waited for, who is silent is not, and each says which it is.
#include <gtest/gtest.h>
#include <hearsay/agent.hpp>
#include <hearsay/protocol/arrivals.hpp>
#include <hearsay/protocol/session.hpp>

#include <atomic>

#include "on_links.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"

namespace hearsay::protocol {
namespace {

SessionOptions pulse_options(Index self, std::uint64_t nonce, bool beats) {
  return {.self = self,
          .agents = 2,
          .neighbours = {1 - self},
          .nonce = nonce,
          .configuration = 7,
          .facts = {{"rank", "5"}},
          .agreement_rounds = 1,
          .beats = beats,
          .largest_message = 1000,
          .patience = {.greeting = 60, .round = 100, .link = 5, .heartbeat = 1}};
}

void hand_over(Session& from, Session& to, double now) {
  while (const FrameBytes* frame = from.next_frame(to.options().self)) {
    to.received(from.options().self, *frame, now);
    from.sent(to.options().self, now);
  }
}

// Both have begun their run, and `waiting` has sent its message of round 1, for which the other has none yet.
struct TwoAgents {
  Session waiting, other;

  explicit TwoAgents(bool beats) : waiting(pulse_options(0, 11, beats), 0), other(pulse_options(1, 22, beats), 0) {
    exchange(0);
    const std::vector<std::byte> message(3);
    for (Session* session : {&waiting, &other}) session->begin_round(FrameKind::gather, message, 0);
    exchange(0);
    for (Session* session : {&waiting, &other}) session->set_run(5);
    waiting.begin_round(FrameKind::block, message, 0);
    exchange(0);
  }

  void exchange(double now) {
    for (int turn = 0; turn < 4; ++turn) {
      hand_over(waiting, other, now);
      hand_over(other, waiting, now);
    }
  }

  // When the one that waits gives up; the other gives signs of life until it falls silent.
  double gives_up(bool computes, double silent_from) {
    other.set_computing(computes);
    for (double now = 0; now <= 5000; now += 0.5) {
      waiting.tick(now);
      if (waiting.failure()) return now;
      if (now < silent_from) {
        other.tick(now);
        exchange(now);
      }
    }
    return 1e9;
  }
};

constexpr double for_ever = 1e9;

TEST(SignsOfLife, OneThatComputesIsWaitedForMuchLonger) {
  EXPECT_NEAR(TwoAgents(true).gives_up(true, for_ever), 1000, 2);
  EXPECT_NEAR(TwoAgents(true).gives_up(false, for_ever), 200, 2);
}

TEST(SignsOfLife, SilenceOfOneThatAlwaysGivesThemTellsSooner) {
  EXPECT_NEAR(TwoAgents(true).gives_up(true, 10), 25, 1);
  EXPECT_NEAR(TwoAgents(true).gives_up(true, 60), 63.5, 1.5);
  EXPECT_NEAR(TwoAgents(false).gives_up(true, 10), 100, 1);
}

TEST(SignsOfLife, ThatAreNoneEndTheRun) {
  for (const auto& said : std::vector<std::vector<std::byte>>{{}, {std::byte{4}}, {std::byte{0}, std::byte{0}}}) {
    TwoAgents agents(true);
    const std::uint64_t edge[] = {7, 11, 22};
    const Frame frame{.kind = FrameKind::heartbeat,
                      .run = mixed_digest(edge),
                      .configuration = 7,
                      .sender = 1,
                      .message_bytes = said.size(),
                      .payload = said};
    agents.waiting.received(1, to_bytes(frame), 0);
    ASSERT_TRUE(agents.waiting.failure());
    test::expect_in(agents.waiting.failure()->message, "agent 1 sent a heartbeat of");
  }
}

TEST(Arrivals, TellWhatSilenceIsUnusual) {
  Arrivals regular, irregular, one_late;
  for (int i = 0; i < 64; ++i) {
    regular.add(0.5);
    irregular.add(i % 4);
    one_late.add(i == 40 ? 1000 : 1);
  }
  EXPECT_EQ(Arrivals().usual(), 0);
  EXPECT_EQ(regular.usual(), 0.5);
  EXPECT_GE(irregular.usual(), 10);
  EXPECT_LE(irregular.usual(), 25);
  EXPECT_EQ(one_late.usual(), 1);
}

// Its observer holds up the one agent until the other has waited for it longer than twice the patience of a round: as a
// long product would.
TEST(SignsOfLife, GoOutWhileAnAgentComputes) {
  FederationSettings federation{.names = {"a", "b"}, .W = GossipMatrix::ring(2)};
  federation.settings.power.rank = 1;
  federation.patience = {.greeting = 60, .round = 1.5, .link = 60, .heartbeat = 0.5};
  std::atomic<int> asked = 0;
  const auto thrown = run_on_thread_links(federation.W, [&](Links& links) {
    AgentHooks hooks;
    if (links.self() == 0)
      hooks.observe = [&](const AgentProgress& now) {
        const int before = asked;
        while (now.entry.t == 0 && asked < before + 17) std::this_thread::yield();  // a fifth of a second each
        return true;
      };
    else
      hooks.go_on = [&] { return ++asked > 0; };
    const AgentOutcome outcome = run_agent(
        links, {.rows = test::random_block(20, 4, static_cast<std::uint64_t>(links.self()))}, federation, hooks);
    EXPECT_EQ(outcome.result.status, Status::converged);
  });
  test::expect_no_error(thrown);
}

}  // namespace
}  // namespace hearsay::protocol

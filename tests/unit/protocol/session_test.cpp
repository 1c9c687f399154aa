// The session by itself: two or three of them, and frames that are carried by hand.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/protocol/session.hpp>

#include "on_links.hpp"
#include "support/expect_error.hpp"

namespace hearsay::protocol {
namespace {

using test::expect_error;
using test::expect_in;

SessionOptions options_of(Index self, Index peer, std::uint64_t nonce) {
  return {.self = self,
          .agents = 2,
          .neighbours = {peer},
          .nonce = nonce,
          .configuration = 77,
          .facts = {{"rank", "5"}, {"features", "13"}},
          .agreement_rounds = 1,
          .largest_message = 1000,
          .patience = {.greeting = 60, .round = 30, .link = 5, .heartbeat = 1}};
}

// Everything that one has for the other, as it is or not at all.
std::vector<FrameBytes> taken(Session& from, Index to, double now = 0) {
  std::vector<FrameBytes> frames;
  while (const FrameBytes* frame = from.next_frame(to)) {
    frames.push_back(*frame);
    from.sent(to, now);
  }
  return frames;
}

void carry(Session& a, Session& b, double now = 0) {
  for (int turn = 0; turn < 6; ++turn) {
    for (const FrameBytes& frame : taken(a, b.options().self, now)) b.received(a.options().self, frame, now);
    for (const FrameBytes& frame : taken(b, a.options().self, now)) a.received(b.options().self, frame, now);
  }
}

std::vector<std::byte> message_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}
std::string heard_text(const Session& session, Index peer) {
  const auto bytes = session.heard(peer);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Pair {
  Session a{options_of(0, 1, 11), 0};
  Session b{options_of(1, 0, 22), 0};

  // Greets, and has the one round before the run has its id.
  void begin(std::uint64_t run = 5) {
    carry(a, b);
    round(FrameKind::gather, "a", "b");
    a.set_run(run);
    b.set_run(run);
  }
  void round(FrameKind kind, std::string_view from_a, std::string_view from_b) {
    a.begin_round(kind, message_of(from_a), 0);
    b.begin_round(kind, message_of(from_b), 0);
    carry(a, b);
  }
};

TEST(Session, GreetsAndThenExchangesRounds) {
  Pair pair;
  EXPECT_EQ(pair.a.state(), Session::State::greeting);
  pair.begin();
  EXPECT_EQ(pair.a.state(), Session::State::talking);

  pair.round(FrameKind::block, "from a", "from b");

  EXPECT_TRUE(pair.a.round_complete() && pair.b.round_complete());
  EXPECT_EQ(heard_text(pair.a, 1), "from b");
  EXPECT_EQ(heard_text(pair.b, 0), "from a");
  EXPECT_EQ(pair.a.rounds_begun(), 2U);
}

TEST(Session, EndsWithAFarewellOnEveryLink) {
  Pair pair;
  pair.begin();
  pair.a.leave({.origin = 0});
  EXPECT_FALSE(pair.a.everyone_left());
  pair.b.leave({.origin = 1});
  carry(pair.a, pair.b);

  EXPECT_TRUE(pair.a.everyone_left() && pair.b.everyone_left());
  EXPECT_FALSE(pair.a.failure() || pair.b.failure());
  ASSERT_TRUE(pair.a.farewell_of(1));
  EXPECT_FALSE(pair.a.farewell_of(1)->failed());
}

TEST(Session, RefusesOtherFactsWithBothValuesAtBothEnds) {
  SessionOptions other = options_of(1, 0, 22);
  other.facts = {{"rank", "6"}, {"features", "13"}, {"seed", "1"}};
  Session a(options_of(0, 1, 11), 0), b(other, 0);
  carry(a, b);

  ASSERT_TRUE(a.failure() && b.failure());
  expect_in(a.failure()->message, "agent 1 does not mean the same run: rank = 6 there, and 5 here; seed = 1 there");
  expect_in(b.failure()->message, "agent 0 does not mean the same run: rank = 5 there, and 6 here");
}

TEST(Session, RefusesAnotherConfigurationAndAnotherVersion) {
  SessionOptions other = options_of(1, 0, 22);
  other.configuration = 78;
  Session a(options_of(0, 1, 11), 0), b(other, 0);
  carry(a, b);
  ASSERT_TRUE(a.failure());
  expect_in(a.failure()->message, "configuration = 000000000000004e there, and 000000000000004d here");

  Session c(options_of(0, 1, 11), 0), d(options_of(1, 0, 22), 0);
  FrameBytes hello = taken(d, 0).front();
  hello[4] = std::byte{2};
  c.received(1, hello, 0);
  ASSERT_TRUE(c.failure());
  expect_in(c.failure()->message, "agent 1 sent a frame of protocol version 2: must be 3");
}

TEST(Session, DropsAndCountsCopiesAndWhatIsOver) {
  Pair pair;
  pair.begin();
  pair.a.begin_round(FrameKind::block, message_of("one"), 0);
  const auto frames = taken(pair.a, 1);
  for (int copy = 0; copy < 3; ++copy) pair.b.received(0, frames.front(), 0);  // b is a round behind: kept
  pair.b.begin_round(FrameKind::block, message_of("two"), 0);
  EXPECT_TRUE(pair.b.round_complete());
  EXPECT_EQ(pair.b.counts(0).duplicates, 2);
  carry(pair.a, pair.b);
  pair.round(FrameKind::block, "three", "four");

  pair.b.received(0, frames.front(), 0);

  EXPECT_EQ(pair.b.counts(0).stale, 1);
  EXPECT_FALSE(pair.b.failure());
  EXPECT_EQ(heard_text(pair.b, 0), "three");
}

TEST(Session, DropsFramesOfAnEarlierRun) {
  Pair before;
  before.begin(/*run=*/4);
  before.a.begin_round(FrameKind::block, message_of("old"), 0);
  const auto block = taken(before.a, 1);
  before.a.leave({.kind = Ending::Kind::error, .origin = 0, .message = "old"});
  const auto farewell = taken(before.a, 1);
  Pair old;
  const auto hello = taken(old.a, 1);

  Pair pair;
  pair.a = Session(options_of(0, 1, 33), 0);  // the same agents, and another run
  for (const auto* frames : {&hello, &block, &farewell}) pair.b.received(0, frames->front(), 0);
  pair.begin();
  for (const auto* frames : {&hello, &block, &farewell}) pair.b.received(0, frames->front(), 0);
  pair.round(FrameKind::block, "new", "new");

  EXPECT_FALSE(pair.b.failure());
  EXPECT_EQ(heard_text(pair.b, 0), "new");
  EXPECT_GE(pair.b.counts(0).foreign, 4);
}

TEST(Session, RefusesWhatIsFurtherAheadThanTheNextRound) {
  Pair pair;
  pair.begin();
  const FrameBytes ahead =
      to_bytes({.kind = FrameKind::block, .run = 5, .configuration = 77, .epoch = 0, .sender = 0, .round = 2});

  pair.b.received(0, ahead, 0);

  ASSERT_TRUE(pair.b.failure());
  expect_in(pair.b.failure()->message, "agent 0 sent a frame of round 2: must be 1 at most, the next");
}

TEST(Session, RefusesFramesThatAreNotWhatTheyShouldBe) {
  const Frame right{.kind = FrameKind::block, .run = 5, .configuration = 77, .epoch = 0, .sender = 0, .round = 1};
  const auto refused = [](Frame frame, const std::string& words) {
    Pair pair;
    pair.begin();
    pair.b.begin_round(FrameKind::block, message_of("b"), 0);
    pair.b.received(0, to_bytes(frame), 0);
    ASSERT_TRUE(pair.b.failure()) << words;
    expect_in(pair.b.failure()->message, words);
    EXPECT_EQ(pair.b.state(), Session::State::ended);
    const auto left = taken(pair.b, 0);  // and a hears of it
    ASSERT_FALSE(left.empty());
    pair.a.received(1, left.back(), 0);
    ASSERT_TRUE(pair.a.failure());
    EXPECT_EQ(pair.a.failure()->origin, 1);
    EXPECT_EQ(pair.a.failure()->message, pair.b.failure()->message);
  };
  const std::vector<std::byte> long_message(1001);
  Frame frame = right;
  frame.sender = 1;
  refused(frame, "sender is 1: must be 0");
  frame = right;
  frame.configuration = 3;
  refused(frame, "configuration 0000000000000003: must be 000000000000004d");
  frame = right;
  frame.epoch = 1;
  refused(frame, "epoch 1: must be 0");
  frame = right;
  frame.kind = FrameKind::gather;
  refused(frame, "a gather in round 1: must be a block");
  frame = right;
  frame.message_bytes = long_message.size();
  frame.payload = long_message;
  refused(frame, "a message of 1001 bytes: must be 1000 at most");
}

TEST(Session, SendsAgainWhatABrokenLinkLost) {
  Pair pair;
  pair.begin();
  pair.a.begin_round(FrameKind::block, message_of("one"), 0);
  static_cast<void>(taken(pair.a, 1));  // lost
  pair.a.closed(1, "broke", 0);
  pair.b.closed(0, "broke", 0);
  pair.b.begin_round(FrameKind::block, message_of("two"), 0);
  pair.a.opened(1, 1);
  pair.b.opened(0, 1);
  carry(pair.a, pair.b, 1);

  EXPECT_TRUE(pair.a.round_complete() && pair.b.round_complete());
  EXPECT_EQ(heard_text(pair.b, 0), "one");
  EXPECT_EQ(heard_text(pair.a, 1), "two");
  EXPECT_EQ(pair.a.counts(1).reconnections, 1);
}

TEST(Session, TellsWhoBeganAnewInTheMiddleOfARun) {
  Pair pair;
  pair.begin();
  pair.b.begin_round(FrameKind::block, message_of("b"), 0);
  Session again(options_of(0, 1, 99), 0);
  carry(again, pair.b);

  ASSERT_TRUE(pair.b.failure());
  expect_in(pair.b.failure()->message, "agent 0 has begun anew");
}

TEST(Session, MeetsAnAgentThatWasStartedAgainBeforeTheRunBegan) {
  Session a(options_of(0, 1, 11), 0);
  {
    Session early(options_of(1, 0, 21), 0);
    for (const FrameBytes& frame : taken(early, 0)) a.received(1, frame, 0);
    static_cast<void>(taken(a, 1));
    a.closed(1, "it was stopped", 1);
  }
  Session b(options_of(1, 0, 22), 2);
  a.opened(1, 2);
  carry(a, b, 2);

  EXPECT_EQ(a.state(), Session::State::talking);
  EXPECT_EQ(b.state(), Session::State::talking);
}

// ---- Time -----------------------------------------------------------------------------------------------------------

TEST(Session, WaitsForGreetingsNoLongerThanItWasTold) {
  Session a(options_of(0, 1, 11), 100);
  EXPECT_EQ(a.next_tick(), 160);
  a.tick(159.9);
  EXPECT_FALSE(a.failure());
  a.tick(160);

  ASSERT_TRUE(a.failure());
  expect_in(a.failure()->message, "not ready within 60 s: agent 1 (not heard of)");
}

TEST(Session, WaitsTwiceAsLongForOneThatIsAlive) {
  for (const bool alive : {false, true}) {
    Pair pair;
    pair.begin();
    pair.a.begin_round(FrameKind::block, message_of("one"), 0);
    for (double now = 1; alive && now < 30; ++now) {
      pair.b.tick(now);
      for (const FrameBytes& frame : taken(pair.b, 0, now)) pair.a.received(1, frame, now);
    }
    pair.a.tick(29.9);
    EXPECT_FALSE(pair.a.failure());
    pair.a.tick(30);
    EXPECT_EQ(pair.a.failure().has_value(), !alive);
    pair.a.tick(60);
    ASSERT_TRUE(pair.a.failure());
    expect_in(pair.a.failure()->message, "agent 1 did not send its message of round 1 within ");
  }
}

// Whoever has greeted its own neighbours waits for one that still waits for others.
TEST(Session, WaitsForANeighbourThatStillGreetsItsOwn) {
  SessionOptions middle = options_of(1, 0, 22);
  middle.agents = 3;
  middle.neighbours = {0, 2};
  SessionOptions left = options_of(0, 1, 11);
  left.agents = 3;
  left.patience = middle.patience = {.greeting = 3600, .round = 30, .link = 5, .heartbeat = 1};
  Session a(left, 0), b(middle, 0);
  carry(a, b);
  ASSERT_EQ(a.state(), Session::State::talking);
  ASSERT_EQ(b.state(), Session::State::greeting);
  a.begin_round(FrameKind::gather, message_of("a"), 0);
  for (double now = 0; now < 3000; ++now) {
    a.tick(now);
    b.tick(now);
    carry(a, b, now);
  }
  EXPECT_FALSE(a.failure() || b.failure());

  a.tick(3040);  // and b has not been heard of since

  ASSERT_TRUE(a.failure());
  expect_in(a.failure()->message, "agent 1 did not send its message of round 0");
}

TEST(Session, SaysFarewellAgainWhereALinkBrokeAtTheEnd) {
  Pair pair;
  pair.begin();
  pair.a.begin_round(FrameKind::block, message_of("last"), 0);
  pair.b.begin_round(FrameKind::block, message_of("last"), 0);
  for (const FrameBytes& frame : taken(pair.b, 0)) pair.a.received(1, frame, 0);
  pair.a.leave({.origin = 0});
  static_cast<void>(taken(pair.a, 1));  // its block and its farewell get lost
  pair.a.closed(1, "broke", 0);
  pair.b.closed(0, "broke", 0);
  pair.a.opened(1, 1);
  pair.b.opened(0, 1);
  carry(pair.a, pair.b, 1);

  EXPECT_TRUE(pair.b.round_complete());
  EXPECT_FALSE(pair.b.failure());
  EXPECT_TRUE(pair.b.farewell_of(0));
}

TEST(Session, EndsWhenALinkIsGoneForTooLong) {
  Pair pair;
  pair.begin();
  pair.a.begin_round(FrameKind::block, message_of("one"), 10);
  pair.a.closed(1, "connection reset", 11);
  EXPECT_EQ(pair.a.next_tick(), 16);
  pair.a.tick(15.9);
  EXPECT_FALSE(pair.a.failure());
  pair.a.tick(16);

  ASSERT_TRUE(pair.a.failure());
  expect_in(pair.a.failure()->message, "the link to agent 1 is gone (connection reset)");
}

TEST(Session, SaysThatAnotherEndedWhereAMessageWasExpected) {
  Pair pair;
  pair.begin();
  pair.b.leave({.origin = 1});
  pair.a.begin_round(FrameKind::block, message_of("one"), 0);
  carry(pair.a, pair.b);

  ASSERT_TRUE(pair.a.failure());
  expect_in(pair.a.failure()->message, "agent 1 ended its run, and agent 0 expected its message of round 1");
}

TEST(Session, RefusesOptionsThatCannotBe) {
  const auto refused = [](const std::function<void(SessionOptions&)>& change, const std::string& words) {
    SessionOptions options = options_of(0, 1, 11);
    change(options);
    expect_error<InvalidArgument>([&] { Session session(options, 0); }, {words});
  };
  refused([](auto& o) { o.self = 2; }, "agent 2: must lie in [0, 2)");
  refused([](auto& o) { o.neighbours = {0}; }, "neighbour 0 of agent 0");
  refused([](auto& o) { o.nonce = 0; }, "nonce = 0");
  refused([](auto& o) { o.patience.round = 0; }, "patience of 0 s: must be positive");
  refused([](auto& o) { o.patience.greeting = std::nan(""); }, "patience of nan s");
}

}  // namespace
}  // namespace hearsay::protocol

#include "federation.hpp"

namespace hearsay::test {

namespace {

using Kind = LinkEvent::Kind;

TEST_F(Pair, CarriesFramesBothWaysInOrder) {
  GrpcLinks oslo(dialled());
  GrpcLinks boston(dialler(oslo.port()));
  ASSERT_EQ(wait_for(oslo, Kind::opened).peer, 0);
  ASSERT_EQ(wait_for(boston, Kind::opened).peer, 1);

  constexpr std::size_t count = 500;
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(boston.send(1, frame_of(i, 5000), boston.now() + patience));
    ASSERT_TRUE(oslo.send(0, frame_of(1000 + i), oslo.now() + patience));
    const LinkEvent at_oslo = wait_for(oslo, Kind::frame), at_boston = wait_for(boston, Kind::frame);
    ASSERT_EQ(number_in(at_oslo.frame), i);
    ASSERT_EQ(at_oslo.frame.size(), 5000u);
    ASSERT_EQ(number_in(at_boston.frame), 1000 + i);
  }
  EXPECT_EQ(boston.traffic(1).bytes_sent, 5000 * std::int64_t{count});
  EXPECT_EQ(oslo.traffic(0).frames_received, std::int64_t{count});
}

TEST_F(Pair, TakesNoFrameWithoutALink) {
  GrpcLinks oslo(dialled());

  EXPECT_FALSE(oslo.send(0, frame_of(1), oslo.now() + patience));
  EXPECT_EQ(oslo.poll(oslo.now()).kind, Kind::idle);
  EXPECT_NE(oslo.trouble(0), "");
}

TEST_F(Pair, HoldsTheSenderBackAndLosesNothing) {
  GrpcLinks oslo(dialled());
  GrpcLinks boston(dialler(oslo.port()));
  ASSERT_EQ(wait_for(boston, Kind::opened).peer, 1);

  // nobody polls at the other end: buffers fill, and then no frame is taken any more
  constexpr std::size_t size = 64 << 10;
  std::size_t taken = 0;
  while (taken < 10000 && boston.send(1, frame_of(taken, size), boston.now() + 0.5)) ++taken;
  ASSERT_LT(taken * size, std::size_t{64} << 20);

  ASSERT_EQ(wait_for(oslo, Kind::opened).peer, 0);
  for (std::size_t i = 0; i < taken; ++i) ASSERT_EQ(number_in(wait_for(oslo, Kind::frame).frame), i);
  EXPECT_TRUE(boston.send(1, frame_of(taken), boston.now() + patience));
  EXPECT_EQ(number_in(wait_for(oslo, Kind::frame).frame), taken);
}

TEST_F(Pair, DeliversWhatWasSentBeforeItCloses) {
  GrpcLinks oslo(dialled());
  {
    GrpcLinks boston(dialler(oslo.port()));
    ASSERT_EQ(wait_for(boston, Kind::opened).peer, 1);
    for (std::size_t i = 0; i < 8; ++i) ASSERT_TRUE(boston.send(1, frame_of(i, 60000), boston.now() + patience));
    boston.close(boston.now() + patience);
  }
  ASSERT_EQ(wait_for(oslo, Kind::opened).peer, 0);
  for (std::size_t i = 0; i < 8; ++i) ASSERT_EQ(number_in(wait_for(oslo, Kind::frame).frame), i);
  const LinkEvent end = wait_for(oslo, Kind::closed);
  EXPECT_EQ(end.peer, 0);
  EXPECT_EQ(end.reason, "agent 0 (boston) left");
}

TEST_F(Pair, DeliversWhatTheDialledEndSentBeforeItCloses) {
  auto oslo = std::make_unique<GrpcLinks>(dialled());
  GrpcLinks boston(dialler(oslo->port()));
  ASSERT_EQ(wait_for(*oslo, Kind::opened).peer, 0);
  for (std::size_t i = 0; i < 8; ++i) ASSERT_TRUE(oslo->send(0, frame_of(i, 60000), oslo->now() + patience));
  oslo->close(oslo->now() + patience);
  oslo.reset();

  for (std::size_t i = 0; i < 8; ++i) ASSERT_EQ(number_in(wait_for(boston, Kind::frame).frame), i);
  EXPECT_EQ(wait_for(boston, Kind::closed).reason, "agent 1 (oslo) left");
}

TEST_F(Pair, ComesBackWhenTheOtherEndIsStartedAgain) {
  GrpcOptions options = dialled();
  auto oslo = std::make_unique<GrpcLinks>(options);
  options.listen = "127.0.0.1:" + std::to_string(oslo->port());
  GrpcLinks boston(dialler(oslo->port()));
  ASSERT_EQ(wait_for(boston, Kind::opened).peer, 1);

  oslo.reset();
  ASSERT_EQ(wait_for(boston, Kind::closed).peer, 1);
  oslo = std::make_unique<GrpcLinks>(options);

  ASSERT_EQ(wait_for(boston, Kind::opened).peer, 1);
  ASSERT_TRUE(boston.send(1, frame_of(7), boston.now() + patience));
  EXPECT_EQ(number_in(wait_for(*oslo, Kind::frame).frame), 7u);
}

TEST_F(Pair, LetsANewerCallOfTheSameAgentTakeThePlaceOfTheOlder) {
  GrpcLinks oslo(dialled());
  GrpcLinks first(dialler(oslo.port()));
  ASSERT_EQ(wait_for(oslo, Kind::opened).peer, 0);
  GrpcOptions once = dialler(oslo.port());
  once.first_retry_seconds = once.slowest_retry_seconds = 1000;

  GrpcLinks second(once);

  EXPECT_EQ(wait_for(oslo, Kind::closed).reason, "a newer connection took its place");
  ASSERT_EQ(wait_for(oslo, Kind::opened).peer, 0);
  EXPECT_EQ(wait_for(first, Kind::closed).reason, "a newer connection took its place");
}

TEST_F(Pair, KeepsTheCallOfTheLowerNumberWhereBothDial) {
  GrpcLinks oslo(dialled());
  GrpcOptions both = dialler(oslo.port());
  both.listen = "127.0.0.1:0";
  GrpcLinks boston(both);
  ASSERT_EQ(wait_for(boston, Kind::opened).peer, 1);
  GrpcOptions calls_back = dialled();  // a second Oslo, that nobody can dial and that dials Boston
  calls_back.listen.clear();
  calls_back.peers[0].address = "127.0.0.1:" + std::to_string(boston.port());

  GrpcLinks other(calls_back);

  EXPECT_TRUE(comes_true(other, [&] { return other.trouble(0) == "agent 0 has called agent 1 already"; }));
  ASSERT_TRUE(boston.send(1, frame_of(3), boston.now() + patience));
  EXPECT_EQ(number_in(wait_for(oslo, Kind::frame).frame), 3u);
}

TEST_F(Pair, GivesUpALinkThatSendsMoreThanWasAgreedOn) {
  GrpcLinks oslo(dialled());
  GrpcOptions larger = dialler(oslo.port());
  larger.largest_frame = 1 << 20;
  GrpcLinks boston(larger);
  ASSERT_EQ(wait_for(boston, Kind::opened).peer, 1);

  ASSERT_TRUE(boston.send(1, frame_of(1, (64 << 10) + 1), boston.now() + patience));

  EXPECT_EQ(wait_for(oslo, Kind::closed).peer, 0);
  EXPECT_EQ(oslo.traffic(0).frames_received, 0);
  EXPECT_NE(wait_for(boston, Kind::closed).reason.find("larger than max"), std::string::npos);
}

TEST_F(Pair, RefusesToSendMoreThanWasAgreedOn) {
  GrpcLinks oslo(dialled());

  EXPECT_THROW(oslo.send(0, frame_of(1, (64 << 10) + 1), oslo.now()), InvalidArgument);
  EXPECT_THROW(oslo.send(5, frame_of(1), oslo.now()), InvalidArgument);
}

TEST_F(Pair, SeesThatTheOtherIsThereWithoutDisturbingIt) {
  GrpcLinks oslo(dialled());
  GrpcLinks boston(dialler(oslo.port()));
  ASSERT_EQ(wait_for(boston, Kind::opened).peer, 1);
  GrpcOptions look = dialler(oslo.port());
  look.checking = true;

  GrpcLinks checking(look);

  ASSERT_EQ(wait_for(checking, Kind::opened).peer, 1);
  EXPECT_NE(checking.facts(1).version, "");
  EXPECT_LT(std::abs(checking.facts(1).clock_ahead), patience);
  ASSERT_TRUE(boston.send(1, frame_of(9), boston.now() + patience));
  EXPECT_EQ(number_in(wait_for(oslo, Kind::frame).frame), 9u);
}

TEST_F(Pair, SeesEachOtherWhereBothOnlyLook) {
  GrpcOptions look = dialled();
  look.checking = true;
  GrpcLinks oslo(look);
  GrpcOptions back = dialler(oslo.port());
  back.checking = true;
  GrpcLinks boston(back);

  EXPECT_EQ(wait_for(oslo, Kind::opened).peer, 0);
  EXPECT_EQ(wait_for(boston, Kind::opened).peer, 1);
}

TEST_F(Pair, SaysWhereItCannotListen) {
  GrpcLinks oslo(dialled());
  GrpcOptions same = dialled();
  same.listen = "127.0.0.1:" + std::to_string(oslo.port());

  EXPECT_THROW(GrpcLinks{same}, CommunicationError);
}

TEST_F(Pair, RefusesALinkThatNobodyCouldDial) {
  GrpcOptions nobody = dialled();
  nobody.listen.clear();

  EXPECT_THROW(GrpcLinks{nobody}, InvalidArgument);
}

TEST_F(Pair, ReadsCertificatesThatWereRenewed) {
  authority.issue(folder.path(), "boston", "DNS:boston", Authority::around_now(-2 * day, -day));
  GrpcOptions options = dialled();
  options.reload_seconds = 1;
  GrpcLinks oslo(options);
  GrpcOptions other = dialler(oslo.port());
  other.reload_seconds = 1;
  other.slowest_retry_seconds = 0.5;
  GrpcLinks boston(other);
  ASSERT_TRUE(comes_true(boston, [&] { return boston.trouble(1) != "it has not answered yet"; }));

  authority.issue(folder.path(), "boston", "DNS:boston");

  EXPECT_EQ(wait_for(boston, Kind::opened).peer, 1);
}

}  // namespace

}  // namespace hearsay::test

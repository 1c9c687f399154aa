// The network by itself: what a round's weights are, who hears of whom, who is a member.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/faults.hpp>
#include <hearsay/gossip.hpp>
#include <hearsay/threads.hpp>

#include "runs.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::crash;
using test::delay;
using test::drop;
using test::loss;
using test::random_block;
using test::rejoin;

static_assert(UnreliableNetwork<FaultyNetwork> && !UnreliableNetwork<LocalNetwork>);

Block<double> dense(const CsrMatrix<double>& W) {
  Block<double> out = Block<double>::Zero(W.rows, W.cols);
  for (Index i = 0; i < W.rows; ++i)
    for (auto e = W.row_start[static_cast<std::size_t>(i)]; e < W.row_start[static_cast<std::size_t>(i) + 1]; ++e)
      out(i, W.columns[static_cast<std::size_t>(e)]) = W.values[static_cast<std::size_t>(e)];
  return out;
}

// What W makes of one round of votes alone.
Block<double> next_weights(FaultyNetwork& net) {
  Block<double> nothing(net.agents(), 0), votes(net.agents(), 0);
  net.mix({}, nothing, nothing, nothing, votes);
  return dense(net.round_matrix());
}

TEST(FaultyNetwork, WithoutFaultsMixesAsALocalNetworkDoes) {
  const GossipMatrix W = GossipMatrix::metropolis(random_regular_graph(20, 4, 1));
  LocalNetwork local(W);
  FaultyNetwork faulty(W, {});
  const Block<double> Z = random_block(20, 30, 1);

  for (const GossipKind kind : {GossipKind::plain, GossipKind::chebyshev})
    EXPECT_EQ(gossip(faulty, kind, 7, Z), gossip(local, kind, 7, Z));
  EXPECT_EQ(faulty.traffic().rounds, local.traffic().rounds);
  EXPECT_EQ(faulty.traffic().messages, local.traffic().messages);
}

TEST(FaultyNetwork, KeepsEveryRoundSymmetricAndDoublyStochastic) {
  FaultyNetwork net(GossipMatrix::metropolis(random_regular_graph(20, 4, 1)),
                    {.links = {drop(0.3), loss(0.2), delay(0.2, 9)}, .seed = 3});

  for (int round = 0; round < 20; ++round) {
    const Block<double> W = next_weights(net);
    EXPECT_EQ(W, W.transpose());
    EXPECT_GE(W.minCoeff(), 0);
    EXPECT_LE((W.rowwise().sum() - Vector<double>::Ones(20)).cwiseAbs().maxCoeff(), 1e-15);
  }
  EXPECT_GT(net.fault_counts().drops, 0);
  EXPECT_GT(net.fault_counts().losses, 0);
  EXPECT_GT(net.fault_counts().late, 0);
}

TEST(FaultyNetwork, KeepsTheMeanWhateverTheGossip) {
  for (const MessagePrecision precision : {MessagePrecision::real64, MessagePrecision::bfloat16}) {
    FaultyNetwork net(GossipMatrix::ring(10), {.links = {drop(0.3), loss(0.1)}}, precision);
    const Block<double> Z = random_block(10, 40, 2);

    for (const GossipKind kind : {GossipKind::plain, GossipKind::accelerated, GossipKind::chebyshev}) {
      const Block<double> out = gossip(net, kind, 30, Z);
      EXPECT_LE((out - Z).colwise().mean().norm(), 1e-13 * Z.norm()) << name(kind) << ' ' << name(precision);
    }
  }
}

TEST(PlainGossip, ContractsUnderDropsThatMakeAcceleratedGossipDiverge) {
  const Block<double> Z = random_block(32, 20, 1);
  const auto spread = [](const Block<double>& Y) { return (Y.rowwise() - Y.colwise().mean()).norm(); };
  const auto left = [&](GossipKind kind) {
    FaultyNetwork net(GossipMatrix::ring(32), {.links = {drop(0.5)}, .seed = 1});
    return spread(gossip(net, kind, 80, Z)) / spread(Z);
  };

  EXPECT_LE(left(GossipKind::plain), 0.5);
  EXPECT_GE(left(GossipKind::chebyshev), 1e4);
}

TEST(ADroppedLink, LendsItsWeightToItsTwoEndsInTheRoundsOfTheScript) {
  FaultyNetwork net(GossipMatrix::ring(5), {.links = {{.from = 3, .to = 2, .first_round = 2, .last_round = 3}}});
  const Block<double> whole = dense(GossipMatrix::ring(5).matrix());
  Block<double> without = whole;
  without(2, 3) = without(3, 2) = 0;
  without(2, 2) = without(3, 3) = 0.75;

  for (int round = 0; round < 6; ++round)
    EXPECT_EQ(next_weights(net), round == 2 || round == 3 ? without : whole) << round;
  EXPECT_EQ(net.fault_counts().drops, 2);
}

TEST(AOneSidedLoss, TakesTheLinkOutInBothDirections) {
  FaultyNetwork net(GossipMatrix::ring(5), {.links = {{.kind = LinkFault::Kind::loss, .from = 1, .to = 0}}});

  const Block<double> W = next_weights(net);

  EXPECT_EQ(W(0, 1), 0);
  EXPECT_EQ(W(1, 0), 0);
  EXPECT_EQ(W(1, 2), 0.25);
  EXPECT_EQ(net.fault_counts().losses, 1);
}

TEST(ADelay, WithinThePatienceIsWaitedForAndBeyondItIsALoss) {
  const Faults faults{.links = {{.kind = LinkFault::Kind::delay, .from = 0, .to = 1, .rounds_late = 2}}, .patience = 2};
  Faults impatient = faults;
  impatient.patience = 1;
  FaultyNetwork waits(GossipMatrix::ring(5), faults), gives_up(GossipMatrix::ring(5), impatient);

  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(next_weights(waits)(0, 1), 0.25);
    EXPECT_EQ(next_weights(gives_up)(0, 1), 0);
  }

  EXPECT_EQ(waits.fault_counts().waited_rounds, 6);
  EXPECT_EQ(waits.fault_counts().late, 0);
  EXPECT_EQ(gives_up.fault_counts().waited_rounds, 0);
  EXPECT_EQ(gives_up.fault_counts().late, 6);  // in either direction
}

TEST(ProbabilitiesOfFaults, AreWhatTheyShouldBe) {
  FaultyNetwork net(GossipMatrix::ring(50), {.links = {drop(0.2)}, .seed = 11});
  for (int round = 0; round < 200; ++round) next_weights(net);

  const double share = static_cast<double>(net.fault_counts().drops) / (50 * 200);
  EXPECT_NEAR(share, 0.2, 5 * std::sqrt(0.2 * 0.8 / (50 * 200)));
}

TEST(FaultsDrawnFromASeed, AreTheSameEveryTimeAndForAnyNumberOfThreads) {
  const Block<double> Z = random_block(60, 900, 3);
  const auto mixed = [&](int count, std::uint64_t seed) {
    const int before = threads();
    set_threads(count);
    FaultyNetwork net(GossipMatrix::metropolis(random_regular_graph(60, 4, 2)),
                      {.links = {drop(0.2), loss(0.1)}, .seed = seed});
    const Block<double> out = gossip(net, GossipKind::plain, 6, Z);
    set_threads(before);
    return out;
  };

  EXPECT_EQ(mixed(1, 5), mixed(3, 5));
  EXPECT_NE(mixed(1, 5), mixed(1, 6));
}

TEST(FaultyNetwork, CountsBlocksVotesAcknowledgementsAndWhatTellsWhoWasHeard) {
  const auto traffic = [](const Faults& faults) {
    FaultyNetwork net(GossipMatrix::ring(10), faults);
    GossipWorkspace workspace;
    Block<double> out, votes = Block<double>::Zero(10, 3);
    gossip(net, GossipKind::plain, 4, random_block(10, 30, 1), out, votes, workspace);
    return std::pair(net.traffic(), net.fault_counts());
  };
  const std::int64_t messages = 4 * 20, block = 30 * 8, votes = 3 * 8, hearing = 2;  // ten bits

  const auto [dropped, drops] = traffic({.links = {drop(0.5)}});
  EXPECT_EQ(dropped.messages, messages);  // sent, if in vain
  EXPECT_EQ(dropped.bytes, messages * (block + votes + hearing));
  EXPECT_EQ(drops.control_bytes, messages * hearing);

  const auto [lost, losses] = traffic({.links = {loss(0.3)}});
  EXPECT_GT(losses.control_messages, messages);  // an answer to each, and some again
  EXPECT_EQ(losses.control_bytes, messages * hearing + 8 * losses.control_messages);
  EXPECT_EQ(lost.messages, messages + losses.control_messages);
  EXPECT_EQ(lost.bytes, messages * (block + votes) + losses.control_bytes);
}

TEST(RoundedMessages, ThatWereMissedGoAgainWithTheNext) {
  const auto bytes = [](const Faults& faults) {
    FaultyNetwork net(GossipMatrix::ring(4), faults, MessagePrecision::bfloat16);
    gossip(net, GossipKind::plain, 8, random_block(4, 10, 1));
    return net.traffic().bytes - net.fault_counts().control_bytes;
  };

  // Four links; of one the messages grow by two bytes a number, and end at eight.
  EXPECT_EQ(bytes({}), 8 * 8 * 10 * 2);
  EXPECT_EQ(bytes({.links = {{.from = 0, .to = 1}}}), 6 * 8 * 10 * 2 + 2 * 10 * (2 + 4 + 6 + 5 * 8));
}

TEST(Votes, ReachEveryoneHoweverManyLinksAreDown) {
  FaultyNetwork net(GossipMatrix::ring(16), {.links = {drop(0.6)}, .seed = 2});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Block<double> votes = random_block(16, 2, seed);
    const Eigen::RowVectorXd largest = votes.colwise().maxCoeff();

    agree_on_maximum(net, votes);

    for (Index i = 0; i < 16; ++i) EXPECT_EQ(votes.row(i), largest) << i;
  }
  EXPECT_GT(net.traffic().control_rounds, 20 * net.diameter());
}

TEST(Votes, ThatCannotReachSomeoneEndInAnErrorThatNamesIt) {
  FaultyNetwork net(GossipMatrix::metropolis(path_graph(4)), {.links = {{.from = 1, .to = 2}}, .give_up = 50});
  Block<double> votes = random_block(4, 1, 1);

  try {
    agree_on_maximum(net, votes);
    FAIL() << "agents that never heard of each other agreed";
  } catch (const CommunicationError& error) {
    EXPECT_EQ(std::string(error.what()),
              "agent 0 has not heard of agent 2 in 50 rounds: must be reached within give_up = 50");
  }
}

TEST(ACrash, LeavesMetropolisWeightsOnWhatIsLeftAndARejoinTheOldOnes) {
  FaultyNetwork net(GossipMatrix::ring(5), {.agents = {crash(2, 3), rejoin(2, 7)}});
  const Block<double> whole = dense(GossipMatrix::ring(5).matrix());

  EXPECT_FALSE(net.begin_iteration(2));
  EXPECT_EQ(next_weights(net), whole);
  const auto crashed = net.begin_iteration(3);
  ASSERT_TRUE(crashed);
  EXPECT_EQ(crashed->iteration, 3);
  EXPECT_EQ(crashed->reason, "agent 2 crashed");
  EXPECT_EQ(crashed->members, (std::vector<Index>{0, 1, 3, 4}));
  const Block<double> W = next_weights(net);
  for (const auto& [i, j] : {std::pair(0, 1), std::pair(0, 4), std::pair(3, 4)}) EXPECT_DOUBLE_EQ(W(i, j), 1.0 / 3);
  EXPECT_EQ(W(2, 2), 1);
  EXPECT_EQ(W(1, 2) + W(2, 3), 0);
  EXPECT_EQ(net.diameter(), 3);
  const GossipSpectrum path = gossip_spectrum(GossipMatrix::metropolis(path_graph(4)));
  EXPECT_NEAR(net.spectrum().hi, path.hi, 1e-14);

  const auto back = net.begin_iteration(7);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->reason, "agent 2 rejoined");
  EXPECT_EQ(next_weights(net), whole);
  EXPECT_EQ(net.fault_counts().crashes, 1);
  EXPECT_EQ(net.fault_counts().rejoins, 1);
}

TEST(MembersAfterACrash, AreTheLargestGroupAndTheFirstOfEqualOnes) {
  FaultyNetwork larger(GossipMatrix::metropolis(path_graph(7)), {.agents = {crash(2, 1)}});
  const auto epoch = larger.begin_iteration(1);
  ASSERT_TRUE(epoch);
  EXPECT_EQ(epoch->members, (std::vector<Index>{3, 4, 5, 6}));
  EXPECT_EQ(epoch->reason, "agent 2 crashed; agents 0, 1 cut off");
  EXPECT_EQ(larger.fault_counts().cut_off, 2);

  FaultyNetwork equal(GossipMatrix::metropolis(path_graph(7)), {.agents = {crash(3, 1), crash(5, 2)}});
  EXPECT_EQ(equal.begin_iteration(1)->members, (std::vector<Index>{0, 1, 2}));
  EXPECT_FALSE(equal.begin_iteration(2));  // it was cut off already

  FaultyNetwork star(GossipMatrix::metropolis(star_graph(4)), {.agents = {crash(0, 1)}});
  EXPECT_EQ(star.begin_iteration(1)->members, std::vector<Index>{1});  // the dead count for nothing
}

TEST(AQuorum, ThatIsNotThereEndsTheRun) {
  FaultyNetwork net(GossipMatrix::metropolis(path_graph(7)), {.agents = {crash(3, 5)}, .quorum = 4});

  try {
    net.begin_iteration(5);
    FAIL() << "three agents went on";
  } catch (const CommunicationError& error) {
    EXPECT_EQ(std::string(error.what()),
              "iteration 5: 3 of 7 agents are left together: must be at least the quorum of 4");
  }
  FaultyNetwork nobody(GossipMatrix::ring(2), {.agents = {crash(0, 1), crash(1, 1)}});
  EXPECT_THROW(nobody.begin_iteration(1), CommunicationError);
}

TEST(WhoRejoins, TakesTheBlockOfANeighbourThatHasOne) {
  FaultyNetwork net(GossipMatrix::metropolis(path_graph(5)), {.agents = {crash(2, 1), rejoin(2, 2)}});
  net.begin_iteration(1);  // 0 and 1 go on; 3 and 4 are cut off
  const std::int64_t before = net.traffic().bytes;
  ASSERT_TRUE(net.begin_iteration(2));
  const std::int64_t meeting = net.traffic().bytes - before;
  Block<double> X = random_block(5, 6, 1);
  const Block<double> old = X;

  net.hand_over(X);

  EXPECT_EQ(X.topRows(2), old.topRows(2));
  for (Index i = 2; i < 5; ++i) EXPECT_EQ(X.row(i), old.row(1));
  EXPECT_EQ(net.traffic().bytes - before - meeting, 3 * 6 * 8);
}

}  // namespace
}  // namespace hearsay

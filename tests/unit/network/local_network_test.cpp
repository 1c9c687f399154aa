#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/gossip.hpp>
#include <hearsay/threads.hpp>

#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::random_block;

class Threads {
 public:
  explicit Threads(int count) : before_(threads()) { set_threads(count); }
  ~Threads() { set_threads(before_); }

 private:
  int before_;
};

TEST(LocalNetwork, MixesByTheRowsOfItsMatrix) {
  LocalNetwork net(GossipMatrix::ring(4));
  Block<double> Z(4, 1), out(4, 1), votes(4, 0);
  Z << 4, 0, 8, 0;

  net.mix({}, Z, Z, out, votes);

  EXPECT_EQ(out, (Block<double>(4, 1) << 2, 3, 4, 3).finished());
}

TEST(LocalNetwork, AddsOwnAndPreviousBlocksAsTheStepSays) {
  LocalNetwork net(GossipMatrix::ring(5));
  const Block<double> Z = random_block(5, 7, 1), Z_prev = random_block(5, 7, 2);
  Block<double> mixed(5, 7), out(5, 7), votes(5, 0);

  net.mix({}, Z, Z, mixed, votes);
  net.mix({.mixed = 1.5, .self = -0.25, .previous = -0.5}, Z, Z_prev, out, votes);

  EXPECT_LE((out - (1.5 * mixed - 0.25 * Z - 0.5 * Z_prev)).norm(), 1e-15);
}

TEST(LocalNetwork, GivesTheSameBitsForAnyNumberOfThreads) {
  const Block<double> Z = random_block(300, 5000, 3);  // more columns than a panel
  std::vector<Block<double>> results;
  for (const int count : {1, 2, 5}) {
    const Threads scope(count);
    LocalNetwork net(GossipMatrix::metropolis(random_regular_graph(300, 4, 1)));
    results.push_back(gossip(net, GossipKind::chebyshev, 3, Z));
  }

  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(LocalNetwork, CountsRoundsMessagesAndBytes) {
  LocalNetwork net(GossipMatrix::ring(10));
  GossipWorkspace workspace;
  Block<double> out, votes = Block<double>::Zero(10, 2);

  gossip(net, GossipKind::accelerated, 7, random_block(10, 30, 1), out, votes, workspace);
  agree_on_maximum(net, votes);

  EXPECT_EQ(net.traffic().rounds, 7);
  EXPECT_EQ(net.traffic().control_rounds, 5);
  EXPECT_EQ(net.traffic().messages, (7 + 5) * 20);
  EXPECT_EQ(net.traffic().bytes, 20 * 8 * (7 * (30 + 2) + 5 * 2));
}

TEST(AgreeOnMaximum, BringsTheLargestVoteToEveryoneInDiameterRounds) {
  for (const GossipMatrix& W :
       {GossipMatrix::ring(9), GossipMatrix::metropolis(path_graph(12)), GossipMatrix::ring(1)}) {
    LocalNetwork net(W);
    Block<double> votes = random_block(W.agents(), 3, 5);
    const Eigen::RowVectorXd largest = votes.colwise().maxCoeff();

    agree_on_maximum(net, votes);

    for (Index i = 0; i < W.agents(); ++i) EXPECT_EQ(votes.row(i), largest);
    EXPECT_EQ(net.traffic().control_rounds, W.diameter());
  }
}

TEST(LocalNetwork, VotesSpreadByOneEdgeARound) {
  LocalNetwork net(GossipMatrix::metropolis(path_graph(4)));
  Block<double> votes(4, 1), nothing(4, 0);
  votes << 1, 0, 0, 0;

  net.mix({}, nothing, nothing, nothing, votes);

  EXPECT_EQ(votes, (Block<double>(4, 1) << 1, 1, 0, 0).finished());
}

TEST(LocalNetwork, RefusesBlocksOfAnotherNumberOfAgents) {
  LocalNetwork net(GossipMatrix::ring(4));

  EXPECT_THROW(gossip(net, GossipKind::plain, 1, random_block(5, 2, 0)), InvalidArgument);
}

}  // namespace
}  // namespace hearsay

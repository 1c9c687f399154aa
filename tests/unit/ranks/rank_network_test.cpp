#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/gossip.hpp>
#include <hearsay/rank_network.hpp>

#include <numeric>

#include "on_ranks.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::expect_error;
using test::on_ranks;
using test::random_block;

std::vector<GossipMatrix> some_networks() {
  return {GossipMatrix::ring(1),
          GossipMatrix::ring(2),
          GossipMatrix::ring(10),
          GossipMatrix::metropolis(star_graph(7)),
          GossipMatrix::metropolis(complete_graph(6)),
          GossipMatrix::metropolis(path_graph(9)),
          GossipMatrix::metropolis(torus_graph(4, 5)),
          GossipMatrix::metropolis(random_regular_graph(60, 4, 1))};
}

Block<double> rows_of(const RankNetwork& net, const Block<double>& all) {
  Block<double> here(net.local_agents(), all.cols());
  for (Index i = 0; i < here.rows(); ++i) here.row(i) = all.row(net.agent(i));
  return here;
}

// Three rounds, of which the later ones use the block before, and the votes; on ranks and in process.
void expect_same_bits(Transport& ranks, const GossipMatrix& W, Index numbers, const RankNetworkOptions& options) {
  LocalNetwork local(W, options.precision);
  RankNetwork net(ranks, W, options);
  const MixStep steps[] = {
      {}, {.mixed = 1.5, .self = -0.25, .previous = -0.25}, {.mixed = 1.1, .self = 0, .previous = -0.1}};
  Block<double> Z = random_block(W.agents(), numbers, 1), Z_prev = random_block(W.agents(), numbers, 2);
  Block<double> votes = random_block(W.agents(), 3, 3), out(W.agents(), numbers);
  Block<double> Z_here = rows_of(net, Z), Z_prev_here = rows_of(net, Z_prev), votes_here = rows_of(net, votes),
                out_here(net.local_agents(), numbers);

  for (const MixStep& step : steps) {
    local.mix(step, Z, Z_prev, out, votes);
    Z_prev.swap(Z);
    Z.swap(out);
  }
  net.run([&] {
    if (net.local_agents() == 0) return;
    for (const MixStep& step : steps) {
      net.mix(step, Z_here, Z_prev_here, out_here, votes_here);
      Z_prev_here.swap(Z_here);
      Z_here.swap(out_here);
    }
  });

  EXPECT_EQ(Z_here, rows_of(net, Z)) << W.agents() << " agents, " << numbers << " numbers, rank " << ranks.rank();
  EXPECT_EQ(votes_here, rows_of(net, votes));
  if (net.local_agents() == 0) return;
  EXPECT_EQ(net.traffic(), local.traffic());
  if (options.precision != MessagePrecision::real64) {
    EXPECT_EQ(Block<double>(net.unsent()), rows_of(net, local.unsent()));
  }
}

TEST(RankNetwork, MixesToTheSameBitsAsOneProcess) {
  on_ranks([](Transport& ranks) {
    for (const GossipMatrix& W : some_networks())
      for (const Index numbers : {0, 1, 7, 70, 4100}) expect_same_bits(ranks, W, numbers, {});
  });
}

TEST(RankNetwork, RoundsMessagesAsOneProcessDoes) {
  on_ranks([](Transport& ranks) {
    for (const GossipMatrix& W : some_networks())
      for (const auto precision : {MessagePrecision::real32, MessagePrecision::bfloat16})
        expect_same_bits(ranks, W, 70, {.precision = precision});
  });
}

TEST(RankNetwork, MixesManyAgentsOfManyNumbersInPieces) {
  on_ranks([](Transport& ranks) {
    expect_same_bits(ranks, GossipMatrix::metropolis(random_regular_graph(200, 6, 2)), 4096 + 130, {});
  });
}

TEST(RankNetwork, DoesNotMindWhereAgentsLive) {
  on_ranks([](Transport& ranks) {
    std::vector<int> dealt(20), on_the_last(20, ranks.size() - 1);
    for (std::size_t i = 0; i < dealt.size(); ++i) dealt[i] = static_cast<int>(i * 7) % ranks.size();

    for (const auto& placement : {dealt, on_the_last})
      expect_same_bits(ranks, GossipMatrix::metropolis(torus_graph(4, 5)), 30, {.placement = placement});
  });
}

TEST(RankNetwork, AveragesByEveryKindOfGossip) {
  on_ranks([](Transport& ranks) {
    const GossipMatrix W = GossipMatrix::metropolis(random_regular_graph(12, 3, 4));
    const Block<double> Z = random_block(12, 40, 9);
    for (const GossipKind kind : {GossipKind::plain, GossipKind::accelerated, GossipKind::chebyshev}) {
      LocalNetwork local(W);
      RankNetwork net(ranks, W);
      Block<double> out(net.local_agents(), 40);

      net.run([&] {
        if (net.local_agents() > 0) out = gossip(net, kind, 6, rows_of(net, Z));
      });

      EXPECT_EQ(out, rows_of(net, gossip(local, kind, 6, Z)));
    }
  });
}

TEST(RankNetwork, PlacesAgentsInContiguousBlocks) {
  EXPECT_EQ(contiguous_placement(5, 2), (std::vector<int>{0, 0, 0, 1, 1}));
  EXPECT_EQ(contiguous_placement(3, 3), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(contiguous_placement(2, 4), (std::vector<int>{0, 2}));
}

// A star whose middle lives on rank 0 and whose points all live on the others: the middle's block crosses once to each
// rank, and the points' blocks once each.
TEST(RankNetwork, SendsABlockOnceToARankHoweverManyNeighboursLiveThere) {
  on_ranks([](Transport& ranks) {
    if (ranks.size() == 1) return;
    const Index points = 12, numbers = 50;
    std::vector<int> placement = {0};
    for (Index i = 0; i < points; ++i) placement.push_back(1 + static_cast<int>(i) % (ranks.size() - 1));
    RankNetwork net(ranks, GossipMatrix::metropolis(star_graph(points + 1)), {.placement = placement});
    const Block<double> Z = rows_of(net, random_block(points + 1, numbers, 1));
    Block<double> out = Z, votes(Z.rows(), 0);
    WireTraffic after_mix;

    net.run([&] {
      net.mix({}, Z, Z, out, votes);
      after_mix = net.wire();
    });

    const auto blocks = static_cast<double>(points + (ranks.size() - 1));
    EXPECT_EQ(ranks.sum(static_cast<double>(after_mix.messages)), 2 * (ranks.size() - 1));
    EXPECT_EQ(ranks.sum(static_cast<double>(after_mix.bytes)),
              blocks * numbers * sizeof(double) + 2 * (ranks.size() - 1) * 16);
    EXPECT_EQ(net.traffic().messages, 2 * points);
    EXPECT_EQ(net.traffic().bytes, 2 * points * numbers * 8);
  });
}

TEST(RankNetwork, RefusesPlacementsAndBlocksThatDoNotFit) {
  on_ranks([](Transport& ranks) {
    const GossipMatrix W = GossipMatrix::ring(4);

    expect_error<InvalidArgument>(
        [&] {
          RankNetwork(ranks, W, {.placement = {0, 0, 0}});
        },
        {"3 agents", "must be of 4"});
    expect_error<InvalidArgument>([&] { RankNetwork(ranks, W, {.placement = {0, 0, 0, 99}}); }, {"agent 3 on rank 99"});
    RankNetwork net(ranks, W);
    Block<double> wrong(net.local_agents() + 1, 3), votes(net.local_agents(), 0);
    expect_error<InvalidArgument>([&] { net.run([&] { net.mix({}, wrong, wrong, wrong, votes); }); }, {"blocks of"});
  });
}

}  // namespace
}  // namespace hearsay

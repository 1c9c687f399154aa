// One rank's failure ends the run on all of them, whenever it happens, and none is left waiting.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/gossip.hpp>
#include <hearsay/rank_network.hpp>

#include <limits>

#include "on_ranks.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::expect_error;
using test::on_ranks;
using test::random_block;

struct Blocks {
  Block<double> Z, out, votes;
  explicit Blocks(const RankNetwork& net, Index numbers)
      : Z(random_block(net.local_agents(), numbers, 1)), out(Z), votes(Block<double>::Zero(net.local_agents(), 2)) {}
};

void mix(RankNetwork& net, Blocks& blocks) {
  if (net.local_agents() > 0) net.mix({}, blocks.Z, blocks.Z, blocks.out, blocks.votes);
}

TEST(Failure, OfAnyRankInAnyRoundEndsTheRunEverywhere) {
  on_ranks([](Transport& ranks) {
    for (const Index numbers : {3, 40000})  // short messages and long ones
      for (int guilty = 0; guilty < ranks.size(); ++guilty)
        for (const int last_round : {0, 1, 4}) {
          RankNetwork net(ranks, GossipMatrix::metropolis(path_graph(8)));
          Blocks blocks(net, numbers);

          expect_error<DataError>(
              [&] {
                net.run([&] {
                  for (int round = 0;; ++round) {
                    if (ranks.rank() == guilty && round == last_round) throw DataError("the disk is gone");
                    if (net.local_agents() == 0) break;
                    mix(net, blocks);
                  }
                });
              },
              {ranks.size() == 1 ? "the disk is gone" : "rank " + std::to_string(guilty) + ": the disk is gone"});
        }
  });
}

TEST(Failure, AfterTheLastRoundReachesThoseWhoHaveFinished) {
  on_ranks([](Transport& ranks) {
    RankNetwork net(ranks, GossipMatrix::ring(9));
    Blocks blocks(net, 10);

    expect_error<InvalidArgument>(
        [&] {
          net.run([&] {
            for (int round = 0; round < 3; ++round) mix(net, blocks);
            if (ranks.rank() == ranks.size() / 2) throw InvalidArgument("too late");
          });
        },
        {"too late"});
  });
}

TEST(Failure, LeavesTheNetworkFitForAnotherRun) {
  on_ranks([](Transport& ranks) {
    for (const auto precision : {MessagePrecision::real64, MessagePrecision::bfloat16}) {
      const GossipMatrix W = GossipMatrix::ring(6);
      RankNetwork net(ranks, W, {.precision = precision}), fresh(ranks, W, {.precision = precision});
      Blocks blocks(net, 5), same(net, 5);
      EXPECT_THROW(net.run([&] {
        for (int round = 0;; ++round) {
          if (ranks.rank() == 0 && round == 2) throw Error("once");
          if (net.local_agents() == 0) break;
          mix(net, blocks);
        }
      }),
                   Error);

      net.run([&] { mix(net, blocks); });
      fresh.run([&] { mix(fresh, same); });

      EXPECT_EQ(blocks.out, same.out);
    }
  });
}

TEST(Failure, KeepsALongMessageAndOneThatIsNoException) {
  on_ranks([](Transport& ranks) {
    RankNetwork net(ranks, GossipMatrix::ring(4));
    const std::string text(5000, 'x');

    expect_error<Error>(
        [&] {
          net.run([&] {
            if (ranks.rank() == 0) throw Error(text);
          });
        },
        {text});
    expect_error<Error>(
        [&] {
          net.run([&] {
            if (ranks.rank() == 0) throw 42;
          });
        },
        {"no std::exception"});
  });
}

TEST(Failure, ToGoOnWhileANeighbourHasEndedIsOne) {
  on_ranks([](Transport& ranks) {
    RankNetwork net(ranks, GossipMatrix::ring(8));
    Blocks blocks(net, 4);
    const int rounds = ranks.rank() == 0 ? 2 : 3;
    const auto run = [&] {
      net.run([&] {
        for (int round = 0; round < rounds; ++round) mix(net, blocks);
      });
    };

    if (ranks.size() == 1)
      run();
    else
      expect_error<CommunicationError>(run, {"rank 0 ended its run"});
  });
}

TEST(Failure, BlocksOfAnotherShapeAreOne) {
  on_ranks([](Transport& ranks) {
    if (ranks.size() == 1) return;
    RankNetwork net(ranks, GossipMatrix::ring(8));
    Blocks blocks(net, ranks.rank() == 0 ? 4 : 40);

    expect_error<CommunicationError>([&] { net.run([&] { mix(net, blocks); }); }, {"sent blocks of", "must be"});
  });
}

TEST(Failure, ABlockThatIsNotFiniteNamesTheAgentThatSentIt) {
  on_ranks([](Transport& ranks) {
    if (ranks.size() == 1) return;
    for (const auto precision : {MessagePrecision::real64, MessagePrecision::real32})
      for (const double bad : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
        RankNetwork net(ranks, GossipMatrix::ring(8), {.precision = precision});
        Blocks blocks(net, 5000);
        if (net.local_agents() > 0 && net.agent(0) == 0) blocks.Z(0, 4999) = bad;

        expect_error<DataError>([&] { net.run([&] { mix(net, blocks); }); },
                                {"agent 0, on rank 0, sent a block with a number that is not finite"});
      }
  });
}

}  // namespace
}  // namespace hearsay

#include <gtest/gtest.h>
#include <hearsay/gossip.hpp>
#include <hearsay/message.hpp>
#include <hearsay/threads.hpp>

#include <bit>
#include <cmath>
#include <limits>

#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::random_block;

constexpr MessagePrecision precisions[] = {MessagePrecision::real64, MessagePrecision::real32,
                                           MessagePrecision::bfloat16};
constexpr double infinity = std::numeric_limits<double>::infinity();

double through_a_message(MessagePrecision precision, double number) {
  std::byte message[8];
  double back = 0;
  encode(precision, {&number, 1}, message);
  decode(precision, message, {&back, 1});
  return back;
}

TEST(Message, RoundsToTheNearest) {
  for (const MessagePrecision precision : precisions)
    for (const double x : {1.0, -1.0, 1.0 / 3, 3.14159265358979, -2.5e-7, 1e20, 0.0}) {
      EXPECT_LE(std::abs(through_a_message(precision, x) - x), unit_roundoff(precision) * std::abs(x)) << x;
      EXPECT_EQ(rounded(precision, x), through_a_message(precision, x)) << name(precision);
    }
}

TEST(Message, BreaksTiesOfBfloat16TowardsTheEvenOne) {
  EXPECT_EQ(rounded(MessagePrecision::bfloat16, 1 + 0x1p-8), 1.0);
  EXPECT_EQ(rounded(MessagePrecision::bfloat16, 1 + 3 * 0x1p-8), 1 + 4 * 0x1p-8);
  EXPECT_EQ(rounded(MessagePrecision::bfloat16, -(1 + 0x1p-8)), -1.0);
}

TEST(Message, KeepsWhatIsNotFinite) {
  for (const MessagePrecision precision : precisions) {
    EXPECT_TRUE(std::isnan(through_a_message(precision, std::numeric_limits<double>::quiet_NaN())));
    EXPECT_EQ(through_a_message(precision, infinity), infinity);
    EXPECT_EQ(through_a_message(precision, -infinity), -infinity);
  }
  // A payload in the lower half alone must not turn into an infinity.
  const double lean = std::bit_cast<float>(0x7f800001u);
  EXPECT_TRUE(std::isnan(through_a_message(MessagePrecision::bfloat16, lean)));
}

TEST(Message, TellsABlockThatRestsEverMoreExactly) {
  const Block<double> Z = random_block(3, 50, 1);
  Block<double> told = Block<double>::Zero(3, 50), unsent(3, 50);
  double error = Z.norm();
  for (int round = 0; round < 5; ++round) {
    tell(MessagePrecision::bfloat16, Z, told, unsent);
    EXPECT_EQ(unsent, Z - told);
    EXPECT_LE(unsent.norm(), error / 256);
    error = unsent.norm();
  }
  EXPECT_LE(error, 1e-12 * Z.norm());
}

TEST(RoundedGossip, KeepsTheMean) {
  const Block<double> Z = random_block(12, 40, 2);
  for (const GossipKind kind : {GossipKind::plain, GossipKind::accelerated, GossipKind::chebyshev})
    for (const MessagePrecision precision : precisions) {
      LocalNetwork net(GossipMatrix::ring(12), precision);
      const Block<double> out = gossip(net, kind, 20, Z);
      EXPECT_LE((out.colwise().mean() - Z.colwise().mean()).norm(), 1e-13) << name(kind) << ' ' << name(precision);
    }
}

TEST(RoundedGossip, AveragesAsFarAsDoubles) {
  const Block<double> Z = random_block(12, 40, 3);
  const Block<double> mean = Z.colwise().mean().replicate(12, 1);
  for (const MessagePrecision precision : precisions) {
    LocalNetwork net(GossipMatrix::ring(12), precision);
    EXPECT_LE((gossip(net, GossipKind::plain, 800, Z) - mean).norm(), 1e-12) << name(precision);
    EXPECT_LE(net.unsent().norm(), 1e-12);
  }
}

TEST(RoundedGossip, CountsTheBytesOfItsNumbers) {
  GossipWorkspace workspace;
  Block<double> out, votes = Block<double>::Zero(10, 3);
  const Block<double> Z = random_block(10, 7, 4);
  for (const MessagePrecision precision : precisions) {
    LocalNetwork net(GossipMatrix::ring(10), precision);
    gossip(net, GossipKind::chebyshev, 5, Z, out, votes, workspace);
    EXPECT_EQ(net.traffic().rounds, 5);
    EXPECT_EQ(net.traffic().messages, 5 * 20);
    EXPECT_EQ(net.traffic().bytes, 5 * 20 * (7 * bytes_per_number(precision) + 3 * 8)) << name(precision);
  }
}

TEST(RoundedGossip, GivesTheSameBitsForAnyNumberOfThreads) {
  const Block<double> Z = random_block(300, 5000, 5);
  const int before = threads();
  std::vector<Block<double>> results;
  for (const int count : {1, 2, 5}) {
    set_threads(count);
    LocalNetwork net(GossipMatrix::metropolis(random_regular_graph(300, 4, 1)), MessagePrecision::bfloat16);
    results.push_back(gossip(net, GossipKind::chebyshev, 3, Z));
  }
  set_threads(before);

  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

}  // namespace
}  // namespace hearsay

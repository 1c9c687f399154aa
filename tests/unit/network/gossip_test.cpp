// Each kind of gossip keeps the mean and shrinks disagreement by exactly what the theory says.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/gossip.hpp>
#include <hearsay/theory.hpp>

#include <cmath>
#include <numbers>

#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::random_block;

constexpr GossipKind kinds[] = {GossipKind::plain, GossipKind::accelerated, GossipKind::chebyshev};

Block<double> deviation(const Block<double>& Z) { return Z.rowwise() - Eigen::RowVectorXd(Z.colwise().mean()); }

// The eigenvector cos(2 pi j i/n) of a ring, and its eigenvalue.
Block<double> ring_mode(Index n, Index j) {
  Block<double> mode(n, 1);
  for (Index i = 0; i < n; ++i)
    mode(i, 0) = std::cos(2 * std::numbers::pi * static_cast<double>(i * j) / static_cast<double>(n));
  return mode;
}
double ring_eigenvalue(Index n, Index j) {
  return 0.5 + 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n));
}

TEST(Gossip, KeepsTheMeanToRounding) {
  LocalNetwork net(GossipMatrix::metropolis(erdos_renyi_graph(50, 0.2, 4)));
  const Block<double> Z = random_block(50, 12, 1);

  for (const GossipKind kind : kinds)
    for (const Index rounds : {1, 2, 7, 40}) {
      const Block<double> mixed = gossip(net, kind, rounds, Z);

      EXPECT_LE((mixed - Z).colwise().mean().cwiseAbs().maxCoeff(), 1e-15 * static_cast<double>(rounds + 5))
          << name(kind) << ' ' << rounds;
    }
}

TEST(Gossip, NeverLeavesMoreThanItsContraction) {
  for (const GossipMatrix& W : {GossipMatrix::ring(4), GossipMatrix::ring(10), GossipMatrix::metropolis(star_graph(9)),
                                GossipMatrix::metropolis(grid_graph(4, 5))}) {
    LocalNetwork net(W);
    const Block<double> Z = random_block(W.agents(), 6, 2);
    for (const GossipKind kind : kinds)
      for (Index rounds = 0; rounds <= 30; ++rounds) {
        const double left = deviation(gossip(net, kind, rounds, Z)).norm() / deviation(Z).norm();

        EXPECT_LE(left, gossip_contraction(kind, net.spectrum(), rounds) * (1 + 1e-12) + 1e-14)
            << name(kind) << ' ' << rounds;
      }
  }
}

TEST(PlainGossip, TakesAnEigenvectorByThePowerOfItsEigenvalue) {
  LocalNetwork net(GossipMatrix::ring(12));

  for (const Index j : {1, 3, 5})
    EXPECT_LE(
        (gossip(net, GossipKind::plain, 6, ring_mode(12, j)) - std::pow(ring_eigenvalue(12, j), 6) * ring_mode(12, j))
            .norm(),
        1e-14);
}

TEST(AcceleratedGossip, TakesAnEigenvectorByTheExactFactor) {
  LocalNetwork net(GossipMatrix::ring(12));

  for (const Index j : {1, 2, 5})
    for (const Index rounds : {1, 2, 9}) {
      const double factor = theory::accelerated_gossip_factor(rounds, ring_eigenvalue(12, j), net.spectrum().gap());

      EXPECT_LE((gossip(net, GossipKind::accelerated, rounds, ring_mode(12, j)) - factor * ring_mode(12, j)).norm(),
                1e-13);
    }
}

TEST(AcceleratedGossip, ExceedsThePapersBoundOnItsOwnRingAndMeetsOurs) {
  LocalNetwork net(GossipMatrix::ring(4));
  const Block<double> mode = ring_mode(4, 1);

  const double left = gossip(net, GossipKind::accelerated, 8, mode).norm() / mode.norm();

  EXPECT_NEAR(left, theory::accelerated_gossip_contraction(8, 0.5), 1e-14);
  EXPECT_GT(left * std::sqrt(2.0), theory::accelerated_gossip_as_printed(8, 0.5, 4) / std::sqrt(4.0));
}

TEST(ChebyshevGossip, ReachesItsContractionAtBothEndsOfTheSpectrum) {
  LocalNetwork net(GossipMatrix::ring(12));

  for (const Index j : {1, 6})
    for (const Index rounds : {1, 4, 11}) {
      const double left = gossip(net, GossipKind::chebyshev, rounds, ring_mode(12, j)).norm() / ring_mode(12, j).norm();

      EXPECT_NEAR(left, gossip_contraction(GossipKind::chebyshev, net.spectrum(), rounds), 1e-14);
    }
}

TEST(ChebyshevGossip, AveragesACompleteGraphInOneRound) {
  LocalNetwork net(GossipMatrix::metropolis(complete_graph(6)));
  const Block<double> Z = random_block(6, 3, 3);

  EXPECT_LE(deviation(gossip(net, GossipKind::chebyshev, 1, Z)).norm(), 1e-14);
  EXPECT_LE(deviation(gossip(net, GossipKind::chebyshev, 5, Z)).norm(), 1e-14);
}

TEST(ChebyshevGossip, NeedsTheFewestRounds) {
  const GossipSpectrum spectrum = gossip_spectrum(GossipMatrix::ring(20));

  const Index plain = gossip_rounds(GossipKind::plain, spectrum, 1e-6);
  const Index accelerated = gossip_rounds(GossipKind::accelerated, spectrum, 1e-6);
  const Index chebyshev = gossip_rounds(GossipKind::chebyshev, spectrum, 1e-6);

  EXPECT_LT(accelerated, plain / 3);
  EXPECT_LT(chebyshev, accelerated);
}

TEST(GossipRounds, AreTheFewestThatReachTheGoal) {
  const GossipSpectrum spectrum = gossip_spectrum(GossipMatrix::ring(20));

  for (const GossipKind kind : kinds)
    for (const double goal : {0.5, 1e-2, 1e-8}) {
      const Index rounds = gossip_rounds(kind, spectrum, goal);

      EXPECT_LE(gossip_contraction(kind, spectrum, rounds), goal);
      EXPECT_GT(gossip_contraction(kind, spectrum, rounds - 1), goal);
    }
  EXPECT_EQ(gossip_rounds(GossipKind::plain, spectrum, 1.0), 0);
}

TEST(Gossip, OfNoRoundsReturnsWhatItWasGiven) {
  LocalNetwork net(GossipMatrix::ring(5));
  const Block<double> Z = random_block(5, 4, 9);

  EXPECT_EQ(gossip(net, GossipKind::chebyshev, 0, Z), Z);
}

TEST(Gossip, OfALonelyAgentChangesNothing) {
  LocalNetwork net(GossipMatrix::ring(1));
  const Block<double> Z = random_block(1, 4, 9);

  for (const GossipKind kind : kinds) EXPECT_EQ(gossip(net, kind, 3, Z), Z);
}

TEST(Gossip, RefusesANetworkThatNeverAverages) {
  LocalNetwork net(GossipMatrix::ring(4), {.lo = -1, .hi = 0.5});

  EXPECT_THROW(gossip(net, GossipKind::plain, 1, random_block(4, 1, 0)), InvalidArgument);
}

}  // namespace
}  // namespace hearsay

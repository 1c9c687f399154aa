#include <gtest/gtest.h>
#include <hearsay/network.hpp>

#include <cmath>
#include <numbers>

namespace hearsay {
namespace {

// Eigenvalues 1/2 + cos(2 pi j/n)/2, halves and all.
double eigenvalue_of_ring(Index n, Index j) {
  return 0.5 + 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n));
}

// The same weights as a user's matrix, whose spectrum nobody knows.
GossipMatrix anonymous(const GossipMatrix& W) { return GossipMatrix::from(W.matrix()); }

TEST(GossipSpectrum, OfTheRingsOfThePaperIsTheirs) {
  EXPECT_NEAR(gossip_spectrum(GossipMatrix::ring(4)).gap(), 0.5, 1e-15);
  EXPECT_NEAR(gossip_spectrum(GossipMatrix::ring(10)).gap(), 0.095492, 5e-7);
}

TEST(GossipSpectrum, InClosedFormIsWhatTheEigensolverFinds) {
  for (const Index n : {2, 3, 4, 5, 10, 31}) {
    const GossipMatrix ring = GossipMatrix::ring(n), lazy = GossipMatrix::lazy(ring);
    for (const GossipMatrix& W : {ring, lazy}) {
      const GossipSpectrum known = gossip_spectrum(W), found = gossip_spectrum(anonymous(W));

      EXPECT_NEAR(known.lo, found.lo, 1e-14) << n;
      EXPECT_NEAR(known.hi, found.hi, 1e-14) << n;
    }
  }
}

TEST(GossipSpectrum, OfALonelyAgentLeavesNothingToMix) {
  EXPECT_EQ(gossip_spectrum(GossipMatrix::ring(1)).gap(), 1);
  EXPECT_EQ(gossip_spectrum(GossipMatrix::metropolis(path_graph(1))).gap(), 1);
}

TEST(GossipSpectrum, OfACompleteGraphIsOnePoint) {
  const GossipSpectrum spectrum = gossip_spectrum(GossipMatrix::metropolis(complete_graph(8)));

  EXPECT_NEAR(spectrum.lo, 0, 1e-15);
  EXPECT_NEAR(spectrum.hi, 0, 1e-15);
}

TEST(GossipSpectrum, OfManyAgentsIsGoodToAMillionthOfTheGap) {
  const Index n = 1001;  // just past the dense eigensolver
  const GossipSpectrum spectrum = gossip_spectrum(anonymous(GossipMatrix::ring(n)));
  const double gap = 1 - eigenvalue_of_ring(n, 1);

  EXPECT_TRUE(spectrum.measured);
  EXPECT_NEAR(spectrum.gap(), gap, 1e-6 * gap);
  EXPECT_LE(spectrum.lo, eigenvalue_of_ring(n, n / 2));
  EXPECT_GE(spectrum.lo, -1e-3);
}

TEST(GossipSpectrum, OfARandomRegularGraphLiesInsideTheBoundOfFriedman) {
  // All but one eigenvalue of the adjacency matrix are at most 2 sqrt(d - 1) + o(1); Metropolis has W = (I + S)/(d +
  // 1).
  const GossipSpectrum spectrum = gossip_spectrum(GossipMatrix::metropolis(random_regular_graph(4000, 4, 7)));

  EXPECT_TRUE(spectrum.measured);
  EXPECT_NEAR(spectrum.hi, (1 + 2 * std::sqrt(3.0)) / 5, 0.01);
  EXPECT_NEAR(spectrum.lo, (1 - 2 * std::sqrt(3.0)) / 5, 0.01);
}

TEST(GossipSpectrum, ThatIsOutOfReachIsBoundedFromAbove) {
  const Index n = 30000;
  const GossipSpectrum spectrum = gossip_spectrum(GossipMatrix::metropolis(path_graph(n)));
  const double hi = 1 - 2.0 / 3 * (1 - std::cos(std::numbers::pi / static_cast<double>(n)));

  EXPECT_GE(spectrum.hi, hi);
  EXPECT_LT(spectrum.hi, 1);
  EXPECT_GT(spectrum.gap(), 0);
}

}  // namespace
}  // namespace hearsay

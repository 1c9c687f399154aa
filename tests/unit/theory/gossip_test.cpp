#include <gtest/gtest.h>

#include <cmath>
#include <hearsay/error.hpp>
#include <hearsay/theory.hpp>
#include <limits>
#include <numbers>

#include "support/reference.hpp"

namespace hearsay::theory {
namespace {

using Dense = Eigen::MatrixXd;

// One half to itself and a quarter to each neighbour: eigenvalues (1 + cos(2 pi j/n))/2.
Dense ring(Eigen::Index n) {
  Dense W = Dense::Identity(n, n) / 2;
  for (Eigen::Index i = 0; i < n; ++i) {
    W(i, (i + 1) % n) += 0.25;
    W((i + 1) % n, i) += 0.25;
  }
  return W;
}

double ring_gap(Eigen::Index n) { return (1 - std::cos(2 * std::numbers::pi / static_cast<double>(n))) / 2; }

// ||P_L (I - 11'/n)|| of L rounds of accelerated gossip, by running them on the identity.
double measured_contraction(const Dense& W, std::int64_t L, double gamma) {
  const double omega = gossip_omega(gamma);
  const Eigen::Index n = W.rows();
  Dense before = Dense::Identity(n, n), Y = before;
  for (std::int64_t l = 0; l < L; ++l) {
    const Dense next = (1 + omega) * W * Y - omega * before;
    before = Y;
    Y = next;
  }
  const Dense mean = Dense::Constant(n, n, 1.0 / static_cast<double>(n));
  return test::reference_singular_values(Y - mean)(0);
}

TEST(AcceleratedGossip, ContractsExactlyAsStatedOnRings) {
  for (const Eigen::Index n : {4, 5, 10, 25})
    for (const std::int64_t L : {0, 1, 2, 3, 8, 20}) {
      const double stated = accelerated_gossip_contraction(L, ring_gap(n));
      EXPECT_NEAR(measured_contraction(ring(n), L, ring_gap(n)), stated, 1e-12) << "n = " << n << ", L = " << L;
    }
}

TEST(AcceleratedGossip, ContractsMoreSlowlyWhereANegativeEigenvalueDominates) {
  const Dense W = (Dense(2, 2) << 0.2, 0.8, 0.8, 0.2).finished();  // eigenvalues 1 and -0.6

  for (const std::int64_t L : {1, 2, 5, 12})
    EXPECT_NEAR(measured_contraction(W, L, 0.4), accelerated_gossip_bound(L, 0.4), 1e-12);
}

TEST(AcceleratedGossip, TreatsEachEigenvalueAsStated) {
  const double gamma = 0.3;
  for (const double mu : {-0.7, -0.3, 0.0, 0.2, 0.69, 0.7}) {
    double before = 1, y = 1;
    for (std::int64_t L = 0; L < 15; ++L) {
      EXPECT_NEAR(accelerated_gossip_factor(L, mu, gamma), y, 1e-13) << "mu = " << mu << ", L = " << L;
      const double omega = gossip_omega(gamma), next = (1 + omega) * mu * y - omega * before;
      before = y;
      y = next;
    }
  }
}

// Y_0 = (1, 1, -1, -1) lies in the dominant mode, so that every agent keeps exactly this share of its error.
TEST(AcceleratedGossip, ExceedsThePrintedBoundOnTheFourRing) {
  double worst = 0;
  for (std::int64_t L = 1; L <= 60; ++L) {
    const double excess = accelerated_gossip_contraction(L, 0.5) / accelerated_gossip_as_printed(L, 0.5, 4);
    EXPECT_EQ(excess > 1, L >= 2 && L <= 25) << "L = " << L;
    worst = std::max(worst, excess);
  }

  EXPECT_NEAR(worst, 1.71, 0.005);
}

TEST(AcceleratedGossip, IsDoneAtOnceOnACompleteNetwork) {
  EXPECT_EQ(accelerated_gossip_contraction(1, 1.0), 0.0);
  EXPECT_EQ(accelerated_gossip_factor(3, 0.0, 1.0), 0.0);
}

TEST(ChebyshevGossip, ContractsAsItsPolynomialDoes) {
  const double lo = 0.0, hi = 0.904508497187474;  // the ring of ten
  const double z = (2 - hi - lo) / (hi - lo);
  for (const std::int64_t L : {0, 1, 2, 5, 30}) {
    const double T_L = p(L, 2 * z, 1.0);
    EXPECT_NEAR(chebyshev_gossip_contraction(L, lo, hi), 1 / T_L, 1e-13);
  }
}

TEST(ChebyshevGossip, BeatsAcceleratedGossip) {
  for (const std::int64_t L : {1, 3, 10, 40})
    EXPECT_LT(chebyshev_gossip_contraction(L, 0.0, 0.9), accelerated_gossip_contraction(L, 0.1));
}

TEST(ChebyshevGossip, IsDoneAtOnceWhenOneEigenvalueIsLeft) {
  EXPECT_EQ(chebyshev_gossip_contraction(1, 0.4, 0.4), 0.0);
}

// Rows of the table of facts: heart, digits even, digits by label (k = 9 and 13), ego-Facebook.
struct Facts {
  NetworkFacts network;
  std::int64_t dimension, rank;
  double lambda_k, lambda_next;
  double total_rounds_1e2, total_rounds_1e8;  // ADePM at its best L, measured
};
const Facts data_sets[]{
    {{4, 0.5, 4.6473}, 13, 2, 1.373737, 1.319549, 128, 1232},
    {{10, 0.095492, 0.7978}, 64, 9, 0.157377, 0.144497, 230, 2332},
    {{10, 0.095492, 2.8329}, 64, 9, 0.157377, 0.144497, 380, 2652},
    {{10, 0.095492, 2.8329}, 64, 13, 0.085505, 0.083252, 434, 4628},
    {{50, 0.291627, 56.8643}, 50, 4, 1.559051, 1.523072, 448, 2880},
};

TEST(GossipRounds, NeedOneHundredAndThirtyOneOnHeartToGuaranteeOneHundredth) {
  const Facts& heart = data_sets[0];
  const Target half{.epsilon = 0.5e-2, .h0 = random_start_tangent(heart.dimension, heart.rank)};
  const double L =
      gossip_rounds_adepm(heart.network, heart.rank, heart.lambda_k, optimal_beta(heart.lambda_next), half);

  EXPECT_EQ(std::ceil(L), 131);
}

double predicted_total(const Facts& data, double epsilon) {
  const Target target{.epsilon = epsilon, .h0 = random_start_tangent(data.dimension, data.rank)};
  const double rate = asymptotic_rate(data.lambda_k, data.lambda_next, optimal_beta(data.lambda_next));
  const auto L = predicted_gossip_rounds(data.network, data.lambda_k, epsilon);
  return static_cast<double>(L) * std::ceil(predicted_iterations(rate, target));
}

TEST(GossipRounds, PredictMeasuredTotalsCloselyAtHighAccuracy) {
  for (const Facts& data : data_sets)
    EXPECT_NEAR(predicted_total(data, 1e-8) / data.total_rounds_1e8, 1.0, 0.25) << data.network.local_norm;
}

TEST(GossipRounds, PredictMeasuredTotalsFromAboveAtLowAccuracy) {
  for (const Facts& data : data_sets) {
    EXPECT_GE(predicted_total(data, 1e-2) / data.total_rounds_1e2, 0.95) << data.network.local_norm;
    EXPECT_LE(predicted_total(data, 1e-2) / data.total_rounds_1e2, 2.25) << data.network.local_norm;
  }
}

TEST(GossipRounds, PredictTheLeastThatIsEnough) {
  const NetworkFacts network{.agents = 10, .gamma = 0.1, .local_norm = 3.0};
  const auto L = predicted_gossip_rounds(network, 1.5, 1e-5);

  EXPECT_LE(accelerated_gossip_contraction(L, 0.1) * 2.0, 1e-5);
  EXPECT_GT(accelerated_gossip_contraction(L - 1, 0.1) * 2.0, 1e-5);
}

TEST(GossipRounds, DependOnTheTargetForDePMAndNotForDeEPCA) {
  const NetworkFacts network{.agents = 10, .gamma = 0.25, .local_norm = 3.0};

  EXPECT_NEAR(gossip_rounds_depm_order(network, 1.0, 0.9, 1e-3), 2 * std::log(3e4), 1e-9);
  EXPECT_NEAR(gossip_rounds_deepca_order(network, 1.0, 0.9), 2 * std::log(30.0), 1e-9);
}

TEST(Gossip, RefusesArgumentsOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();

  EXPECT_THROW(gossip_omega(0.0), InvalidArgument);
  EXPECT_THROW(gossip_omega(nan), InvalidArgument);
  EXPECT_THROW(accelerated_gossip_factor(1, 0.8, 0.5), InvalidArgument);
  EXPECT_THROW(chebyshev_gossip_contraction(1, 0.0, 1.0), InvalidArgument);
  EXPECT_THROW(gossip_rounds_deepca_order({.agents = 3, .gamma = 0.5, .local_norm = 0.5}, 1.0, 0.9), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::theory

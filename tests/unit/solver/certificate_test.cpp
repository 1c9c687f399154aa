// The theorems behind a certificate, each held against matrices whose answer is known.
#include "solver/certificate.hpp"

#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/random.hpp>

#include "solver/filter.hpp"
#include "solver/outside.hpp"
#include "solver/probe.hpp"
#include "support/planted.hpp"
#include "support/reference.hpp"

namespace hearsay::detail {
namespace {

using test::planted_spectrum;
using test::reference_sin_theta;

// The Ritz vectors of a random space turned towards the leading eigenvectors, with their residuals.
struct Ritz {
  RitzPairs pairs;
  Block<double> V;
};

Ritz ritz_near(const test::Planted& problem, Index columns, double noise, std::uint64_t seed) {
  Block<double> X = random_orthonormal<double>(problem.A.rows(), columns, {.seed = seed});
  X = problem.U.leftCols(columns) + noise * X;
  X = test::reference_orthonormal(X);
  const auto eigen = symmetric_eigen<double>(Small<double>(X.transpose() * problem.A * X));
  const Block<double> V = X * eigen.vectors;
  const Block<double> R = problem.A * V - V * eigen.values.asDiagonal();
  return {{.theta = eigen.values, .residuals = R.colwise().norm().transpose()}, V};
}

TEST(LeastShadow, IsUndercutAsSeldomAsItSays) {
  constexpr int draws = 4000;
  for (const Index directions : {1, 3, 5}) {
    const double eta = least_shadow(8, directions, 0.05);
    int below = 0;
    for (int i = 0; i < draws; ++i) {
      Block<double> G(8, directions);
      fill_normal<double>({.seed = static_cast<std::uint64_t>(i), .agent = static_cast<std::uint32_t>(directions)}, G);
      below += test::reference_singular_values(G).minCoeff() < eta ? 1 : 0;
    }
    EXPECT_LE(below, 0.05 * draws * 1.3) << directions << " directions";
    if (directions == 1) {
      EXPECT_GE(below, 0.05 * draws * 0.3);  // equality as the probability goes to zero
    }
  }
  EXPECT_EQ(least_shadow(3, 4, 0.5), 0);
}

TEST(SineBound, HoldsForEveryTruthfulStatement) {
  int said_something = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto problem = planted_spectrum({1, 0.9, 0.8, 0.75, 0.5, 0.45, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01}, seed);
    const double noise = std::pow(10.0, -1.0 - static_cast<double>(seed % 5));
    const Ritz ritz = ritz_near(problem, 6, noise, seed);
    for (Index k = 1; k <= 4; ++k)
      for (Index q = k; q <= 5; ++q) {
        const double x = problem.eigenvalues(q) * (1 + 1e-12);
        const double bound = sine_bound(ritz.pairs, k, {.count = q, .above = x});
        const double truth = reference_sin_theta(problem.top(k), ritz.V.leftCols(k));
        EXPECT_LE(truth, bound * (1 + 1e-9) + 1e-13) << "seed " << seed << " k " << k << " q " << q;
        said_something += bound < 1 ? 1 : 0;
      }
  }
  EXPECT_GE(said_something, 300);
}

TEST(SineEstimate, DoesNotBelieveAGapBesideAClusterOfAllCopiesThatTheSpaceHolds) {
  RitzPairs pairs{.theta = Vector<double>(9), .residuals = Vector<double>::Constant(9, 1e-9)};
  pairs.theta << 1, 1, 1, 1, 1, 1, 1, 1, 0.5;
  EXPECT_LT(sin_theta_estimate(pairs, 8), 1e-6);
  pairs.most_copies = 8;
  EXPECT_EQ(sin_theta_estimate(pairs, 8), 1);
}

TEST(SineEstimate, DoesNotBelieveAGapThatTheNextPairMayStillFill) {
  RitzPairs pairs{.theta = Vector<double>(3), .residuals = Vector<double>::Constant(3, 1e-6)};
  pairs.theta << 1, 1 - 1e-5, 0.5;
  EXPECT_LT(sin_theta_estimate(pairs, 1), 1e-4);  // from beyond the two
  pairs.residuals(2) = 0.4;                       // on its way up
  EXPECT_GE(sin_theta_estimate(pairs, 1), 0.1);
  EXPECT_FALSE(believable(pairs, 2, 1e-3));
}

TEST(ClusterAt, NamesTheValuesThatTheirResidualsDoNotKeepApart) {
  RitzPairs pairs{.theta = Vector<double>(6), .residuals = Vector<double>::Constant(6, 1e-4)};
  pairs.theta << 1, 0.7, 0.6999, 0.6998, 0.3, 0.1;
  const Cluster cluster = cluster_at(pairs, 3, true);
  EXPECT_EQ(cluster.first, 2);
  EXPECT_EQ(cluster.last, 4);
  EXPECT_FALSE(cluster.open);
}

TEST(Filter, ExcludesWhatIsNotThereAndNothingThatIs) {
  // 12 plain power steps from 8 random columns: f(x) = x^12 / 2
  std::vector<FilterStep> steps{{.steps = 1, .afresh = true}, {.steps = 11}};
  const Filter filter(steps, 8, 10.0, 0);
  const double x = filter.nothing_above(2, 0.3, 1.0);  // the third Ritz value is 0.3
  EXPECT_GT(x, 0.3);
  EXPECT_LT(x, 1.0);
  EXPECT_EQ(Filter({}, 8, 10.0, 0).nothing_above(2, 0.3, 1.0), std::numeric_limits<double>::infinity());
}

TEST(Probe, FindsWhatAWrongSpaceLeftOutAndBoundsWhatARightOneDid) {
  std::vector<double> values(60, 0.3);
  for (Index i = 0; i < 6; ++i) values[static_cast<std::size_t>(i)] = 1 - 0.05 * static_cast<double>(i);
  const auto problem = planted_spectrum(values, 3);
  const DenseSymmetric<double> A(problem.A);

  const auto wrong = probe<double>(A, Block<double>(problem.U.middleCols(1, 4)), 0, 8, 2, 20, 0.9, 1);
  EXPECT_NEAR(wrong.theta(0), 1, 1e-6);
  const auto right = probe<double>(A, Block<double>(problem.U.leftCols(4)), 0, 8, 2, 50, 0.81, 1);
  EXPECT_LE(right.nothing_above, 0.81);
  EXPECT_GE(right.nothing_above, problem.eigenvalues(4) - 1e-12);
}

TEST(Outside, KeepsTheRelationAndReplacesWhatIsNotNew) {
  constexpr Index d = 50, columns = 6;
  const Block<double> P = random_orthonormal<double>(d, 9, {.seed = 1});
  Outside<double> outside(d, 7, 1e-12);
  for (const Index fresh : {6, 3, 0}) {
    Block<double> Y = 1e-17 * P.leftCols(columns);  // rounding that lies in P
    Block<double> made(d, columns);
    fill_normal<double>({.seed = 5}, made);
    if (fresh > 0) Y.leftCols(fresh) += made.leftCols(fresh) - P * (P.transpose() * made.leftCols(fresh));
    const Block<double> before = Y;
    Small<double> B;

    const double lost = outside.take({P}, Y, B, 10);

    ASSERT_EQ(Y.cols(), columns);
    EXPECT_LE((Y.transpose() * Y - Block<double>::Identity(columns, columns)).norm(), 1e-13);
    EXPECT_LE((P.transpose() * Y).norm(), 1e-12);
    EXPECT_LE((before - Y * B).norm(), 1e-12);
    EXPECT_LE(lost, 1e-13);
    EXPECT_EQ(test::reference_rank(B), fresh);
  }
}

TEST(Outside, DrawsColumnsThatAreWhatItSays) {
  const Block<double> P = random_orthonormal<double>(40, 10, {.seed = 2});
  Outside<double> outside(40, 3, 1e-12);
  const auto first = outside.draw({P}, 5), second = outside.draw({P, first.Q}, 5);
  for (const auto* drawn : {&first, &second}) {
    EXPECT_LE((P.transpose() * drawn->Q).norm(), 1e-12);
    EXPECT_LE((drawn->Q.transpose() * drawn->Q - Block<double>::Identity(5, 5)).norm(), 1e-13);
  }
  EXPECT_LE((first.Q.transpose() * second.Q).norm(), 1e-12);
  const Block<double> omega = P * first.along + first.Q * first.R;
  EXPECT_NEAR(omega.norm(), std::sqrt(200.0), 4);  // standard normal entries
}

}  // namespace
}  // namespace hearsay::detail

#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/qr.hpp>
#include <hearsay/random.hpp>

#include <algorithm>

#include "experiments/recursions.hpp"
#include "experiments/runs.hpp"

namespace hearsay::experiments {
namespace {

using Theorem = TheoremRun::Theorem;

TEST(TheoremRun, FollowsTheClosedFormOfTheLowerBound) {
  const TheoremRun measured{.theorem = Theorem::lower_bound, .lambda_next = 0.99, .iterations = 120};
  TheoremRun closed = measured;
  closed.theorem = Theorem::closed_form;

  const Trace run = trace(measured, 2), formula = trace(closed, 2);

  EXPECT_LE(run.facts.at("deviation"), 1e-8);
  ASSERT_EQ(run.error.size(), formula.error.size());
  EXPECT_NEAR(run.error[50] / formula.error[50], 1, 1e-8);
  EXPECT_LT(run.error[120], 1e-3 * run.error[0]);
}

TEST(TheoremRun, NeverReachesEpsilonInTheTightExamples) {
  const Trace outside = trace(TheoremRun{.theorem = Theorem::tight_outside, .lambda_next = 0.9}, 0);
  const Trace inside = trace(TheoremRun{.theorem = Theorem::tight_inside, .lambda_next = 0.9}, 0);

  EXPECT_GT(outside.facts.at("least_over_epsilon"), 1);
  EXPECT_NEAR(outside.error.back(), 8 * 1e-2, 1e-3);  // psi/(l_k - l_{k+1})
  EXPECT_LE(inside.facts.at("drift"), 1e-9);
}

TEST(TheoremRun, EndsUnderAConstantPushWhereTheClosedFormSays) {
  for (const Theorem theorem : {Theorem::main, Theorem::small_beta, Theorem::no_momentum}) {
    const Trace run =
        trace(TheoremRun{.theorem = theorem, .beta = 0.1, .iterations = 1000, .noise = TheoremRun::Noise::push}, 1);

    EXPECT_NEAR(run.facts.at("predicted_floor") / 1e-2, 1.0 / 31, 1e-5) << "c/(1 - c) epsilon";
    EXPECT_NEAR(run.error.back() / run.facts.at("predicted_floor"), 1, 1e-6);
    EXPECT_LE(run.facts.at("worst_over_epsilon"), 1);
    EXPECT_EQ(run.facts.at("violations"), 0);
  }
}

TEST(TheoremRun, FollowsTheRecursionsOfTheProof) {
  for (const auto noise : {TheoremRun::Noise::random, TheoremRun::Noise::push}) {
    const Trace run = trace(TheoremRun{.theorem = Theorem::main, .noise = noise}, 2);

    EXPECT_LE(run.facts.at("H_deviation"), 1e-11);
    EXPECT_LE(run.facts.at("C_deviation"), 1e-13);
    EXPECT_LE(run.facts.at("G_over_bound"), 1);
    EXPECT_GT(run.facts.at("G_over_bound"), 0.9) << "the bound is nearly met at t = 0";
  }
}

TEST(Recursions, DeviateWhereTheNoiseIsNotThatOfTheRun) {
  const Vector<double> eigenvalues{{1.5, 1, 0.8, 0.3}};
  const Block<double> none = Block<double>::Zero(4, 2);
  Recursions followed(eigenvalues, 2, 0.16), misled = followed;
  Block<double> X = random_orthonormal<double>(4, 2, {.seed = 1}), X_prev = none;
  Small<double> R;
  for (int t = 0; t < 20; ++t) {
    followed.follow(X, none);
    misled.follow(X, t == 7 ? Block<double>(1e-3 * Block<double>::Ones(4, 2)) : none);
    Block<double> Y = eigenvalues.asDiagonal() * X;
    if (t == 0) {
      Y /= 2;
    } else {
      solve_right<double>(R, X_prev);
      Y -= 0.16 * X_prev;
    }
    X_prev = X;
    thin_qr<double>(Y, R);
    X = Y;
  }

  std::map<std::string, double> right, wrong;
  followed.tell(right);
  misled.tell(wrong);
  EXPECT_LE(right.at("H_deviation"), 1e-12);
  EXPECT_GT(wrong.at("H_deviation"), 1e-5);
}

TEST(TheoremRun, FindsTheTailOfRandomStarts) {
  const Trace run = trace(TheoremRun{.theorem = Theorem::random_start, .iterations = 4000}, 1);

  ASSERT_EQ(run.swept.size(), run.error.size());
  EXPECT_TRUE(std::is_sorted(run.error.rbegin(), run.error.rend()));
  EXPECT_NEAR(run.facts.at("exponent"), 1, 0.15) << "the least singular value of a square normal matrix";
  EXPECT_EQ(run.facts.at("share_at_1"), run.error.front());
}

class Guarantees : public testing::TestWithParam<Theorem> {};

TEST_P(Guarantees, AreKeptWithTheNoiseTheyAllow) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const Trace run = trace(TheoremRun{.theorem = GetParam(), .beta = 0.1, .iterations = 1000}, seed);

    EXPECT_LE(run.facts.at("worst_over_epsilon"), 1);
    EXPECT_GT(run.facts.at("worst_over_epsilon"), 1e-4) << "there must be noise for this to mean anything";
    EXPECT_EQ(run.facts.at("violations"), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Theorems, Guarantees,
                         testing::Values(Theorem::main, Theorem::small_beta, Theorem::no_momentum));

TEST(TheoremRun, RefusesToEndBeforeThePromiseBegins) {
  EXPECT_THROW(trace(TheoremRun{.theorem = Theorem::main, .iterations = 10}, 1), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::experiments

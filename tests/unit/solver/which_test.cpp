// Any end of the spectrum of any symmetric matrix.
#include <gtest/gtest.h>

#include <cmath>
#include <hearsay/error.hpp>
#include <hearsay/noise.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/subspace.hpp>

#include "solver/ends.hpp"
#include "solver/filter.hpp"
#include "support/planted.hpp"

namespace hearsay {
namespace {

using test::Planted;

// 9, 7, 5, then from 2 down to -2, then -4, -6, -8.
Planted indefinite() {
  std::vector<double> values{9, 7, 5};
  for (int i = 0; i <= 50; ++i) values.push_back(2 - 0.08 * i);
  values.insert(values.end(), {-4, -6, -8});
  return test::planted_spectrum(values, 31);
}

Block<double> columns(const Planted& planted, const std::vector<Index>& at) {
  Block<double> out(planted.U.rows(), static_cast<Index>(at.size()));
  for (std::size_t i = 0; i < at.size(); ++i) {
    const Index j = at[i] >= 0 ? at[i] : planted.U.cols() + at[i];
    out.col(static_cast<Index>(i)) = planted.U.col(j);
  }
  return out;
}

struct Asked {
  Which which;
  std::vector<Index> at;  // in descending order from 0, or from the end by -1
};

class EveryEnd : public ::testing::TestWithParam<Asked> {};

TEST_P(EveryEnd, IsFoundInItsOrderWithABound) {
  const Planted planted = indefinite();
  const auto& [which, at] = GetParam();

  const auto result = principal_subspace<double>(DenseSymmetric<double>(planted.A),
                                                 {.rank = static_cast<Index>(at.size()), .which = which});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_EQ(result.which, which);
  EXPECT_LE(test::reference_sin_theta(columns(planted, at), result.basis), 1e-8);
  for (std::size_t i = 0; i < at.size(); ++i)
    EXPECT_NEAR(result.eigenvalues(static_cast<Index>(i)),
                planted.eigenvalues(at[i] >= 0 ? at[i] : planted.eigenvalues.size() + at[i]), 1e-9);
  EXPECT_EQ(result.certificate.sin_theta, Knowledge::bound);
  EXPECT_GE(result.certificate.sin_theta_bound, test::reference_sin_theta(columns(planted, at), result.basis) - 1e-12);
  const auto beyond = [&](double sign, double limit) {
    return ((sign * planted.eigenvalues).array() > sign * limit).count();
  };
  EXPECT_LE(beyond(1, result.certificate.nothing_missed_above), result.certificate.nothing_missed_count);
  EXPECT_LE(beyond(-1, result.certificate.nothing_missed_below), result.certificate.nothing_missed_count_below);
}

INSTANTIATE_TEST_SUITE_P(Asked, EveryEnd,
                         ::testing::Values(Asked{Which::largest, {0, 1, 2}}, Asked{Which::smallest, {-1, -2, -3}},
                                           Asked{Which::magnitude, {0, -1, 1, -2}}, Asked{Which::magnitude, {0}},
                                           Asked{Which::both_ends, {0, 1, -2, -1}}, Asked{Which::both_ends, {0, 1, -1}},
                                           Asked{Which::both_ends, {0}}));

TEST(BothEnds, OfOneSignAreFoundThoughNothingIsWantedAtTheOther) {
  const auto positive = test::planted_spectrum({9, 8, 7, 1, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05}, 3);
  const Block<double> negative = -positive.A;

  const auto up =
      principal_subspace<double>(DenseSymmetric<double>(positive.A), {.rank = 3, .which = Which::magnitude});
  const auto down =
      principal_subspace<double>(DenseSymmetric<double>(negative), {.rank = 3, .which = Which::magnitude});

  EXPECT_EQ(up.status, Status::converged);
  EXPECT_EQ(down.status, Status::converged);
  EXPECT_NEAR(up.eigenvalues(0), 9, 1e-9);
  EXPECT_NEAR(down.eigenvalues(2), -7, 1e-9);
}

TEST(BothEnds, ThatTieAreAmbiguousAndTheTieIsNamed) {
  const auto planted = test::planted_spectrum({5, 3, 1, 0.8, 0.5, 0.3, 0.1, 0, -0.2, -0.4, -0.6, -0.7, -0.9, -3}, 4);

  const auto result =
      principal_subspace<double>(DenseSymmetric<double>(planted.A), {.rank = 2, .which = Which::magnitude});

  EXPECT_EQ(result.status, Status::ambiguous);
  ASSERT_TRUE(result.certificate.cluster.has_value());
  EXPECT_EQ(result.certificate.cluster->first, 2);
  EXPECT_EQ(result.certificate.cluster->last, 3);
  EXPECT_LE(result.certificate.cluster->spread, 1e-9);
  EXPECT_FALSE(result.certificate.sin_theta_bound < 1);
}

TEST(BothEnds, AreRefusedOfNoisyProductsAndByThePowerIteration) {
  const Planted planted = indefinite();
  const DenseSymmetric<double> A(planted.A);
  const PowerOptions magnitude{.rank = 2, .which = Which::magnitude};
  PowerOptions anpm = magnitude;
  anpm.method = SolveMethod::anpm;

  EXPECT_THROW((void)principal_subspace<double>(noisy(A, gaussian_noise<double>(1e-3, 1)), magnitude), InvalidArgument);
  EXPECT_THROW((void)principal_subspace<double>(A, anpm), InvalidArgument);
  EXPECT_THROW((void)accelerated_power<double>(A, magnitude), InvalidArgument);
}

TEST(ThePowerIteration, FindsAShiftThatIsEnoughAndTellsIt) {
  const Planted planted = indefinite();
  const DenseSymmetric<double> A(planted.A);

  for (const Which which : {Which::largest, Which::smallest}) {
    const auto result = principal_subspace<double>(A, {.rank = 3, .method = SolveMethod::anpm, .which = which});
    EXPECT_EQ(result.status, Status::converged);
    EXPECT_GE(result.shift_found, which == Which::largest ? 8 : 9);
    EXPECT_LE(result.shift_found, 30);
    EXPECT_NEAR(result.eigenvalues(0), which == Which::largest ? 9 : -8, 1e-8);
    EXPECT_EQ(result.products >= result.iterations, true);
  }
  EXPECT_THROW((void)principal_subspace<double>(A, {.rank = 3, .method = SolveMethod::anpm, .find_shift = false}),
               DataError);
}

TEST(ThePowerIteration, OfNoisyProductsFindsAShiftToo) {
  const Planted planted = indefinite();
  const DenseSymmetric<double> A(planted.A);

  const auto result = principal_subspace<double>(noisy(A, gaussian_noise<double>(1e-3, 5)), {.rank = 3});

  EXPECT_EQ(result.method, SolveMethod::averaged);
  EXPECT_GT(result.shift_found, 0);
  EXPECT_LE(test::reference_sin_theta(planted.top(3), result.basis), 10 * result.bar.sin_theta);
}

// Many leading eigenvalues that nearly agree hide a negative end as deep: the block never meets it.
TEST(ThePowerIteration, ProvesNothingWhereANegativeEndIsHiddenBehindACluster) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(0.5 - 1e-9 * i);
  for (int i = 0; i < 20; ++i) values.push_back(-0.5 + 0.01 * i);
  const auto planted = test::planted_spectrum(values, 6);

  const auto result =
      principal_subspace<double>(DenseSymmetric<double>(planted.A), {.rank = 2, .method = SolveMethod::anpm});

  EXPECT_NE(result.status, Status::converged);
  const auto above = (planted.eigenvalues.array() > result.certificate.nothing_missed_above).count();
  EXPECT_LE(above, result.certificate.nothing_missed_count);
}

TEST(AFilter, ProvesNothingWithoutABoundOnTheNegativeEnd) {
  const std::vector<detail::FilterStep> steps{{.shift = 0, .beta = 0.0225, .steps = 40, .afresh = true}};
  const double unknown = std::numeric_limits<double>::infinity();

  EXPECT_TRUE(std::isfinite(detail::Filter(steps, 8, 10.0, 0).nothing_above(2, 0.3, 1.0)));
  EXPECT_TRUE(std::isfinite(detail::Filter(steps, 8, 10.0, 0.3).nothing_above(2, 0.3, 1.0)));
  EXPECT_FALSE(std::isfinite(detail::Filter(steps, 8, 10.0, 1.0).nothing_above(2, 0.3, 1.0)));
  EXPECT_FALSE(std::isfinite(detail::Filter(steps, 8, 10.0, unknown).nothing_above(2, 0.3, 1.0)));
}

TEST(ALowEndOfZeros, ConvergesThoughNoResidualIsSmallBesideZero) {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(60 - i - (i == 59 ? 1 : 0));
  const auto planted = test::planted_spectrum(values, 8);  // ..., 3, 2, 0

  for (const SolveMethod method : {SolveMethod::krylov, SolveMethod::anpm}) {
    const auto result = principal_subspace<double>(DenseSymmetric<double>(planted.A),
                                                   {.rank = 1, .method = method, .which = Which::smallest});
    EXPECT_EQ(result.status, Status::converged) << name(method);
    EXPECT_NEAR(result.eigenvalues(0), 0, 1e-8);
  }
}

TEST(AFunction, GivesBothEndsUnlessItIsNotSymmetric) {
  const Planted planted = indefinite();
  const PowerOptions magnitude{.rank = 2, .which = Which::magnitude};
  const CallbackOperator<double> A(planted.A.rows(),
                                   [&](ConstBlockView<double> X, BlockView<double> Y) { Y = planted.A * X; });
  Block<double> skewed = planted.A;
  skewed(0, 1) += 1;
  const CallbackOperator<double> B(planted.A.rows(),
                                   [&](ConstBlockView<double> X, BlockView<double> Y) { Y = skewed * X; });

  EXPECT_EQ(principal_subspace<double>(A, magnitude).status, Status::converged);
  EXPECT_THROW((void)principal_subspace<double>(B, magnitude), DataError);
}

}  // namespace
}  // namespace hearsay

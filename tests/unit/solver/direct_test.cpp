// The direct way against planted spectra, closed forms and Eigen's solver: what it finds, what it says of it, and what
// it refuses.
#include "solver/direct.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/noise.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/operators/covariance.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/pca.hpp>
#include <hearsay/subspace.hpp>
#include <hearsay/threads.hpp>

#include <cmath>
#include <numbers>
#include <vector>

#include "linalg/gram_sum.hpp"
#include "operators/covariance_direct.hpp"
#include "support/expect_error.hpp"
#include "support/planted.hpp"
#include "support/random_block.hpp"
#include "support/reference.hpp"

namespace hearsay {
namespace {

PowerOptions direct(Index k) { return {.rank = k, .method = SolveMethod::direct}; }

// 2 - 2 cos(j pi / (n + 1)): the second difference.
Block<double> second_difference(Index n) {
  Block<double> A = Block<double>::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    A(i, i) = 2;
    if (i > 0) A(i, i - 1) = A(i - 1, i) = -1;
  }
  return A;
}

double eigenvalue(Index j, Index n) {
  return 2 - 2 * std::cos(static_cast<double>(j) * std::numbers::pi / static_cast<double>(n + 1));
}

TEST(Direct, FindsEitherEndAndBothOfAClosedForm) {
  constexpr Index n = 70;
  const Block<double> A = second_difference(n);
  const DenseSymmetric<double> op(A);
  for (const Which which : {Which::largest, Which::smallest, Which::both_ends, Which::magnitude}) {
    PowerOptions options = direct(4);
    options.which = which;
    const auto result = principal_subspace<double>(op, options);
    EXPECT_EQ(result.status, Status::converged) << name(which);
    EXPECT_EQ(result.method, SolveMethod::direct);
    EXPECT_EQ(result.products, n);
    EXPECT_LE((result.basis.transpose() * result.basis - Small<double>::Identity(4, 4)).norm(), 1e-13);
    EXPECT_LE((A * result.basis - result.basis * result.eigenvalues.asDiagonal()).norm(), 1e-13) << name(which);
    for (Index i = 0; i < 4; ++i) {
      const Index j = which == Which::smallest ? i + 1 : which == Which::both_ends && i >= 2 ? 4 - i : n - i;
      EXPECT_NEAR(result.eigenvalues(i), eigenvalue(j, n), 1e-13) << name(which) << ' ' << i;
    }
    EXPECT_EQ(result.certificate.sin_theta, Knowledge::bound) << name(which);
    EXPECT_EQ(result.certificate.nothing_missed, Knowledge::bound);
    EXPECT_EQ(result.certificate.nothing_missed_probability, 0);
    EXPECT_LE(result.certificate.sin_theta_bound, 1e-9) << name(which);
  }
}

TEST(Direct, ItsBoundHoldsForEveryGapDownToRounding) {
  for (const double gap : {1e-2, 1e-5, 1e-8, 1e-11, 1e-14, 0.0}) {
    std::vector<double> spectrum(30);
    for (Index i = 0; i < 30; ++i)
      spectrum[static_cast<std::size_t>(i)] = i < 3 ? 1.0 : (1 - gap) * std::pow(0.9, static_cast<double>(i - 3));
    const auto planted = test::planted_spectrum(spectrum, 5);
    const auto result = principal_subspace<double>(DenseSymmetric<double>(planted.A), direct(3));
    const double sine = test::reference_sin_theta(planted.top(3), result.basis);
    if (result.certificate.sin_theta == Knowledge::bound) {
      EXPECT_LE(sine, result.certificate.sin_theta_bound) << gap;
    }
    if (gap >= 1e-8) {
      EXPECT_EQ(result.status, Status::converged) << gap;
    }
    if (gap <= 1e-14) {
      EXPECT_EQ(result.status, Status::ambiguous) << gap;
      ASSERT_TRUE(result.certificate.cluster.has_value());
      EXPECT_EQ(result.certificate.cluster->first, 1);
      EXPECT_EQ(result.certificate.cluster->last, 4);
    }
  }
}

TEST(Direct, FindsAllThereIs) {
  for (const Index n : {1, 2, 3, 33, 80}) {
    const Small<double> M = test::random_block(n, n, 3);
    const Block<double> A = M + M.transpose();
    const auto result = principal_subspace<double>(DenseSymmetric<double>(A), direct(n));
    EXPECT_EQ(result.status, Status::converged);
    EXPECT_LE((result.eigenvalues.reverse() - test::reference_eigenvalues<double>(A)).norm(), 1e-12);
    EXPECT_EQ(result.certificate.sin_theta_bound, 0);
  }
}

TEST(Direct, SinglePrecisionIsRoundedOnceAtTheEnd) {
  std::vector<double> spectrum(60);
  for (std::size_t i = 0; i < 60; ++i) spectrum[i] = 60.0 - static_cast<double>(i);
  const auto planted = test::planted_spectrum(spectrum, 2);
  const Block<float> A = planted.A.cast<float>();
  const auto result = principal_subspace<float>(DenseSymmetric<float>(A), direct(5));
  EXPECT_EQ(result.status, Status::converged);
  const double sine = test::reference_sin_theta(planted.top(5), Block<double>(result.basis.cast<double>()));
  EXPECT_LE(sine, 1e-5);
  EXPECT_LE(sine, result.certificate.sin_theta_bound);
}

TEST(Direct, OutOfTheRangeOfSquares) {
  for (const int exponent : {700, -700}) {
    const Block<double> A = second_difference(20) * std::ldexp(1.0, exponent);
    const auto result = principal_subspace<double>(DenseSymmetric<double>(A), direct(2));
    EXPECT_EQ(result.status, Status::converged);
    EXPECT_NEAR(std::ldexp(result.eigenvalues(0), result.exponent - exponent), eigenvalue(20, 20), 1e-13);
    EXPECT_LE(result.certificate.sin_theta_bound, 1e-10);
  }
}

TEST(Direct, ObserversSeeItOnceAndMayStopIt) {
  const Block<double> A = second_difference(20);
  Hooks<double> hooks;
  int calls = 0;
  hooks.observe = [&](const Iteration<double>& now) {
    EXPECT_EQ(now.basis.cols(), 2);
    return ++calls < 1;
  };
  EXPECT_EQ(principal_subspace<double>(DenseSymmetric<double>(A), direct(2), hooks).status,
            Status::stopped_by_observer);
  EXPECT_EQ(calls, 1);
}

TEST(Direct, RefusesWhatItCannotDo) {
  const Block<double> A = second_difference(20);
  const DenseSymmetric<double> op(A);
  const auto solve = [&](const PowerOptions& options, const Hooks<double>& hooks = {}) {
    (void)principal_subspace<double>(op, options, hooks);
  };
  PowerOptions few = direct(2), none = direct(2);
  few.product_budget = 19;
  none.max_iterations = 0;
  EXPECT_THROW(solve(direct(21)), InvalidArgument);
  EXPECT_THROW(solve(few), InvalidArgument);
  EXPECT_THROW(solve(none), InvalidArgument);
  Hooks<double> saving;
  saving.checkpoint = [](const PowerState<double>&) {};
  EXPECT_THROW(solve(direct(2), saving), InvalidArgument);
  EXPECT_THROW((void)principal_subspace<double>(noisy(op, gaussian_noise<double>(1e-3, 1)), direct(2)),
               InvalidArgument);
  Block<double> lopsided = A;
  lopsided(0, 19) = 1;
  const CallbackOperator<double> wrong(20, [&](ConstBlockView<double> X, BlockView<double> Y) { Y = lopsided * X; });
  EXPECT_THROW((void)principal_subspace<double>(wrong, direct(2)), DataError);
  const CallbackOperator<double> broken(
      20, [](ConstBlockView<double>, BlockView<double> Y) { Y.setConstant(std::nan("")); });
  EXPECT_THROW((void)principal_subspace<double>(broken, direct(2)), DataError);
  EXPECT_THROW((void)accelerated_power<double>(op, direct(2)), InvalidArgument);
}

// ---- Mean and covariance in one reading

template <class S>
class DirectCovariance : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(DirectCovariance, Scalars);

// In double, about the exact mean, in the order of the rows.
Block<double> covariance_by_hand(const Block<double>& data, bool center) {
  Small<long double> X = data.cast<long double>();
  if (center) X.rowwise() -= (X.colwise().sum() / static_cast<long double>(X.rows())).eval();
  const long double divisor = static_cast<long double>(center ? std::max<Index>(1, X.rows() - 1) : X.rows());
  return Block<double>(((X.transpose() * X) / divisor).template cast<double>());
}

TYPED_TEST(DirectCovariance, IsTheCovarianceForEveryShape) {
  using S = TypeParam;
  for (const auto& [m, d] : {std::pair<Index, Index>{1, 1},
                             {2, 1},
                             {3, 2},
                             {40, 16},
                             {255, 17},
                             {256, 8},
                             {257, 33},
                             {1000, 50},
                             {5000, 3},
                             {700, 130}})
    for (const bool center : {true, false}) {
      const Block<S> data = (test::random_block(m, d, 4).array() + 3.0).matrix().template cast<S>();
      const auto formed = detail::form_covariance<S>(borrow(data), center);
      const Block<double> expected = covariance_by_hand(data.template cast<double>(), center);
      if (m == 1 && center) {
        EXPECT_FALSE(formed.has_value());  // nothing varies
        continue;
      }
      ASSERT_TRUE(formed.has_value()) << m << " x " << d;
      EXPECT_LE((formed->matrix - expected).norm(), formed->rounding + 1e-15 * expected.norm()) << m << " x " << d;
      EXPECT_EQ(formed->matrix, Block<double>(formed->matrix.transpose()));
      EXPECT_EQ(formed->passes, 1);
    }
}

TYPED_TEST(DirectCovariance, HasTheSameBitsForAnyThreads) {
  using S = TypeParam;
  const Block<S> data = test::random_block(40000, 40, 9).template cast<S>();
  const int before = threads();
  set_threads(1);
  const auto alone = detail::form_covariance<S>(borrow(data), true);
  set_threads(2);
  const auto together = detail::form_covariance<S>(borrow(data), true);
  set_threads(before);
  EXPECT_EQ(alone->matrix, together->matrix);
  EXPECT_EQ(alone->mean, together->mean);
}

// A column whose first numbers say nothing of its mean, and offsets that would cancel all digits.
TEST(DirectCovariance, ReadsAgainWhereTheProvisionalMeanIsFarOff) {
  Block<double> data = test::random_block(6400, 5, 6);
  data.col(1).array() += 1e8;
  for (Index i = 0; i < 6400; ++i)
    if (i % 100 != 0) data(i, 3) += 1e6;  // every row that is looked at first is one of the few others
  const auto formed = detail::form_covariance<double>(borrow(data), true);
  ASSERT_TRUE(formed.has_value());
  EXPECT_EQ(formed->passes, 2);
  const Block<double> expected = covariance_by_hand(data, true);
  EXPECT_LE((formed->matrix - expected).norm(), formed->rounding + 1e-15 * expected.norm());
  EXPECT_LE(std::abs(formed->matrix(1, 1) / expected(1, 1) - 1), 1e-7);
}

TEST(DirectCovariance, LeavesWhatHasNoSquaresToOthers) {
  for (const double value : {1e200, 1e-200, std::nan(""), std::numeric_limits<double>::infinity()}) {
    Block<double> data = test::random_block(50, 4, 6);
    if (std::isfinite(value))
      data *= value;
    else
      data(17, 2) = value;
    EXPECT_FALSE(detail::form_covariance<double>(borrow(data), true).has_value()) << value;
  }
  PcaOptions<double> options{.power = direct(2)};
  Block<double> data = test::random_block(50, 4, 6) * 1e200;
  const auto result = pca<double>(data, options);
  EXPECT_EQ(result.power.method, SolveMethod::direct);
  EXPECT_EQ(result.power.status, Status::converged);
  data(17, 2) = std::nan("");
  EXPECT_THROW((void)pca<double>(data, options), DataError);
}

TYPED_TEST(DirectCovariance, PcaAgreesWithTheSingularValueDecomposition) {
  using S = TypeParam;
  for (const bool center : {true, false})
    for (const auto& [m, d] : {std::pair<Index, Index>{400, 30}, {60, 200}, {50, 50}}) {
      Block<double> data = test::random_block(m, d, 1);
      for (Index j = 0; j < d; ++j) data.col(j) *= std::pow(0.8, static_cast<double>(std::min<Index>(j, 20)));
      data = Block<double>(data.template cast<S>().template cast<double>());
      const Block<S> stored = data.template cast<S>();
      PcaOptions<S> options{.power = direct(4), .center = center};
      const auto result = pca<S>(stored, options);
      Eigen::MatrixXd centred = data;
      if (center) centred.rowwise() -= centred.colwise().mean().eval();
      const test::RightVectors svd = test::reference_right_vectors(centred);
      const double digits = sizeof(S) == sizeof(float) ? 2e-5 : 1e-12;
      EXPECT_EQ(result.power.status, Status::converged);
      EXPECT_EQ(result.power.method, SolveMethod::direct);
      const double sine =
          test::reference_sin_theta(svd.V.leftCols(4), Block<double>(result.power.basis.template cast<double>()));
      EXPECT_LE(sine, digits);
      EXPECT_LE(sine, result.power.certificate.sin_theta_bound);
      EXPECT_LE(
          (result.singular_values.template cast<double>().array() / svd.values.head(4).array() - 1).abs().maxCoeff(),
          digits);
      const double divisor = static_cast<double>(center ? m - 1 : m);
      EXPECT_NEAR(result.total_variance / (centred.squaredNorm() / divisor), 1, digits);
    }
}

TEST(DirectCovariance, TakesStandardizedColumnsWeightsAndMissingEntriesToo) {
  Block<double> data = test::random_block(300, 12, 8);
  for (Index j = 0; j < 12; ++j) data.col(j) *= std::pow(0.7, static_cast<double>(j));
  data(5, 3) = std::nan("");
  const std::vector<double> weights = [] {
    std::vector<double> made(300, 1.0);
    for (std::size_t i = 0; i < made.size(); i += 3) made[i] = 2;
    return made;
  }();
  PcaOptions<double> options{.power = {.rank = 3, .method = SolveMethod::krylov, .tolerance = 1e-12},
                             .missing_as_mean = true,
                             .weights = weights};
  const auto expected = pca<double>(data, options);
  options.power.method = SolveMethod::direct;
  const auto result = pca<double>(data, options);
  EXPECT_EQ(result.power.method, SolveMethod::direct);
  EXPECT_LE(test::reference_sin_theta(expected.power.basis, result.power.basis), 1e-10);
  EXPECT_LE((result.power.eigenvalues - expected.power.eigenvalues).norm(), 1e-12);
  EXPECT_EQ(result.missing.entries, 1);
}

// ---- Fewer rows than columns

TYPED_TEST(DirectCovariance, OfSamplesIsTheirMatrixForEveryShape) {
  using S = TypeParam;
  for (const auto& [m, d] :
       {std::pair<Index, Index>{1, 2}, {2, 9}, {15, 16}, {16, 200}, {17, 5000}, {33, 70}, {150, 1100}})
    for (const bool center : {true, false}) {
      const Block<S> data = (test::random_block(m, d, 4).array() + 3.0).matrix().template cast<S>();
      const DenseCovariance<S> A(data, {.center = center});
      Block<double> rows = data.template cast<double>();
      if (center) rows.rowwise() -= A.mean().transpose().template cast<double>();
      const Block<double> expected =
          rows * rows.transpose() / static_cast<double>(center ? std::max<Index>(1, m - 1) : m);
      const Block<double> made = A.samples_matrix();
      EXPECT_LE((made - expected).norm(),
                2 * static_cast<double>(std::numeric_limits<S>::epsilon()) * 16 * expected.norm())
          << m << " x " << d;
      EXPECT_EQ(made, Block<double>(made.transpose()));
      const Block<S> V = test::random_block(m, 7, 3).template cast<S>();
      Block<S> out(d, 7);
      A.to_features(V, out);
      const Block<double> features = rows.transpose() * V.template cast<double>();
      EXPECT_LE((out.template cast<double>() - features).norm(),
                32 * static_cast<double>(std::numeric_limits<S>::epsilon()) * features.norm())
          << m << " x " << d;
    }
}

TEST(DirectCovariance, OfSamplesHasTheSameBitsForAnyThreads) {
  const Block<double> data = test::random_block(70, 9000, 9);
  const DenseCovariance<double> A(data);
  const int before = threads();
  set_threads(1);
  const Block<double> alone = A.samples_matrix();
  set_threads(2);
  const Block<double> together = A.samples_matrix();
  set_threads(before);
  EXPECT_EQ(alone, together);
}

TEST(DirectCovariance, AutoTakesItForWideRowsAndSaysWhatItSaysOfTallOnes) {
  Block<double> data = test::random_block(60, 900, 5);
  for (Index j = 0; j < 900; ++j) data.col(j) *= std::pow(0.9, static_cast<double>(std::min<Index>(j, 100)));
  data.array() += 1e3;
  const auto result = pca<double>(data, {.power = {.rank = 5}});
  EXPECT_EQ(result.power.method, SolveMethod::direct);
  EXPECT_TRUE(result.by_samples);
  EXPECT_EQ(result.power.status, Status::converged);
  EXPECT_EQ(result.power.certificate.nothing_missed_probability, 0);
  const auto iterated = pca<double>(data, {.power = {.rank = 5, .method = SolveMethod::krylov, .tolerance = 1e-12}});
  EXPECT_LE(test::reference_sin_theta(iterated.power.basis, result.power.basis), 1e-9);
  EXPECT_LE((result.singular_values - iterated.singular_values).norm(), 1e-10 * result.singular_values(0));
  EXPECT_NEAR(result.total_variance / iterated.total_variance, 1, 1e-12);
}

// Rounded to single precision the means are off by a tenth of what the columns vary.
TEST(DirectCovariance, OffsetsOfWideRowsInSinglePrecisionCancelNothing) {
  Block<double> rows = test::random_block(30, 80, 5);
  for (Index j = 0; j < 80; ++j) rows.col(j) *= 3e-3 * std::pow(0.9, static_cast<double>(j));
  rows.array() += 1e4;
  const Block<float> data = rows.cast<float>();
  Eigen::MatrixXd centred = data.cast<double>();
  centred.rowwise() -= centred.colwise().mean().eval();
  const test::RightVectors svd = test::reference_right_vectors(centred);
  for (const SolveMethod method : {SolveMethod::direct, SolveMethod::krylov}) {
    const auto result = pca<float>(data, {.power = {.rank = 3, .method = method}});
    const double sine = test::reference_sin_theta(svd.V.leftCols(3), Block<double>(result.power.basis.cast<double>()));
    EXPECT_EQ(result.power.status, Status::converged) << name(method);
    EXPECT_LE(sine, 1e-3) << name(method);
    EXPECT_LE(sine, result.power.certificate.sin_theta_bound) << name(method);
  }
}

// Who watches steps gets some; who only may stop the solve does not keep it from the shortest way.
TEST(DirectCovariance, IsKeptFromAutoByWhoWatchesStepsAlone) {
  const Block<double> data = test::random_block(400, 20, 5);
  for (const bool steps : {true, false}) {
    Hooks<double> hooks;
    Index seen = 0;
    hooks.observe = [&](const Iteration<double>&) { return ++seen, true; };
    hooks.observe_steps = steps;
    const auto result = pca<double>(data, {.power = {.rank = 3}}, hooks);
    EXPECT_EQ(result.power.method == SolveMethod::direct, !steps);
    EXPECT_GE(seen, 1);
  }
}

}  // namespace
}  // namespace hearsay

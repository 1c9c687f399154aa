// The block Krylov space: right where single vectors are not, honest about its residual, and chosen only where it may.
#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/error.hpp>
#include <hearsay/graph_tools.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/noise.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/subspace.hpp>
#include <hearsay/threads.hpp>

#include <cmath>

#include "support/planted.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::planted_spectrum;
using test::reference_sin_theta;

PowerOptions krylov(Index rank, double tolerance = 1e-10) {
  return {.rank = rank, .method = SolveMethod::krylov, .tolerance = tolerance};
}

std::vector<double> spectrum(Index d, double (*value)(double)) {
  std::vector<double> values;
  for (Index i = 1; i <= d; ++i) values.push_back(value(static_cast<double>(i)));
  return values;
}

double inverse(double i) { return 1 / i; }
double slow(double i) { return 1 - i / 500; }  // gaps of 1/500: takes restarts

double krylov_residual(const Block<double>& A, const Block<double>& V) {
  const Eigen::MatrixXd AV = A * V, R = AV - V * (V.transpose() * AV);
  return R.norm() / AV.norm();
}

TEST(Krylov, FindsThePlantedSubspaceWithFewerProductsThanThePowerMethod) {
  const auto planted = planted_spectrum(spectrum(400, inverse), 1);
  const DenseSymmetric<double> A(planted.A);

  const auto result = principal_subspace<double>(A, krylov(8));
  const auto power = accelerated_power<double>(A, {.rank = 8});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_EQ(result.method, SolveMethod::krylov);
  EXPECT_LE(reference_sin_theta(planted.top(8), result.basis), 1e-8);
  EXPECT_LE((result.eigenvalues - planted.eigenvalues.head(8)).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_LT(result.products, power.products * 2 / 3);
}

TEST(Krylov, SeesAnEigenvalueOfHighMultiplicityFromEveryStart) {
  const auto planted = planted_spectrum(test::paper_spectrum(200, 10, 1e-3), 2);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    PowerOptions options = krylov(10);
    options.seed = seed;
    const auto result = principal_subspace<double>(DenseSymmetric<double>(planted.A), options);
    ASSERT_EQ(result.status, Status::converged) << "seed " << seed;
    ASSERT_LE(reference_sin_theta(planted.top(10), result.basis), 1e-6) << "seed " << seed;
  }
}

// A block of 16 columns holds 16 copies of an eigenvalue, whatever the power; more of them, or as good as, must be
// missed and looked for.
TEST(Krylov, FindsMoreCopiesOfAnEigenvalueThanItsBlockHasColumns) {
  for (const Index copies : {9, 17, 40})
    for (const double spread : {0.0, 1e-8, 1e-3})
      for (const double goal : {1e-2, 1e-4, 1e-8}) {
        const Index d = 200, k = copies + 5;
        Block<double> A = Block<double>::Zero(d, d);
        for (Index i = 0; i < d; ++i)
          A(i, i) = i < copies ? 1 - spread * double(i) / double(copies)
                               : std::max(std::pow(0.9, i - copies + 1), 0.3 * double(d - i) / double(d));
        PowerOptions options = krylov(k, goal);
        options.accuracy = goal;
        const auto result = principal_subspace<double>(DenseSymmetric<double>(A), options);
        const double truth = reference_sin_theta(Block<double>::Identity(d, k), result.basis);
        ASSERT_EQ(result.status, Status::converged) << copies << ", spread " << spread << ", goal " << goal;
        ASSERT_LE(truth, result.sin_theta_estimate) << copies << ", spread " << spread << ", goal " << goal;
        ASSERT_LE(truth, goal) << copies << ", spread " << spread << ", goal " << goal;
      }
}

TEST(Krylov, ClaimsNothingWhereItMayHaveMissedCopiesAndCouldNotLook) {
  Block<double> A = Block<double>::Zero(300, 300);
  for (Index i = 0; i < 300; ++i) A(i, i) = i < 20 ? 1 : std::max(std::pow(0.9, i - 19), 0.3 * double(300 - i) / 300);
  PowerOptions options = krylov(25, 1e-4);
  options.max_iterations = 12;
  const auto result = principal_subspace<double>(DenseSymmetric<double>(A), options);
  EXPECT_EQ(result.status, Status::iteration_limit);
  EXPECT_EQ(result.sin_theta_estimate, 1);
}

TEST(Krylov, StartsAgainWhereItsSpaceIsExhausted) {
  Block<double> A = Block<double>::Zero(200, 200);  // three eigenvalues: two blocks reach all that their start can
  for (Index i = 0; i < 200; ++i) A(i, i) = i < 30 ? 2 : i < 40 ? 1 : 0;
  const auto result = principal_subspace<double>(DenseSymmetric<double>(A), krylov(35));
  EXPECT_EQ(result.status, Status::ambiguous);  // 35 lies among the ten ones
  ASSERT_TRUE(result.certificate.cluster);
  EXPECT_EQ(result.certificate.cluster->first, 31);
  EXPECT_LE((result.eigenvalues.head(30).array() - 2).abs().maxCoeff(), 1e-12);
  EXPECT_LE((result.eigenvalues.tail(5).array() - 1).abs().maxCoeff(), 1e-12);
}

TEST(Krylov, ReportsTheResidualOfTheBasisItReturns) {
  const auto planted = planted_spectrum(spectrum(300, slow), 3);
  for (const double tolerance : {1e-2, 1e-4, 1e-8, 1e-13}) {
    const auto result = principal_subspace<double>(DenseSymmetric<double>(planted.A), krylov(6, tolerance));
    EXPECT_EQ(result.status, tolerance > 1e-3 ? Status::ambiguous : Status::converged) << tolerance;
    EXPECT_NEAR(result.residual, krylov_residual(planted.A, result.basis), 1e-14 + 1e-6 * result.residual);
    EXPECT_LE((gram<double>(result.basis, result.basis) - Small<double>::Identity(6, 6)).cwiseAbs().maxCoeff(), 1e-13);
  }
}

TEST(Krylov, GoesOnThroughRestarts) {
  const auto planted = planted_spectrum(spectrum(499, slow), 4);
  const auto result = principal_subspace<double>(DenseSymmetric<double>(planted.A), krylov(12));
  EXPECT_EQ(result.status, Status::converged);
  EXPECT_GT(result.products, 24 + 5 * 16 + 200);  // more than the space holds
  EXPECT_LE(reference_sin_theta(planted.top(12), result.basis), 1e-6);
}

// The estimate may be generous, never rosy; and it is sharp enough to stop by.
TEST(Krylov, EstimatesTheSineOnTheSafeSideAsThePowerMethodDoes) {
  int sharp = 0, all = 0;
  for (const auto& values : {spectrum(200, inverse), spectrum(300, slow), test::paper_spectrum(250, 5, 1e-2),
                             spectrum(240, [](double i) { return std::exp(-i / 10); })}) {
    const auto planted = planted_spectrum(values, 5);
    for (const SolveMethod method : {SolveMethod::krylov, SolveMethod::anpm})
      for (const std::size_t k : {1, 5, 9})
        for (const double goal : {1e-1, 1e-2, 1e-4, 1e-7}) {
          if (values[k - 1] == values[k]) continue;  // no gap
          PowerOptions options{.rank = static_cast<Index>(k), .method = method, .tolerance = goal, .accuracy = goal};
          options.max_iterations = 5000;
          const auto result = principal_subspace<double>(DenseSymmetric<double>(planted.A), options);
          const double truth = reference_sin_theta(planted.top(static_cast<Index>(k)), result.basis);
          EXPECT_EQ(result.status, Status::converged) << name(method) << ", k = " << k << ", goal " << goal;
          EXPECT_LE(result.sin_theta_estimate, goal);
          EXPECT_LE(truth, result.sin_theta_estimate + 1e-12) << name(method) << ", k = " << k << ", goal " << goal;
          sharp += result.sin_theta_estimate <= 10 * truth ? 1 : 0;
          ++all;
        }
  }
  EXPECT_GE(sharp, all * 7 / 10) << sharp << " of " << all;
}

TEST(Krylov, ServesEveryShape) {
  for (const auto& [d, k] : {std::pair<Index, Index>{1, 1}, {5, 1}, {5, 5}, {16, 3}, {17, 16}, {40, 40}, {60, 30}}) {
    const auto planted = planted_spectrum(spectrum(d, inverse), 6);
    const auto result = principal_subspace<double>(DenseSymmetric<double>(planted.A), krylov(k));
    EXPECT_EQ(result.status, Status::converged) << d << ", " << k;
    EXPECT_LE((result.eigenvalues - planted.eigenvalues.head(k)).cwiseAbs().maxCoeff(), 1e-9) << d << ", " << k;
    EXPECT_LE(krylov_residual(planted.A, result.basis), 1e-10) << d << ", " << k;
  }
}

TEST(Krylov, ClaimsNoMoreThanRoundingAllowsWhereTheSpaceIsEverything) {
  const auto planted = planted_spectrum(spectrum(40, inverse), 16);
  const auto result = principal_subspace<double>(DenseSymmetric<double>(planted.A), krylov(4, 1e-14));
  EXPECT_GT(result.residual, 0);
  EXPECT_GT(result.sin_theta_estimate, 0);
  EXPECT_LE(result.sin_theta_estimate, 1e-12);
}

TEST(Krylov, OfTheZeroMatrixAnyBasisIsRight) {
  const Block<double> zero = Block<double>::Zero(30, 30);
  const auto result = principal_subspace<double>(DenseSymmetric<double>(zero), krylov(3));
  EXPECT_EQ(result.status, Status::ambiguous);
  EXPECT_EQ(result.eigenvalues, Vector<double>::Zero(3));
}

TEST(Krylov, KnowsNoScale) {
  const auto planted = planted_spectrum(spectrum(100, inverse), 7);
  const auto unit = principal_subspace<double>(DenseSymmetric<double>(planted.A), krylov(4));
  for (const int exponent : {900, -900, 40}) {
    const Block<double> scaled = planted.A * std::ldexp(1.0, exponent);
    const auto result = principal_subspace<double>(DenseSymmetric<double>(scaled), krylov(4));
    EXPECT_EQ(result.status, Status::converged);
    EXPECT_LE(reference_sin_theta(planted.top(4), result.basis), 1e-8);
    EXPECT_NEAR(std::ldexp(result.eigenvalues(3), -exponent), unit.eigenvalues(3), 1e-12);
  }
}

TEST(Krylov, StartsWhereItIsTold) {
  const auto planted = planted_spectrum(spectrum(200, inverse), 8);
  const Block<double> start = planted.top(20);
  Hooks<double> hooks;
  hooks.start = &start;
  const auto result = principal_subspace<double>(DenseSymmetric<double>(planted.A), krylov(10), hooks);
  EXPECT_LE(result.iterations, 5);  // to prove that it missed nothing
  EXPECT_EQ(result.status, Status::converged);
  PowerOptions trusting = krylov(10);
  trusting.certify = Certify::residual;
  const auto trusted = principal_subspace<double>(DenseSymmetric<double>(planted.A), trusting, hooks);
  EXPECT_EQ(trusted.iterations, 1);
  EXPECT_EQ(trusted.certificate.sin_theta, Knowledge::unknown);
}

TEST(Krylov, FindsWhatAStartOfWrongEigenvectorsLeavesOut) {
  const auto planted = planted_spectrum(spectrum(200, inverse), 8);
  const Block<double> start = planted.U.middleCols(1, 20);  // all but the first
  Hooks<double> hooks;
  hooks.start = &start;
  for (const SolveMethod method : {SolveMethod::krylov, SolveMethod::anpm}) {
    PowerOptions options = krylov(10);
    options.method = method;
    const auto result = principal_subspace<double>(DenseSymmetric<double>(planted.A), options, hooks);
    EXPECT_EQ(result.status, Status::converged);
    EXPECT_LE(reference_sin_theta(planted.top(10), result.basis), result.certificate.sin_theta_bound);
    EXPECT_LE(result.certificate.sin_theta_bound, 1e-6);
  }
}

TEST(Krylov, GivesTheSameBitsOnAnyNumberOfThreads) {
  const auto planted = planted_spectrum(spectrum(499, slow), 9);
  const int before = threads();
  set_threads(1);
  const auto one = principal_subspace<double>(DenseSymmetric<double>(planted.A), krylov(5, 1e-6));
  set_threads(3);
  const auto three = principal_subspace<double>(DenseSymmetric<double>(planted.A), krylov(5, 1e-6));
  set_threads(before);
  EXPECT_EQ(one.basis, three.basis);
  EXPECT_EQ(one.residual, three.residual);
}

TEST(Krylov, WorksInSinglePrecisionToWhatThatHolds) {
  const auto planted = planted_spectrum(spectrum(200, inverse), 10);
  const Block<float> A = planted.A.cast<float>();
  const auto result = principal_subspace<float>(DenseSymmetric<float>(A), krylov(5, 1e-5));
  EXPECT_EQ(result.status, Status::converged);
  EXPECT_LE(reference_sin_theta(planted.top(5), result.basis.cast<double>()), 1e-3);
}

TEST(Krylov, LetsTheObserverWatchAndStop) {
  const auto planted = planted_spectrum(spectrum(499, slow), 11);
  const Block<double> reference = planted.top(3);
  Hooks<double> hooks;
  hooks.reference = &reference;
  int seen = 0;
  hooks.observe = [&](const Iteration<double>& now) {
    EXPECT_NEAR(now.entry.sin_theta, reference_sin_theta(reference, Block<double>(now.basis)), 1e-10);
    return ++seen < 3;
  };
  const auto result = principal_subspace<double>(DenseSymmetric<double>(planted.A), krylov(3), hooks);
  EXPECT_EQ(result.status, Status::stopped_by_observer);
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(result.history.size(), 3u);
}

TEST(Krylov, SaysWhenIterationsOrArithmeticEndTooSoon) {
  const auto planted = planted_spectrum(spectrum(499, slow), 12);
  PowerOptions few = krylov(3);
  few.max_iterations = 4;
  EXPECT_EQ(principal_subspace<double>(DenseSymmetric<double>(planted.A), few).status, Status::iteration_limit);
  const auto floor = principal_subspace<double>(DenseSymmetric<double>(planted.A), krylov(3, 1e-19));
  EXPECT_EQ(floor.status, Status::rounding_floor);
  EXPECT_LE(floor.residual, 1e-13);
}

TEST(Krylov, RefusesWhatItCannotDo) {
  const auto planted = planted_spectrum(spectrum(60, inverse), 13);
  const DenseSymmetric<double> A(planted.A);
  EXPECT_THROW((void)principal_subspace<double>(noisy(A, gaussian_noise<double>(1e-3, 1)), krylov(2)), InvalidArgument);
  Hooks<double> saving;
  saving.checkpoint = [](const PowerState<double>&) {};
  EXPECT_THROW((void)principal_subspace<double>(A, krylov(2), saving), InvalidArgument);
  PowerOptions too_few = krylov(40);
  too_few.max_iterations = 2;
  EXPECT_THROW((void)principal_subspace<double>(A, too_few), InvalidArgument);
}

TEST(Krylov, EndsWithTheBestBasisWhereAProductIsNotFinite) {
  const auto planted = planted_spectrum(spectrum(499, slow), 14);
  Index products = 0;
  const CallbackOperator<double> A(499,
                                   [&](ConstBlockView<double> X, BlockView<double> Y) {
                                     Y = planted.A * X;
                                     if (++products == 5) Y(7, 3) = std::nan("");
                                   },
                                   {});
  const auto result = principal_subspace<double>(A, krylov(3));
  EXPECT_EQ(result.status, Status::breakdown);
  EXPECT_NEAR(result.residual, krylov_residual(planted.A, result.basis), 1e-12);
}

// Ten eigenvalues within half of their distance from the next could be more than a block of eight has found. That they
// are not is proved, and so they are not called a cluster.
TEST(BlockKrylov, TellsCommunitiesFromCopies) {
  const NormalisedGraph<double> graph(planted_partition(2000, 10, 12, 2, 1));
  for (const double tolerance : {1e-4, 1e-8}) {
    const auto result = principal_subspace<double>(graph, krylov(10, tolerance));
    EXPECT_EQ(result.status, Status::converged);
    EXPECT_LT(result.certificate.sin_theta_bound, 1);
    EXPECT_GE(result.certificate.nothing_missed_count, 10);
  }
}

// Few entries a row and few eigenvectors: blocks of four, and still all copies of an eigenvalue.
TEST(BlockKrylov, TakesNarrowBlocksOfSparseMatrices) {
  CsrMatrix<double> A{.rows = 600, .cols = 600, .row_start = {0}};  // diagonal, nine copies of the largest
  for (int i = 0; i < 600; ++i) {
    A.columns.push_back(i);
    A.values.push_back(i < 9 ? 2.0 : 1.0 / (1 + i));
    A.row_start.push_back(i + 1);
  }
  const SparseSymmetric<double> diagonal(borrow(A));
  const auto few = principal_subspace<double>(diagonal, krylov(3)),
             all = principal_subspace<double>(diagonal, krylov(9));
  EXPECT_EQ(few.products / few.passes, 4);
  EXPECT_NE(few.status, Status::converged);  // three of nine are no space of their own
  EXPECT_EQ(all.status, Status::converged);
  EXPECT_NEAR(all.eigenvalues(8), 2, 1e-12);
  const auto eight = principal_subspace<double>(diagonal, krylov(8));
  EXPECT_EQ(eight.status, Status::ambiguous);
  EXPECT_NEAR(eight.eigenvalues(7), 2, 1e-9);
}

TEST(ChooseMethod, TakesKrylovOnlyForExactDearProductsAndFreeOptions) {
  const auto planted = planted_spectrum(spectrum(300, inverse), 15);
  const DenseSymmetric<double> A(planted.A);
  EXPECT_EQ(choose_method<double>(A, {.rank = 5}), SolveMethod::krylov);
  EXPECT_EQ(choose_method<double>(noisy(A, gaussian_noise<double>(1e-3, 1)), {.rank = 5}), SolveMethod::averaged);
  EXPECT_EQ(choose_method<double>(A, {.rank = 5, .momentum = Momentum::none()}), SolveMethod::anpm);
  EXPECT_EQ(choose_method<double>(A, {.rank = 5, .oversample = 3}), SolveMethod::anpm);
  Hooks<double> saving;
  saving.checkpoint = [](const PowerState<double>&) {};
  EXPECT_EQ(choose_method<double>(A, {.rank = 5}, saving), SolveMethod::anpm);
  const CallbackOperator<double> unknown(300, [&](ConstBlockView<double> X, BlockView<double> Y) { A.apply(X, Y); },
                                         {});
  EXPECT_EQ(choose_method<double>(unknown, {.rank = 5}), SolveMethod::anpm);
  const NormalisedGraph<double> graph(planted_partition(2000, 10, 8, 1, 1));
  EXPECT_EQ(choose_method<double>(graph, {.rank = 10}), SolveMethod::anpm);
}

}  // namespace
}  // namespace hearsay

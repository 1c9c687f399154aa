// On exact products: the right subspace, the promised rate, and what symmetry demands.
#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>
#include <hearsay/threads.hpp>

#include <cmath>

#include "support/planted.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::planted_spectrum;
using test::reference_sin_theta;

std::vector<double> powers(Index d, double ratio) {
  std::vector<double> values;
  for (Index i = 0; i < d; ++i) values.push_back(std::pow(ratio, static_cast<double>(i)));
  return values;
}

double residual_from_scratch(const Block<double>& A, const Block<double>& V) {
  const Eigen::MatrixXd AV = A * V, R = AV - V * (V.transpose() * AV);
  return R.norm() / AV.norm();
}

TEST(AcceleratedPower, FindsAWellSeparatedSubspaceToTheLimitOfDouble) {
  for (const Damping damping : {Damping::symmetric, Damping::centred}) {
    const auto planted = planted_spectrum(powers(200, 0.8), 1);

    const auto result = accelerated_power<double>(DenseSymmetric<double>(planted.A),
                                                  {.rank = 6, .damping = damping, .tolerance = 1e-14});

    EXPECT_LE(reference_sin_theta(planted.top(6), result.basis), 1e-12);
    EXPECT_LE((result.eigenvalues - planted.eigenvalues.head(6)).cwiseAbs().maxCoeff(), 1e-13);
  }
}

TEST(AcceleratedPower, ReportsTheResidualOfTheBasisItReturns) {
  const auto planted = planted_spectrum(powers(80, 0.9), 2);

  const auto result = accelerated_power<double>(DenseSymmetric<double>(planted.A), {.rank = 5, .tolerance = 1e-6});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_LE(result.residual, 1e-6);
  EXPECT_NEAR(result.residual, residual_from_scratch(planted.A, result.basis), 1e-13);
  EXPECT_LE((gram<double>(result.basis, result.basis) - Small<double>::Identity(5, 5)).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(AcceleratedPower, EstimatesTheSineFromResidualAndGapOnTheSafeSide) {
  const auto planted = planted_spectrum(powers(120, 0.9), 3);

  const auto result =
      accelerated_power<double>(DenseSymmetric<double>(planted.A), {.rank = 4, .oversample = 4, .tolerance = 1e-5});

  const double truth = reference_sin_theta(planted.top(4), result.basis);
  EXPECT_GE(result.sin_theta_estimate, 0.9 * truth);
  EXPECT_LE(result.sin_theta_estimate, 1e3 * truth);
}

TEST(AcceleratedPower, DoesNotOverstateTheGapWhenAFixedEdgeLiesAboveTheNextEigenvalue) {
  const auto planted = planted_spectrum(powers(80, 0.9), 13);  // lambda_3 = 0.81, lambda_4 = 0.729
  const double edge = 0.79;

  const auto result = accelerated_power<double>(
      DenseSymmetric<double>(planted.A), {.rank = 3, .momentum = Momentum::fixed(edge * edge / 4), .tolerance = 1e-6});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_LE(result.gap, 0.81 - 0.729 + 1e-9);
}

TEST(AcceleratedPower, FollowsTheClosedFormOnTheLowerBoundInstance) {
  // A = diag(lambda x k, 2 sqrt(beta) x (d - k)): tan(theta_k) = h_0 2 beta^{t/2} / ((l+)^t + (l-)^t).
  const Index d = 60, k = 3;
  const double lambda = 1.0, two_sqrt_beta = 0.9, beta = two_sqrt_beta * two_sqrt_beta / 4;
  Block<double> A = Block<double>::Zero(d, d);
  A.diagonal().setConstant(two_sqrt_beta);
  A.diagonal().head(k).setConstant(lambda);
  const Block<double> U = Block<double>::Identity(d, k);
  const double root = std::sqrt(lambda * lambda - 4 * beta), plus = (lambda + root) / 2, minus = (lambda - root) / 2;

  double h_0 = 0;
  int compared = 0;
  Hooks<double> hooks;
  hooks.observe = [&](const Iteration<double>& now) {
    const double tangent = tan_theta<double>(U, now.X);
    const auto t = static_cast<double>(now.entry.t);
    if (now.entry.t == 0) h_0 = tangent;
    const double expected = h_0 * 2 * std::pow(beta, t / 2) / (std::pow(plus, t) + std::pow(minus, t));
    if (expected < 1e-10) return false;
    EXPECT_NEAR(tangent / expected, 1.0, 1e-8) << "t = " << t;
    ++compared;
    return true;
  };
  const auto result = accelerated_power<double>(
      DenseSymmetric<double>(A),
      {.rank = k, .momentum = Momentum::fixed(beta), .oversample = 0, .tolerance = 1e-15, .max_iterations = 400},
      hooks);

  EXPECT_GT(compared, 30);
  EXPECT_EQ(result.status, Status::stopped_by_observer);
}

TEST(AcceleratedPower, DoesNotCareAboutTheScaleOfTheMatrix) {
  const auto planted = planted_spectrum(powers(64, 0.85), 4);
  const auto one = accelerated_power<double>(DenseSymmetric<double>(planted.A), {.rank = 3, .tolerance = 1e-9});
  for (const double scale : {0x1p-20, 0x1p30}) {
    const Block<double> scaled = planted.A * scale;

    const auto result = accelerated_power<double>(DenseSymmetric<double>(scaled), {.rank = 3, .tolerance = 1e-9});

    EXPECT_EQ(result.iterations, one.iterations);
    EXPECT_EQ(result.basis, one.basis);
    EXPECT_EQ(result.eigenvalues, Vector<double>(one.eigenvalues * scale));
  }
}

TEST(AcceleratedPower, TurnsWithTheMatrix) {
  const auto planted = planted_spectrum(powers(50, 0.8), 5);
  const Block<double> Q = random_orthonormal<double>(50, 50, {.seed = 6, .stream = Stream::test});
  const Block<double> turned = Q * planted.A * Q.transpose(), start = random_orthonormal<double>(50, 6, {.seed = 7});
  const Block<double> turned_start = Q * start;
  const PowerOptions options{.rank = 3, .oversample = 3, .tolerance = 1e-8};
  Hooks<double> hooks, turned_hooks;
  hooks.start = &start;
  turned_hooks.start = &turned_start;

  const auto result = accelerated_power<double>(DenseSymmetric<double>(planted.A), options, hooks);
  const auto turned_result = accelerated_power<double>(DenseSymmetric<double>(turned), options, turned_hooks);

  EXPECT_EQ(result.iterations, turned_result.iterations);
  EXPECT_LE(reference_sin_theta(Q * result.basis, turned_result.basis), 1e-10);
}

TEST(AcceleratedPower, IsTheSameToTheLastBitForAnyNumberOfThreads) {
  const auto planted = planted_spectrum(powers(300, 0.95), 8);
  const int before = threads();
  set_threads(1);
  const auto one = accelerated_power<double>(DenseSymmetric<double>(planted.A), {.rank = 5});
  set_threads(4);
  const auto many = accelerated_power<double>(DenseSymmetric<double>(planted.A), {.rank = 5});
  set_threads(before);

  EXPECT_EQ(one.basis, many.basis);
  EXPECT_EQ(one.iterations, many.iterations);
}

TEST(AcceleratedPower, ChangesNothingInTheFirstColumnsWhenOneIsAdded) {
  const auto planted = planted_spectrum(powers(60, 0.9), 9);
  std::vector<Block<double>> blocks[2];
  for (const Index extra : {0, 1}) {
    Hooks<double> hooks;
    hooks.observe = [&](const Iteration<double>& now) {
      blocks[extra].push_back(now.X.leftCols(4));
      return now.entry.t < 15;
    };
    static_cast<void>(accelerated_power<double>(
        DenseSymmetric<double>(planted.A),
        {.rank = 4, .momentum = Momentum::fixed(0.05), .oversample = extra, .tolerance = 1e-15}, hooks));
  }

  ASSERT_EQ(blocks[0].size(), blocks[1].size());
  for (std::size_t t = 0; t < blocks[0].size(); ++t)
    EXPECT_LE((blocks[0][t] - blocks[1][t]).cwiseAbs().maxCoeff(), 1e-11) << "t = " << t;
}

TEST(AutomaticMomentum, NeverOvershootsTheEigenvalueItStandsFor) {
  // By Cauchy interlacing the smallest Ritz value of k + 1 columns is at most lambda_{k+1}.
  const auto planted = planted_spectrum({10, 9, 5, 4.9, 1, 0.9, 0.3, 0.2, 0.1, 0.1, 0.05, 0.01}, 10);

  const auto result =
      accelerated_power<double>(DenseSymmetric<double>(planted.A), {.rank = 3, .oversample = 1, .tolerance = 1e-12});

  for (const auto& entry : result.history) EXPECT_LE(entry.edge, 4.9 * (1 + 1e-12));
  EXPECT_EQ(result.status, Status::converged);
}

TEST(AcceleratedPower, NeverCallsASlowExactSolveANoiseFloor) {
  std::vector<double> spectrum;
  for (int i = 0; i < 100; ++i) spectrum.push_back(1 - 1e-4 * i);
  const auto planted = planted_spectrum(spectrum, 11);

  const auto result = accelerated_power<double>(
      DenseSymmetric<double>(planted.A),
      {.rank = 5, .momentum = Momentum::none(), .oversample = 1, .tolerance = 1e-9, .max_iterations = 1500});

  EXPECT_EQ(result.status, Status::iteration_limit);
  EXPECT_EQ(result.iterations, 1500);
}

TEST(AcceleratedPower, CountsWhatItCost) {
  const auto planted = planted_spectrum(powers(90, 0.9), 12);
  int applications = 0, columns = 0;
  struct Counting {
    using Scalar = double;
    const DenseSymmetric<double>& A;
    int *applications, *columns;
    Index dim() const { return A.dim(); }
    void apply(ConstBlockView<double> X, BlockView<double> Y) const {
      ++*applications;
      *columns += static_cast<int>(X.cols());
      A.apply(X, Y);
    }
  };
  const DenseSymmetric<double> dense(planted.A);

  const auto result = accelerated_power<double>(Counting{dense, &applications, &columns}, {.rank = 4});

  EXPECT_EQ(result.passes, applications);
  EXPECT_EQ(result.products, columns);
  EXPECT_EQ(result.passes, result.iterations + 2 + result.certificate.probe_passes);  // one for X_0, one to confirm
  // two questions: how far below zero the matrix reaches, and what was missed
  EXPECT_LE(result.certificate.probe_passes, 2 * std::max<Index>(2, result.passes / 10));
}

}  // namespace
}  // namespace hearsay

// PCA against a singular value decomposition of the centred data, for every shape.
#include "hearsay/pca.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/linalg.hpp>

#include <cmath>
#include <functional>

#include "support/planted.hpp"
#include "support/random_block.hpp"
#include "support/reference.hpp"
#include "support/sparse.hpp"

namespace hearsay {
namespace {

using Dense = Eigen::MatrixXd;

struct Answer {
  Block<double> components;
  Vector<double> variances, singular_values;
};

Answer by_svd(const Block<double>& data, Index k, bool center) {
  Dense centred = data;
  if (center) centred.rowwise() -= centred.colwise().mean().eval();
  const test::RightVectors svd = test::reference_right_vectors(centred);
  const double divisor =
      center ? std::max<double>(1, static_cast<double>(data.rows() - 1)) : static_cast<double>(data.rows());
  const Vector<double>& values = svd.values;
  const Index found = std::min(k, values.size());
  return {svd.V.leftCols(found), values.head(found).array().square() / divisor, values.head(found)};
}

// Columns of falling size, so that there is a gap.
Block<double> graded_data(Index samples, Index features, std::uint64_t seed) {
  Block<double> data = test::random_block(samples, features, seed);
  for (Index j = 0; j < features; ++j) data.col(j) *= std::pow(0.8, static_cast<double>(std::min<Index>(j, 40)));
  return data;
}

PcaOptions<double> options(Index k, bool center = true) {
  PcaOptions<double> chosen;
  chosen.power.rank = k;
  chosen.power.tolerance = 1e-12;
  chosen.center = center;
  return chosen;
}

// Variances of 1e-310, which have fourteen digits left.
TEST(Pca, FindsASpreadFarBelowAConstantBesideIt) {
  constexpr double size = 1e-155;
  for (const auto& [samples, features] : {std::pair<Index, Index>{400, 30}, {60, 200}})
    for (const SolveMethod method : {SolveMethod::direct, SolveMethod::krylov, SolveMethod::anpm}) {
      const Block<double> spread = graded_data(samples, features, 5);
      Block<double> data = spread * size;
      data.col(features - 1).setConstant(3);
      Block<double> seen = spread;
      seen.col(features - 1).setZero();
      const Answer answer = by_svd(seen, 3, true);
      PcaOptions<double> asked = options(3);
      asked.power.tolerance = 1e-9;
      asked.power.method = method;

      const auto result = pca<double>(data, asked);

      EXPECT_EQ(result.power.status, Status::converged) << samples << ' ' << name(method);
      EXPECT_LE(test::reference_sin_theta(answer.components, result.power.basis), 1e-7)
          << samples << ' ' << name(method);
      for (Index i = 0; i < 3; ++i)  // in two steps: size * size is out of range
        EXPECT_NEAR(std::ldexp(result.power.eigenvalues(i), result.power.exponent + 500) / size *
                        std::ldexp(1.0, -500) / size / answer.variances(i),
                    1, 1e-9)
            << samples << ' ' << name(method);
    }
}

TEST(Pca, AgreesWithTheSingularValueDecompositionForTallAndWideData) {
  for (const bool center : {true, false})
    for (const auto& [samples, features] : {std::pair<Index, Index>{400, 30}, {60, 200}, {50, 50}}) {
      const Block<double> data = graded_data(samples, features, 1).array() + 2.0;
      const Answer answer = by_svd(data, 4, center);

      const auto result = pca<double>(data, options(4, center));

      EXPECT_EQ(result.power.status, Status::converged);
      EXPECT_EQ(result.by_samples, samples < features);
      EXPECT_LE(test::reference_sin_theta(answer.components, result.power.basis), 1e-9);
      EXPECT_LE((result.power.eigenvalues.array() / answer.variances.array() - 1).abs().maxCoeff(), 1e-10);
      EXPECT_LE((result.singular_values.array() / answer.singular_values.array() - 1).abs().maxCoeff(), 1e-10);
    }
}

TEST(Pca, TotalVarianceIsTheSumOfAllVariances) {
  const Block<double> data = graded_data(80, 10, 2);

  const auto result = pca<double>(data, options(2));

  EXPECT_NEAR(result.total_variance, by_svd(data, 10, true).variances.sum(), 1e-10);
}

TEST(Pca, ScoresAreTheCentredDataInTheBasis) {
  const Block<double> data = graded_data(90, 12, 3).array() + 100.0;
  const auto result = pca<double>(data, options(3));

  const Block<double> scores = pca_scores<double>(data, result);

  const Dense centred = Dense(data).rowwise() - Dense(data).colwise().mean();
  EXPECT_LE((scores - centred * result.power.basis).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LE((gram<double>(scores, scores) / 89.0 - Small<double>(result.power.eigenvalues.asDiagonal()))
                .cwiseAbs()
                .maxCoeff(),
            1e-9);
}

// Scores of new samples have the coordinates of the old ones: it is the mean of the analysis that is taken from both.
TEST(Pca, ScoresOfOtherDataTakeTheMeanOfTheAnalysis) {
  for (const bool center : {true, false}) {
    const auto result = pca<double>(Block<double>(graded_data(90, 12, 3).array() + 100.0), options(3, center));
    Block<double> fresh = graded_data(7, 12, 8).array() - 40.0;
    fresh.col(5).setZero();  // which a sparse matrix does not store
    const Block<double> expected = (fresh.rowwise() - result.mean.transpose()) * result.power.basis;

    EXPECT_LE((pca_scores<double>(fresh, result) - expected).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_LE((pca_scores<double>(test::sparse(fresh), result) - expected).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_LE((pca_scores<double>(Block<double>(fresh.topRows(1)), result) - expected.topRows(1)).cwiseAbs().maxCoeff(),
              1e-11);
  }
}

TEST(Pca, ScoresOfDataWithOtherFeaturesAreRefused) {
  const auto result = pca<double>(graded_data(90, 12, 3), options(3));
  const Block<double> narrow = graded_data(7, 11, 8);

  for (const auto& scores :
       {std::function<void()>([&] { static_cast<void>(pca_scores<double>(narrow, result)); }),
        std::function<void()>([&] { static_cast<void>(pca_scores<double>(test::sparse(narrow), result)); })})
    try {
      scores();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const InvalidArgument& error) {
      EXPECT_STREQ(error.what(), "data of 11 features: must have 12, as the analysis has");
    }
}

TEST(Pca, OfSparseDataAgreesWithItsDenseForm) {
  Block<double> data = graded_data(150, 20, 4);
  for (Index i = 0; i < data.rows(); ++i)
    for (Index j = 0; j < data.cols(); ++j)
      if ((i + 2 * j) % 4 != 0) data(i, j) = 0;
  const Answer answer = by_svd(data, 3, true);

  const auto result = pca<double>(test::sparse(data), options(3));

  EXPECT_LE(test::reference_sin_theta(answer.components, result.power.basis), 1e-9);
  EXPECT_NEAR(result.total_variance, by_svd(data, 20, true).variances.sum(), 1e-10);
}

TEST(Pca, OfOneSampleHasNoVariance) {
  const Block<double> data = test::random_block(1, 6, 5);

  const auto result = pca<double>(data, options(2));

  EXPECT_EQ(result.power.status, Status::ambiguous);
  EXPECT_EQ(result.power.eigenvalues.cwiseAbs().maxCoeff(), 0.0);
}

TEST(Pca, OfOneFeatureIsItsVariance) {
  const Block<double> data = test::random_block(200, 1, 6);

  const auto result = pca<double>(data, options(1));

  EXPECT_NEAR(result.power.eigenvalues(0), by_svd(data, 1, true).variances(0), 1e-12);
  EXPECT_EQ(result.power.basis(0, 0), 1.0);
}

TEST(Pca, OfConstantColumnsFindsNothingInThem) {
  Block<double> data = graded_data(100, 5, 7);
  data.col(2).setConstant(1e6);
  data.col(4).setConstant(-3);

  const auto result = pca<double>(data, options(5));

  EXPECT_NEAR(result.power.eigenvalues(3), 0.0, 1e-9);
  EXPECT_NEAR(result.power.eigenvalues(4), 0.0, 1e-9);
  EXPECT_LE(
      (gram<double>(result.power.basis, result.power.basis) - Small<double>::Identity(5, 5)).cwiseAbs().maxCoeff(),
      1e-12);
}

TEST(Pca, WithMoreComponentsThanSamplesFillsUpWithZeros) {
  const Block<double> data = test::random_block(4, 30, 8);
  for (const Index k : {4, 7}) {
    const auto result = pca<double>(data, options(k));

    EXPECT_EQ(result.power.status, Status::ambiguous) << k;
    EXPECT_LE(result.power.eigenvalues.tail(k - 3).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LE(
        (gram<double>(result.power.basis, result.power.basis) - Small<double>::Identity(k, k)).cwiseAbs().maxCoeff(),
        1e-12);
  }
}

TEST(Pca, OfValuesWhoseSquaresOverflowStillHasComponentsAndSingularValues) {
  const Block<double> unit = graded_data(60, 8, 9);
  const Answer answer = by_svd(unit, 2, true);
  for (const double magnitude : {1e300, 1e-300}) {
    const Block<double> data = unit * magnitude;

    const auto result = pca<double>(data, options(2));

    EXPECT_LE(test::reference_sin_theta(answer.components, result.power.basis), 1e-9) << magnitude;
    EXPECT_LE((result.singular_values / magnitude - answer.singular_values).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_NE(result.power.exponent, 0);
    EXPECT_FALSE(result.power.notes.empty());
  }
}

TEST(Pca, InSinglePrecisionStaysInSinglePrecision) {
  const Block<double> data = graded_data(300, 20, 10);
  const Block<float> single = data.cast<float>();
  PcaOptions<float> chosen;
  chosen.power.rank = 3;
  chosen.power.tolerance = 1e-5;

  const auto result = pca<float>(single, chosen);

  EXPECT_LE(test::reference_sin_theta(by_svd(data, 3, true).components, result.power.basis.cast<double>()), 1e-3);
}

// Rows of mean zero, rounded to single precision, whose variances along random directions are about these.
Block<float> single_rows(const Vector<double>& variances) {
  const Index d = variances.size();
  Block<double> half = test::reference_orthonormal(test::random_block(d, d, 3));
  half *= variances.cwiseSqrt().asDiagonal() * test::reference_orthonormal(test::random_block(d, d, 4)).transpose();
  Block<float> rows(2 * d, d);
  rows << half.cast<float>(), -half.cast<float>();
  return rows;
}

double sine_of(const Block<float>& data, const PcaResult<float>& result) {
  const test::RightVectors svd = test::reference_right_vectors(Eigen::MatrixXd(data.cast<double>()));
  return test::reference_sin_theta(svd.V.leftCols(result.power.basis.cols()),
                                   Block<double>(result.power.basis.cast<double>()));
}

TEST(Pca, InSinglePrecisionEndsWhereRoundingHidesTheGaps) {
  const Block<float> data = single_rows(Vector<double>::LinSpaced(500, 1, 500).cwiseInverse());
  const auto result = pca<float>(data, {.power = {.rank = 50, .method = SolveMethod::krylov}});
  EXPECT_LE(result.power.iterations, 100);
  EXPECT_NE(result.power.status, Status::iteration_limit);
  if (result.power.status == Status::converged) {
    EXPECT_LE(sine_of(data, result), 1e-2);
  }
}

TEST(Pca, InSinglePrecisionIsSettledInDoubleWhereRoundingHidesTheGap) {
  constexpr Index k = 10;
  Vector<double> variances = Vector<double>::LinSpaced(400, 1, 400).cwiseInverse();
  variances(k) = variances(k - 1) - 1e-5;
  const Block<float> data = single_rows(variances);
  const auto by_space = pca<float>(data, {.power = {.rank = k, .method = SolveMethod::krylov}});
  EXPECT_NE(by_space.power.status, Status::converged);
  const auto result = pca<float>(data, {.power = {.rank = k}});
  EXPECT_EQ(result.power.status, Status::converged);
  ASSERT_FALSE(result.power.notes.empty());
  EXPECT_NE(result.power.notes.back().find("found again in double"), std::string::npos);
  EXPECT_GT(result.power.passes, 1);
  EXPECT_LE(sine_of(data, result), 1e-5);
}

TEST(Pca, UnderNoiseReportsItsFloor) {
  const Block<double> data = graded_data(300, 40, 11);
  PcaOptions<double> chosen = options(3);
  chosen.noise = gaussian_noise<double>(1e-6, 12);

  const auto result = pca<double>(data, chosen);

  EXPECT_EQ(result.power.status, Status::noise_floor);
  EXPECT_LE(test::reference_sin_theta(by_svd(data, 3, true).components, result.power.basis), 1e-3);
}

// Variances from 1e5 down to 1e-3: the residual is about the first, the angle about the last.
Block<double> steep_data(Index samples, Index features) {
  Block<double> data = test::random_block(samples, features, 21);
  for (Index j = 0; j < features; ++j)
    data.col(j) *= std::pow(10.0, 2.5 - 4.0 * static_cast<double>(j) / static_cast<double>(features - 1));
  return data;
}

TEST(Pca, GoesOnToTheSineAskedForWhereTheToleranceLeavesSmallVariancesBlurred) {
  for (const auto& [samples, features] : {std::pair<Index, Index>{200, 12}, {15, 40}}) {
    const Block<double> data = steep_data(samples, features);
    const Answer answer = by_svd(data, 5, true);
    PcaOptions<double> chosen = options(5);
    chosen.power.tolerance = 1e-6;
    chosen.power.oversample = 1;
    const auto blurred = pca<double>(data, chosen);

    chosen.wished_accuracy = 1e-8;
    const auto sharp = pca<double>(data, chosen);

    EXPECT_GT(test::reference_sin_theta(answer.components, blurred.power.basis), 1e-7);
    EXPECT_LE(test::reference_sin_theta(answer.components, sharp.power.basis), 2e-8);
    EXPECT_EQ(sharp.power.status, Status::converged);
    EXPECT_GT(sharp.power.iterations, blurred.power.iterations);
    EXPECT_EQ(sharp.power.history.back().t, sharp.power.iterations);
    EXPECT_GT(sharp.power.passes, blurred.power.passes);
  }
}

TEST(Pca, KeepsItsObserverWhenItGoesOn) {
  const Block<double> data = steep_data(200, 12);
  PcaOptions<double> chosen = options(5);
  chosen.power.tolerance = 1e-6;
  chosen.power.oversample = 1;
  const Index before = pca<double>(data, chosen).power.iterations;
  chosen.wished_accuracy = 1e-8;
  Hooks<double> hooks;
  hooks.observe = [before](const Iteration<double>& now) { return now.entry.t <= before; };

  const auto stopped = pca<double>(data, chosen, hooks);

  EXPECT_EQ(stopped.power.status, Status::stopped_by_observer);
  EXPECT_EQ(stopped.power.iterations, before + 1);
}

}  // namespace
}  // namespace hearsay

// The QR ladder: whatever the conditioning, orthonormal columns, a faithful product and a non-negative diagonal.
#include <gtest/gtest.h>
#include <hearsay/linalg.hpp>
#include <hearsay/qr.hpp>
#include <hearsay/random.hpp>
#include <limits>

#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::random_block;

// d x p with singular values from 1 down to 1/condition.
Block<double> conditioned(Index d, Index p, double condition) {
  const Block<double> Q = random_orthonormal<double>(d, p, {.seed = 1, .stream = Stream::test});
  const Block<double> W = random_orthonormal<double>(p, p, {.seed = 2, .stream = Stream::test});
  const Vector<double> values = Vector<double>::NullaryExpr(
      p, [&](Index i) { return std::pow(condition, -static_cast<double>(i) / static_cast<double>(p - 1)); });
  return Q * values.asDiagonal() * W.transpose();
}

template <class S>
void expect_a_qr(const Block<S>& Y, const Block<S>& X, const Small<S>& R) {
  const Index p = Y.cols();
  const S eps = std::numeric_limits<S>::epsilon();
  EXPECT_LE((gram<S>(X, X) - Small<S>::Identity(p, p)).cwiseAbs().maxCoeff(), S(100) * eps);
  EXPECT_LE((X * R - Y).norm(), S(100) * eps * std::max(Y.norm(), std::numeric_limits<S>::min()));
  EXPECT_EQ(R.template triangularView<Eigen::StrictlyLower>().toDenseMatrix().cwiseAbs().maxCoeff(), S(0));
  EXPECT_GE(R.diagonal().minCoeff(), S(0));
}

TEST(ThinQr, TakesOnePassForAWellConditionedBlock) {
  const Block<double> Y = conditioned(500, 8, 1.5);
  Block<double> X = Y;
  Small<double> R;

  const auto report = thin_qr<double>(X, R);

  expect_a_qr<double>(Y, X, R);
  EXPECT_EQ(report.method, QrMethod::cholesky);
}

TEST(ThinQr, ClimbsDownTheLadderAsConditioningWorsens) {
  for (const auto& [condition, method] :
       {std::pair{1e4, QrMethod::cholesky_twice}, {1e10, QrMethod::cholesky_shifted}}) {
    const Block<double> Y = conditioned(600, 10, condition);
    Block<double> X = Y;
    Small<double> R;

    const auto report = thin_qr<double>(X, R);

    expect_a_qr<double>(Y, X, R);
    EXPECT_EQ(report.method, method) << "condition " << condition;
    EXPECT_FALSE(report.rank_deficient);
  }
}

TEST(ThinQr, IsOrthonormalToRoundingWhereverOneRungGivesWayToTheNext) {
  for (const double condition : {1.0, 2.0, 3.9, 4.1, 30.0, 1e6, 8e6, 1e7, 1e12}) {
    const Block<double> Y = conditioned(3000, 40, condition);
    Block<double> X = Y;
    Small<double> R;

    const auto report = thin_qr<double>(X, R);

    SCOPED_TRACE(condition);
    expect_a_qr<double>(Y, X, R);
    EXPECT_NE(report.method, QrMethod::householder);
    EXPECT_GE(report.condition, 1.0 - 1e-12);
  }
}

TEST(ThinQr, TakesOnePassForColumnsThatAreNearlyOrthogonalHoweverMany) {
  const Block<double> Y = random_block<double>(20000, 60, 8);
  Block<double> X = Y;
  Small<double> R;

  const auto report = thin_qr<double>(X, R);

  expect_a_qr<double>(Y, X, R);
  EXPECT_EQ(report.method, QrMethod::cholesky);
}

TEST(ThinQr, StaysOrthonormalInSinglePrecisionWhenColumnsAreDependent) {
  Block<float> Y = random_block<float>(300, 9, 9);
  Y.col(7) = Y.col(0) - Y.col(3);
  Block<float> X = Y;
  Small<float> R;

  const auto report = thin_qr<float>(X, R);

  expect_a_qr<float>(Y, X, R);
  EXPECT_TRUE(report.rank_deficient);
}

TEST(ThinQr, StaysOrthonormalWhenColumnsAreDependent) {
  Block<double> Y = random_block<double>(300, 6, 3);
  Y.col(4) = Y.col(1) + 2 * Y.col(2);
  Block<double> X = Y;
  Small<double> R;

  const auto report = thin_qr<double>(X, R);

  expect_a_qr<double>(Y, X, R);
  EXPECT_TRUE(report.rank_deficient);
}

TEST(ThinQr, GivesAnOrthonormalBlockEvenForZero) {
  Block<double> X = Block<double>::Zero(20, 4);
  Small<double> R;

  const auto report = thin_qr<double>(X, R);

  expect_a_qr<double>(Block<double>::Zero(20, 4), X, R);
  EXPECT_TRUE(report.rank_deficient);
}

TEST(ThinQr, IsNotMisledByColumnsOfVeryDifferentSizes) {
  Block<double> Y = random_block<double>(400, 3, 4);
  Y.col(0) *= 1e12;
  Y.col(2) *= 1e-12;
  Block<double> X = Y;
  Small<double> R;

  const auto report = thin_qr<double>(X, R);

  EXPECT_LE((gram<double>(X, X) - Small<double>::Identity(3, 3)).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_NE(report.method, QrMethod::householder);
}

TEST(ThinQr, WorksInSinglePrecision) {
  const Block<float> Y = random_block<float>(257, 12, 5);
  Block<float> X = Y;
  Small<float> R;

  thin_qr<float>(X, R);

  expect_a_qr<float>(Y, X, R);
}

TEST(ThinQr, IsNestedSoThatTheFirstColumnsIgnoreTheLaterOnes) {
  const Block<double> Y = random_block<double>(200, 7, 6);
  Block<double> all = Y, some = Y.leftCols(4);
  Small<double> R_all, R_some;

  thin_qr<double>(all, R_all);
  thin_qr<double>(some, R_some);

  EXPECT_LE((all.leftCols(4) - some).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(ThinQr, OfASquareBlockIsOrthogonal) {
  const Block<double> Y = random_block<double>(9, 9, 7);
  Block<double> X = Y;
  Small<double> R;

  thin_qr<double>(X, R);

  expect_a_qr<double>(Y, X, R);
}

}  // namespace
}  // namespace hearsay

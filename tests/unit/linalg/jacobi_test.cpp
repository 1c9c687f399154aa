#include "linalg/jacobi.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_block.hpp"
#include "support/reference.hpp"

namespace hearsay {
namespace {

using detail::jacobi_svd;

double apart(const Small<double>& Q) {
  return (Q.transpose() * Q - Small<double>::Identity(Q.cols(), Q.cols())).norm();
}

TEST(JacobiSvd, TakesAMatrixApart) {
  for (const Index n : {1, 2, 5, 40}) {
    const Small<double> M = test::random_block(n, n, 1);

    const auto [P, values, Z] = jacobi_svd<double>(M);

    EXPECT_LE((P * values.asDiagonal() * Z.transpose() - M).norm(), 1e-13 * M.norm()) << n;
    EXPECT_LE(apart(P), 1e-13);
    EXPECT_LE(apart(Z), 1e-13);
    for (Index i = 1; i < n; ++i) EXPECT_GE(values(i - 1), values(i));
  }
}

// A well-conditioned matrix times a diagonal one, over 60 orders of magnitude: each value right relative to itself.
TEST(JacobiSvd, FindsEachValueToItsOwnAccuracy) {
  constexpr Index n = 7;
  const test::Dense Q = test::reference_orthonormal(test::random_block(n, n, 2));
  Small<double> M = Q;
  for (Index j = 0; j < n; ++j) M.col(j) *= std::pow(10.0, -10.0 * static_cast<double>(j));

  const auto svd = jacobi_svd<double>(M);

  for (Index i = 0; i < n; ++i)
    EXPECT_NEAR(svd.values(i) / std::pow(10.0, -10.0 * static_cast<double>(i)), 1, 1e-14) << i;
}

TEST(JacobiSvd, CompletesWhatIsZero) {
  Small<double> M = test::random_block(6, 6, 3);
  M.col(1).setZero();
  M.col(4) = M.col(2);
  for (const Small<double>& matrix : {M, Small<double>(Small<double>::Zero(6, 6))}) {
    const auto svd = jacobi_svd<double>(matrix);
    EXPECT_LE(apart(svd.P), 1e-13);
    EXPECT_LE(apart(svd.Z), 1e-13);
    EXPECT_LE((svd.P * svd.values.asDiagonal() * svd.Z.transpose() - matrix).norm(), 1e-14);
  }
}

TEST(JacobiSvd, DoesNotMindExtremeScales) {
  const Small<double> M = test::random_block(5, 5, 4);
  const Vector<double> plain = jacobi_svd<double>(M).values;
  for (const double scale : {1e-300, 1e300})
    EXPECT_LE((jacobi_svd<double>(M * scale).values / scale - plain).norm(), 1e-13);
}

}  // namespace
}  // namespace hearsay

// Eigenvalues and rows of eigenvectors of small matrices, against closed forms, definitions and Eigen's own solver.
#include "linalg/small_spectrum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "support/random_block.hpp"
#include "support/reference.hpp"

namespace hearsay::detail {
namespace {

template <class S>
class SmallSpectra : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallSpectra, Scalars);

template <class S>
Small<S> random_symmetric(Index n, std::uint64_t seed) {
  const Small<S> M = test::random_block<S>(n, n, seed);
  return M + M.transpose();
}

template <class S>
void expect_diagonalised(const Small<S>& H, const char* what) {
  const Index n = H.rows();
  const SmallSpectrum<S> spectrum(H);
  const Small<S> U = spectrum.vectors(), I = Small<S>::Identity(n, n);
  const S allowed = 20 * S(n) * std::numeric_limits<S>::epsilon();
  EXPECT_LE((U.transpose() * U - I).norm(), allowed) << what << ", n = " << n;
  EXPECT_LE((H * U - U * spectrum.values().asDiagonal()).norm(), allowed * H.norm()) << what << ", n = " << n;
  for (Index i = 1; i < n; ++i) EXPECT_GE(spectrum.values()(i - 1), spectrum.values()(i)) << what << ", n = " << n;
  const Vector<S> trusted = test::reference_eigenvalues<S>(H);
  EXPECT_LE((spectrum.values() - trusted.reverse()).norm(), allowed * H.norm()) << what << ", n = " << n;
  EXPECT_LE((spectrum.last_rows(n) - U).norm(), allowed) << what << ", n = " << n;
  const Index some = (n + 1) / 3;
  EXPECT_EQ(spectrum.vectors(n - some, some), U.rightCols(some)) << what << ", n = " << n;
  EXPECT_LE((spectrum.last_rows((n + 1) / 2) - U.bottomRows((n + 1) / 2)).norm(), allowed) << what << ", n = " << n;
}

TYPED_TEST(SmallSpectra, DiagonaliseEverySize) {
  for (const Index n : {1, 2, 3, 4, 7, 16, 31, 32, 33, 64, 65, 100, 140})
    expect_diagonalised<TypeParam>(random_symmetric<TypeParam>(n, 1), "random");
}

TYPED_TEST(SmallSpectra, DiagonaliseWhatHasNothingToDoOrEqualValues) {
  using S = TypeParam;
  for (const Index n : {1, 2, 5, 40}) {
    expect_diagonalised<S>(Small<S>::Identity(n, n), "identity");
    expect_diagonalised<S>(Small<S>::Ones(n, n), "rank one");
    Small<S> pairs = Small<S>::Zero(n, n);
    for (Index i = 0; i < n; ++i) pairs(i, i) = S(i / 2);
    expect_diagonalised<S>(pairs, "pairs");
  }
  const SmallSpectrum<S> zero(Small<S>::Zero(6, 6));
  EXPECT_EQ(zero.values(), Vector<S>::Zero(6));
  EXPECT_EQ(zero.vectors().cwiseAbs(), (Small<S>::Identity(6, 6)));
}

TYPED_TEST(SmallSpectra, DiagonaliseWhatIsGradedOrOutOfRange) {
  using S = TypeParam;
  const Index n = 30;
  Small<S> graded = random_symmetric<S>(n, 2);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) graded(i, j) *= std::pow(S(0.3), S(i + j));
  expect_diagonalised<S>(graded, "graded");
  const Small<S> H = random_symmetric<S>(n, 3);
  const SmallSpectrum<S> unit(H);
  for (const int exponent : {100, -100}) {
    const SmallSpectrum<S> scaled(Small<S>(H * std::ldexp(S(1), exponent)));
    EXPECT_EQ(scaled.values(), unit.values() * std::ldexp(S(1), exponent));
    EXPECT_EQ(scaled.vectors(), unit.vectors());
  }
}

TEST(SmallSpectrum, FindsTheEigenvaluesOfTheSecondDifference) {
  const Index n = 60;
  Small<double> H = 2 * Small<double>::Identity(n, n);
  for (Index i = 1; i < n; ++i) H(i, i - 1) = H(i - 1, i) = -1;
  const SmallSpectrum<double> spectrum(H);
  for (Index i = 0; i < n; ++i) {
    const double exact = 2 - 2 * std::cos(std::numbers::pi * double(n - i) / double(n + 1));
    EXPECT_NEAR(spectrum.values()(i), exact, 1e-13);
  }
}

TEST(SmallSpectrum, TakesTheSymmetricPart) {
  const Small<double> H = test::random_block(9, 9, 4);
  const SmallSpectrum<double> of_all(H), of_part((H + H.transpose()) / 2);
  EXPECT_EQ(of_all.values(), of_part.values());
}

}  // namespace
}  // namespace hearsay::detail

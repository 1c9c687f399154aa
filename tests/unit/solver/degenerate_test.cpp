// Degenerate but legal: the right answer, an orthonormal basis, and no crash.
#include <gtest/gtest.h>
#include <hearsay/linalg.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>

#include <algorithm>
#include <cmath>

#include "support/planted.hpp"

namespace hearsay {
namespace {

void expect_orthonormal(const Block<double>& X) {
  EXPECT_LE((gram<double>(X, X) - Small<double>::Identity(X.cols(), X.cols())).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Degenerate, TheZeroMatrixHasZeroEigenvalues) {
  const Block<double> A = Block<double>::Zero(20, 20);

  const auto result = accelerated_power<double>(DenseSymmetric<double>(A), {.rank = 3});

  EXPECT_EQ(result.status, Status::ambiguous);
  EXPECT_EQ(result.eigenvalues.cwiseAbs().maxCoeff(), 0.0);
  expect_orthonormal(result.basis);
}

TEST(Degenerate, TheIdentityIsAmbiguousAndSaysThatTheSubspaceIsOneOfMany) {
  const Block<double> A = Block<double>::Identity(20, 20);

  const auto result = accelerated_power<double>(DenseSymmetric<double>(A), {.rank = 3});

  EXPECT_EQ(result.status, Status::ambiguous);
  EXPECT_LE((result.eigenvalues.array() - 1).abs().maxCoeff(), 1e-14);
  EXPECT_TRUE(std::any_of(result.notes.begin(), result.notes.end(),
                          [](const auto& note) { return note.find("one of many") != std::string::npos; }));
}

TEST(Degenerate, AMatrixOfRankBelowKHasZerosAndAnOrthonormalBasis) {
  std::vector<double> spectrum(40, 0.0);
  spectrum[0] = 3;
  spectrum[1] = 2;
  const auto planted = test::planted_spectrum(spectrum, 1);

  const auto result = accelerated_power<double>(DenseSymmetric<double>(planted.A), {.rank = 5});

  EXPECT_EQ(result.status, Status::ambiguous);
  EXPECT_NEAR(result.eigenvalues(0), 3, 1e-13);
  EXPECT_NEAR(result.eigenvalues(1), 2, 1e-13);
  EXPECT_LE(result.eigenvalues.tail(3).cwiseAbs().maxCoeff(), 1e-13);
  ASSERT_TRUE(result.certificate.cluster);
  EXPECT_EQ(result.certificate.cluster->first, 3);
  expect_orthonormal(result.basis);
}

TEST(Degenerate, RepeatedEigenvaluesInsideTheSubspaceAreFound) {
  const auto planted =
      test::planted_spectrum({4, 4, 4, 2, 2, 1, 1, 1, 0.5, 0.5, 0.5, 0.1, 0.1, 0.1, 0, 0, 0, 0, 0, 0}, 2);

  const auto result = accelerated_power<double>(DenseSymmetric<double>(planted.A), {.rank = 5, .tolerance = 1e-12});

  EXPECT_LE(test::reference_sin_theta(planted.top(5), result.basis), 1e-10);
}

TEST(Degenerate, FullRankAndAlmostFullRankAreSolvedDirectly) {
  const auto planted = test::planted_spectrum({5, 4, 3, 2, 1}, 3);
  for (const Index k : {4, 5}) {
    const auto result = accelerated_power<double>(DenseSymmetric<double>(planted.A), {.rank = k, .tolerance = 1e-12});

    EXPECT_EQ(result.status, Status::converged);
    EXPECT_LE((result.eigenvalues - planted.eigenvalues.head(k)).cwiseAbs().maxCoeff(), 1e-13);
    expect_orthonormal(result.basis);
  }
}

TEST(Degenerate, AOneByOneMatrixIsItsOwnEigenvalue) {
  const Block<double> A = Block<double>::Constant(1, 1, 7);

  const auto result = accelerated_power<double>(DenseSymmetric<double>(A), {.rank = 1});

  EXPECT_EQ(result.eigenvalues(0), 7.0);
  EXPECT_EQ(result.basis(0, 0), 1.0);
}

TEST(Degenerate, MatricesAtTheEdgesOfTheRangeOfDoubleAreSolved) {
  const auto planted = test::planted_spectrum({5, 4, 3, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2}, 4);
  for (const double magnitude : {1e300, 1e-300}) {
    const Block<double> A = planted.A * magnitude;

    const auto result = accelerated_power<double>(DenseSymmetric<double>(A), {.rank = 3, .tolerance = 1e-12});

    EXPECT_EQ(result.status, Status::converged) << magnitude;
    EXPECT_LE((result.eigenvalues / magnitude - planted.eigenvalues.head(3)).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LE(test::reference_sin_theta(planted.top(3), result.basis), 1e-10);
  }
}

TEST(Degenerate, ZeroIterationsGiveTheRitzVectorsOfTheStart) {
  const auto planted = test::planted_spectrum({5, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 5);

  const auto result =
      accelerated_power<double>(DenseSymmetric<double>(planted.A), {.rank = 2, .oversample = 1, .max_iterations = 0});

  EXPECT_EQ(result.status, Status::iteration_limit);
  EXPECT_EQ(result.iterations, 0);
  expect_orthonormal(result.basis);
}

}  // namespace
}  // namespace hearsay

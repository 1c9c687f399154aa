#include <gtest/gtest.h>
#include <hearsay/mixed.hpp>
#include <hearsay/operators/stored.hpp>

#include "support/planted.hpp"

namespace hearsay {
namespace {

const test::Planted& precision_problem() {
  static const test::Planted planted = test::planted_spectrum(test::paper_spectrum(150, 4, 0.1), 1);
  return planted;
}

TEST(SinglePrecision, ConvergesToWhatFloatHolds) {
  const Block<float> A = precision_problem().A.cast<float>();

  const auto result = accelerated_power<float>(DenseSymmetric<float>(A), {.rank = 4, .tolerance = 1e-5});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_LE(test::reference_sin_theta(precision_problem().top(4), result.basis.cast<double>()), 1e-3);
}

TEST(SinglePrecision, SaysThatATighterToleranceIsOutOfReach) {
  const Block<float> A = precision_problem().A.cast<float>();

  const auto result = accelerated_power<float>(DenseSymmetric<float>(A), {.rank = 4, .tolerance = 1e-12});

  EXPECT_EQ(result.status, Status::rounding_floor);
  EXPECT_LE(result.residual, 1e-5);
}

TEST(MixedPrecision, GivesTheAccuracyOfDoubleWithMostIterationsInSingle) {
  const Block<float> A_single = precision_problem().A.cast<float>();

  const auto result = mixed_precision_subspace(
      DenseSymmetric<float>(A_single), DenseSymmetric<double>(precision_problem().A), {.rank = 4, .tolerance = 1e-12});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_LE(result.residual, 1e-12);
  EXPECT_LE(test::reference_sin_theta(precision_problem().top(4), result.basis), 1e-10);
}

TEST(MixedPrecision, NeedsOnlyAConfirmationInDoubleForALooseTolerance) {
  const Block<float> A_single = precision_problem().A.cast<float>();

  const auto result = mixed_precision_subspace(
      DenseSymmetric<float>(A_single), DenseSymmetric<double>(precision_problem().A), {.rank = 4, .tolerance = 1e-4});

  EXPECT_EQ(result.status, Status::converged);
  ASSERT_FALSE(result.notes.empty());
  EXPECT_NE(result.notes.back().find("then 1 in double"), std::string::npos) << result.notes.back();
}

TEST(MixedPrecision, WithoutACertificateIsNoSlower) {
  const Block<float> A_single = precision_problem().A.cast<float>();
  Index passes[2] = {};
  for (const Certify level : {Certify::none, Certify::full}) {
    const auto result =
        mixed_precision_subspace(DenseSymmetric<float>(A_single), DenseSymmetric<double>(precision_problem().A),
                                 {.rank = 4, .accuracy = 1e-2, .certify = level});
    EXPECT_EQ(result.status, Status::converged);
    passes[level == Certify::full] = result.passes;
  }
  EXPECT_LE(passes[0], passes[1]);
}

}  // namespace
}  // namespace hearsay

#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/error.hpp>
#include <hearsay/random.hpp>

#include <cmath>

#include "support/planted.hpp"

namespace hearsay {
namespace {

// Two planes in R^4 that share e_1 and meet at `angle` otherwise.
Block<double> plane(double angle) {
  Block<double> X = Block<double>::Zero(4, 2);
  X(0, 0) = 1;
  X(1, 1) = std::cos(angle);
  X(2, 1) = std::sin(angle);
  return X;
}

TEST(PrincipalAngles, OfTwoPlanesAreTheAngleBetweenThem) {
  for (const double angle : {0.0, 1e-12, 1e-6, 0.3, 1.2}) {
    EXPECT_NEAR(sin_theta<double>(plane(0), plane(angle)), std::sin(angle), 1e-15 + 1e-14 * angle);
    EXPECT_NEAR(cos_theta<double>(plane(0), plane(angle)), std::cos(angle), 1e-15);
    EXPECT_NEAR(tan_theta<double>(plane(0), plane(angle)), std::tan(angle), 1e-14 * (1 + std::tan(angle)));
  }
}

TEST(PrincipalAngles, SineKeepsDigitsFarBelowTheRootOfEpsilon) {
  EXPECT_NEAR(sin_theta<double>(plane(0), plane(1e-13)) / 1e-13, 1.0, 1e-2);
}

TEST(PrincipalAngles, DoNotDependOnTheChoiceOfBasis) {
  const Block<double> U = random_orthonormal<double>(30, 4, {.seed = 1, .stream = Stream::test});
  const Block<double> X = random_orthonormal<double>(30, 4, {.seed = 2, .stream = Stream::test});
  const Block<double> Q = random_orthonormal<double>(4, 4, {.seed = 3, .stream = Stream::test});

  EXPECT_NEAR(sin_theta<double>(U, X), sin_theta<double>(U * Q, X), 1e-14);
  EXPECT_NEAR(sin_theta<double>(U, X), test::reference_sin_theta(U, X), 1e-14);
}

TEST(PrincipalAngles, TangentIsInfiniteWhenADirectionIsMissed) {
  Block<double> other = Block<double>::Zero(4, 2);
  other(0, 0) = 1;
  other(3, 1) = 1;

  EXPECT_TRUE(std::isinf(tan_theta<double>(plane(0), other)));
  EXPECT_EQ(sin_theta<double>(plane(0), other), 1.0);
}

TEST(PrincipalAngles, RefuseBlocksOfDifferentHeight) {
  EXPECT_THROW(static_cast<void>(sin_theta<double>(plane(0), Block<double>::Zero(5, 2))), InvalidArgument);
}

}  // namespace
}  // namespace hearsay

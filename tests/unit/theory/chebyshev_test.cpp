#include <gtest/gtest.h>

#include <cmath>
#include <hearsay/error.hpp>
#include <hearsay/theory.hpp>
#include <limits>
#include <vector>

namespace hearsay::theory {
namespace {

// p_t or q_t by the recurrence, in long double, beside the largest magnitude met on the way: the recurrence itself is
// only good relative to that.
struct Reference {
  double value;
  double scale;
};

Reference recurrence(std::int64_t t, double x, double beta, long double first) {
  long double before = 1, now = first, scale = std::max(1.0L, std::abs(now));
  if (t == 0) return {1.0, 1.0};
  for (std::int64_t s = 1; s < t; ++s) {
    const long double next = x * now - beta * before;
    before = now;
    now = next;
    scale = std::max(std::abs(now), std::abs(before) * std::sqrt(static_cast<long double>(beta)));
  }
  return {static_cast<double>(now), static_cast<double>(scale)};
}

const std::vector<double> betas{0.0, 1e-6, 0.01, 0.25, 1.0, 7.3};
const std::vector<double> multiples{0.0, 0.1, 0.5, 0.9, 0.999999, 1.0, 1.000001, 1.1, 2.0, 10.0};

template <class Check>
void for_many_arguments(const Check& check) {
  for (const std::int64_t t : {0, 1, 2, 3, 4, 7, 20, 51})
    for (const double beta : betas)
      for (const double multiple : multiples)
        for (const double sign : {1.0, -1.0}) {
          const double x = sign * multiple * (beta > 0 ? 2 * std::sqrt(beta) : 1.0);
          SCOPED_TRACE(testing::Message() << "t=" << t << " x=" << x << " beta=" << beta);
          check(t, x, beta);
        }
}

TEST(FirstKindPolynomial, AgreesWithItsRecurrence) {
  for_many_arguments([](std::int64_t t, double x, double beta) {
    const Reference expected = recurrence(t, x, beta, x / 2.0L);
    EXPECT_NEAR(p(t, x, beta), expected.value, 1e-12 * expected.scale);
  });
}

TEST(SecondKindPolynomial, AgreesWithItsRecurrence) {
  for_many_arguments([](std::int64_t t, double x, double beta) {
    const Reference expected = recurrence(t, x, beta, x);
    EXPECT_NEAR(q(t, x, beta), expected.value, 1e-12 * expected.scale);
  });
}

TEST(FirstKindPolynomial, StaysBelowThePowerOfRootBetaOnTheDampedInterval) {
  for (const double beta : betas)
    for (int i = -50; i <= 50; ++i)
      for (const std::int64_t t : {1, 2, 5, 40})
        EXPECT_LE(std::abs(p(t, i / 50.0 * 2 * std::sqrt(beta), beta)),
                  std::pow(beta, static_cast<double>(t) / 2) * (1 + 1e-12));
}

TEST(SecondKindPolynomial, CountsItsTermsAtTheDoubleRoot) { EXPECT_DOUBLE_EQ(q(9, 2.0, 1.0), 10.0); }

TEST(ScaledPolynomials, AgreeWithThePlainOnes) {
  for_many_arguments([](std::int64_t t, double x, double beta) {
    const Scaled first = scaled_p(t, x, beta), second = scaled_q(t, x, beta);
    EXPECT_NEAR(first.mantissa * std::exp(first.log_scale), p(t, x, beta), 1e-12 * std::abs(p(t, x, beta)));
    EXPECT_NEAR(second.mantissa * std::exp(second.log_scale), q(t, x, beta), 1e-12 * std::abs(q(t, x, beta)));
  });
}

TEST(ScaledPolynomials, GoOnWhereThePlainOnesOverflow) {
  const double root = upper_root(3.0, 1.0);

  EXPECT_TRUE(std::isinf(p(100000, 3.0, 1.0)));
  EXPECT_NEAR(scaled_p(100000, 3.0, 1.0).log_abs(), 100000 * std::log(root) - std::log(2.0), 1e-8);
  EXPECT_NEAR(scaled_q(100000, 3.0, 1.0).log_abs(), 100001 * std::log(root) - std::log(std::sqrt(5.0)), 1e-8);
}

TEST(ScaledPolynomials, HaveTheLogarithmMinusInfinityAtAZero) {
  EXPECT_EQ(scaled_p(3, 0.0, 0.0).log_abs(), -std::numeric_limits<double>::infinity());
}

TEST(Roots, MultiplyToBetaAndAddToX) {
  for_many_arguments([](std::int64_t, double x, double beta) {
    const auto [plus, minus] = roots(x, beta);
    const double scale = std::max(std::abs(x), std::sqrt(beta));
    EXPECT_LE(std::abs(plus + minus - x), 1e-14 * scale);
    EXPECT_LE(std::abs(plus * minus - beta), 1e-14 * scale * scale);
  });
}

TEST(Roots, KeepTheSmallOneAccurate) { EXPECT_DOUBLE_EQ(roots(1e8, 1.0).minus.real(), 1e-8); }

TEST(Polynomials, RefuseArgumentsOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();

  EXPECT_THROW(p(-1, 1.0, 1.0), InvalidArgument);
  EXPECT_THROW(p(1, nan, 1.0), InvalidArgument);
  EXPECT_THROW(q(1, 1.0, nan), InvalidArgument);
  EXPECT_THROW(q(1, 1.0, -1.0), InvalidArgument);
  EXPECT_THROW(upper_root(1.0, 1.0), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::theory

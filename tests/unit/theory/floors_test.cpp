#include <gtest/gtest.h>

#include <cmath>
#include <hearsay/error.hpp>
#include <hearsay/theory.hpp>
#include <limits>
#include <vector>

#include "dense_anpm.hpp"

namespace hearsay::theory {
namespace {

using test::Dense;

const std::vector<double> wanted{1.0}, unwanted{0.95, 0.6, 0.5, 0.2};

Dense matrix() { return Eigen::Vector<double, 5>(1.0, 0.95, 0.6, 0.5, 0.2).asDiagonal(); }

// Root mean square of tan(theta_1) after the transient, under i.i.d. N(0, sigma^2) noise.
double measured_white_floor(double beta, double sigma, double shift = 0.0) {
  std::mt19937_64 generator(11);
  const std::int64_t transient = 2000, steps = 60000;
  double sum = 0;
  const auto noise = [&](std::int64_t, const Dense&) -> Dense { return sigma * test::gaussian_block(5, 1, generator); };
  const auto observe = [&](std::int64_t t, const Dense& X, const Dense&) {
    if (t > transient) sum += std::pow(test::tangent_to_first_axes(X), 2);
  };
  test::dense_anpm(matrix() - shift * Dense::Identity(5, 5), Dense::Identity(5, 1), beta, steps, noise, observe);
  return std::sqrt(sum / static_cast<double>(steps - transient));
}

TEST(ConstantPush, EndsAtTheSameFloorForEveryMomentum) {
  const double psi = 1e-4;
  for (const double beta : {0.0, 0.1, optimal_beta(0.95), 0.24}) {
    double last = 0;
    const auto push = [&](std::int64_t, const Dense& X) -> Dense {
      return psi * Dense::Identity(5, 5).col(1) * X(0, 0);  // constant beside the component along u_1
    };
    const auto observe = [&](std::int64_t, const Dense& X, const Dense&) { last = test::tangent_to_first_axes(X); };

    test::dense_anpm(matrix(), Dense::Identity(5, 1), beta, 1500, push, observe);

    EXPECT_NEAR(last, floor_constant_push(psi, 1.0, 0.95), 1e-10) << "beta = " << beta;
  }
}

TEST(WhiteNoise, EndsAtItsClosedFormWithoutMomentum) {
  const double sigma = 1e-4;

  EXPECT_NEAR(measured_white_floor(0.0, sigma) / floor_white(sigma, wanted, unwanted, 0.0), 1.0, 0.05);
}

TEST(WhiteNoise, EndsAtItsClosedFormWithMomentum) {
  const double sigma = 1e-4, beta = optimal_beta(0.95);

  EXPECT_NEAR(measured_white_floor(beta, sigma) / floor_white(sigma, wanted, unwanted, beta), 1.0, 0.05);
}

TEST(WhiteNoise, EndsAtItsClosedFormUnderCentredDamping) {
  const double sigma = 1e-4;
  const Damped seen = damped(1.0, 0.95, Damping::centred);
  const std::vector<double> top{seen.lambda_k};
  std::vector<double> rest(unwanted);
  for (double& eigenvalue : rest) eigenvalue -= seen.shift;

  EXPECT_NEAR(measured_white_floor(seen.beta, sigma, seen.shift) / floor_white(sigma, top, rest, seen.beta), 1.0, 0.05);
}

TEST(WhiteNoise, IsAmplifiedByMomentumAsPredictedAtGapOneHundredth) {
  EXPECT_NEAR(white_amplification(1.0, optimal_beta(0.99)), 2.66, 0.005);
  EXPECT_EQ(white_amplification(1.0, 0.0), 1.0);
}

TEST(StatisticalLimit, FallsWithTheRootOfTheProductsAndGrowsWithTheRank) {
  const double limit = statistical_limit(1e-5, 10, 1.0, 0.99, 4000);

  EXPECT_NEAR(limit, 1e-5 * std::sqrt(10.0) / (0.01 * std::sqrt(400.0)), 1e-18);
  EXPECT_NEAR(statistical_limit(1e-5, 10, 1.0, 0.99, 16000) / limit, 0.5, 1e-12);
  EXPECT_NEAR(products_at_statistical_limit(1e-5, 10, 1.0, 0.99, limit), 4000, 1e-8);
}

TEST(StatisticalLimit, OfASpectrumCountsWhatIsFarAway) {
  const std::vector<double> ten(10, 1.0), near{0.99};
  std::vector<double> all(991, 0.5);
  all.front() = 0.99;

  const double by_one = statistical_limit(1e-5, 10, 1.0, 0.99, 4000);

  EXPECT_NEAR(statistical_limit_of_spectrum(1e-5, ten, near, 4000) / by_one, 1, 1e-12);
  // a row of 1/0.01 and 990 times 1/0.5 is shorter than the column of ten times 1/0.01
  EXPECT_NEAR(statistical_limit_of_spectrum(1e-5, ten, all, 4000) / by_one, 1, 1e-12);
  all.front() = 0.9;  // and longer than that of ten times 1/0.1
  EXPECT_NEAR(statistical_limit_of_spectrum(1e-5, ten, all, 4000), 1e-5 / std::sqrt(400.0) * std::sqrt(100 + 990 * 4.0),
              1e-12);
}

TEST(StatisticalLimit, RefusesArgumentsOutOfRange) {
  EXPECT_THROW(statistical_limit(-1e-5, 10, 1.0, 0.99, 4000), InvalidArgument);
  EXPECT_THROW(statistical_limit(1e-5, 0, 1.0, 0.99, 4000), InvalidArgument);
  EXPECT_THROW(statistical_limit(1e-5, 10, 1.0, 1.0, 4000), InvalidArgument);
  EXPECT_THROW(statistical_limit(1e-5, 10, 1.0, 0.99, 0), InvalidArgument);
  EXPECT_THROW(products_at_statistical_limit(1e-5, 10, 1.0, 0.99, 1.5), InvalidArgument);
  EXPECT_THROW(statistical_limit_of_spectrum(1e-5, std::vector{1.0}, std::vector{1.0}, 10), InvalidArgument);
}

TEST(Floors, RefuseArgumentsOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();

  EXPECT_THROW(floor_constant_push(1.0, 1.0, 1.0), InvalidArgument);
  EXPECT_THROW(floor_white_entry(nan, 1.0, 0.5, 0.0), InvalidArgument);
  EXPECT_THROW(floor_white_entry(1.0, 1.0, 0.5, 0.25), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::theory

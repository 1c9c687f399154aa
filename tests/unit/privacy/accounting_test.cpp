#include <gtest/gtest.h>
#include <hearsay/privacy.hpp>

#include <cmath>

#include "support/expect_error.hpp"

namespace hearsay {
namespace {

struct GaussianCase {
  double mu, epsilon, delta;
};

// dp-accounting 0.6.0 of PyPI: GaussianPrivacyLoss(standard_deviation=1/mu, adjacency_type=ADD)
// .get_delta_for_epsilon(epsilon). It subtracts two nearly equal numbers, and so has up to six digits fewer than
// double.
constexpr GaussianCase accounted[] = {
    {0.237, 1, 1.0259993856175876e-06},  {0.05, 0.1, 0.00044619186488469714}, {0.5, 1, 0.0068295949831145841},
    {1, 1, 0.12693673750664392},         {1, 4, 4.7122412007931651e-05},      {2, 3, 0.18381307654447221},
    {0.1, 0.5, 6.8565824558386013e-09},  {3, 10, 0.018589514315857855},       {5, 20, 0.047322964188519612},
    {0.02, 0.1, 1.1240012356912133e-09}, {0.8, 8, 3.0182900262138221e-23},    {6, 0.5, 0.99654360071696191}};

// 1 / GaussianPrivacyLoss.from_privacy_guarantee(DifferentialPrivacyParameters(epsilon, delta), adjacency_type=ADD)
// .standard_deviation, of the same version.
constexpr GaussianCase guaranteed[] = {
    {0.23670437838445021, 1, 1e-06},      {0.027544650220882948, 0.1, 1e-06}, {0.14221055732570356, 0.5, 1e-05},
    {0.83785873174066894, 4, 1e-06},      {1.1990562478933713, 8, 1e-10},     {0.15248965030435083, 1, 1e-12},
    {0.0024250834599753852, 0.01, 1e-08}, {0.89585316638097667, 2, 0.01},     {3.235359137297523, 20, 1e-06}};

// The formula with 60 digits (mpmath 1.4.1), at the numbers that a double holds.
constexpr GaussianCase exact[] = {{0.237, 1, 1.02599938561755635e-6},     {0.05, 0.1, 0.000446191864884714333},
                                  {0.03, 1, 9.40786785613985822e-247},    {3, 10, 0.0185895143158578061},
                                  {1e-3, 1e-3, 0.0000833571321252084935}, {1e-5, 1e-9, 3.98892282593927993e-6},
                                  {6, 0.5, 0.996543600716962011},         {20, 100, 0.999999614668556447},
                                  {12, 1, 0.999999996757507388},          {0.5, 15, 1.43003110843602895e-196}};

TEST(GaussianDelta, IsThatOfDpAccounting) {
  for (const auto& [mu, epsilon, delta] : accounted)
    EXPECT_NEAR(gaussian_delta(mu, epsilon) / delta, 1.0, 1e-6) << mu << " " << epsilon;
}

TEST(GaussianDelta, IsExactWhereTermsCancelAndWhereItIsTiny) {
  for (const auto& [mu, epsilon, delta] : exact)
    EXPECT_NEAR(gaussian_delta(mu, epsilon) / delta, 1.0, 4e-15) << mu << " " << epsilon;
  EXPECT_EQ(gaussian_delta(0.01, 1), 0.0);                                        // 2e-2178
  EXPECT_NEAR(gaussian_delta(1e-6, 0) * std::sqrt(2 * M_PI) / 1e-6, 1.0, 1e-12);  // phi(0) mu
}

TEST(GaussianDelta, HasNoSeamWhereTheFormulaChanges) {
  const double mu = 12, at = mu * (mu / 2 - 5);  // a = 5
  const double below = gaussian_delta(mu, at * (1 + 1e-15)), above = gaussian_delta(mu, at * (1 - 1e-15));
  EXPECT_NEAR(below, above, 1e-15);
}

TEST(GaussianMu, IsThatOfDpAccounting) {
  for (const auto& [mu, epsilon, delta] : guaranteed)
    EXPECT_NEAR(gaussian_mu({epsilon, delta}) / mu, 1.0, 1e-6) << epsilon << " " << delta;
}

TEST(GaussianMu, InvertsDeltaToTheLastDigitsAndNeverPromisesTooMuch) {
  for (const double epsilon : {1e-3, 0.1, 1.0, 8.0, 100.0})
    for (const double delta : {1e-300, 1e-30, 1e-12, 1e-6, 0.01, 0.4}) {
      const double mu = gaussian_mu({epsilon, delta});
      EXPECT_LE(gaussian_delta(mu, epsilon), delta * (1 + 1e-15));
      EXPECT_GT(gaussian_delta(mu * (1 + 1e-14), epsilon), delta * (1 - 1e-15));
    }
}

TEST(GaussianEpsilon, InvertsDelta) {
  for (const auto& [mu, epsilon, delta] : guaranteed)
    EXPECT_NEAR(gaussian_epsilon(gaussian_mu({epsilon, delta}), delta) / epsilon, 1.0, 1e-12);
  EXPECT_EQ(gaussian_epsilon(0.1, 0.5), 0.0);
}

TEST(GaussianMu, RefusesWhatIsNoBudget) {
  for (const double epsilon : {0.0, -1.0, 101.0, std::nan(""), HUGE_VAL})
    test::expect_error<InvalidArgument>([&] { gaussian_mu({epsilon, 1e-6}); }, {"epsilon = ", "above 0"});
  for (const double delta : {0.0, -1e-6, 1.0, 0.6, std::nan("")})
    test::expect_error<InvalidArgument>([&] { gaussian_mu({1, delta}); }, {"delta = ", "at most 0.5"});
  test::expect_error<InvalidArgument>([] { gaussian_mu({1e-9, 1e-12}); }, {"leave nothing"});
  test::expect_error<InvalidArgument>([] { gaussian_delta(-1, 1); }, {"mu = -1"});
}

}  // namespace
}  // namespace hearsay

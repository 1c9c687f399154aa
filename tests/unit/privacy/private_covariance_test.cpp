#include <gtest/gtest.h>
#include <hearsay/linalg.hpp>
#include <hearsay/private_covariance.hpp>
#include <hearsay/threads.hpp>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/planted.hpp"
#include "support/random_block.hpp"
#include "support/rows.hpp"

namespace hearsay {
namespace {

using test::VectorOfRows;

PrivacySettings budget_of(double epsilon, double row_norm) { return {.budget = {epsilon, 1e-6}, .row_norm = row_norm}; }

Block<double> released(const Block<double>& data, const PrivacySettings& settings, std::uint64_t seed = 1) {
  VectorOfRows rows(data);
  return PrivateCovariance(rows, settings, insecure_words(seed)).matrix();
}

// With the same words the noise is the same, whatever the data.
Block<double> without_noise(const Block<double>& data, const PrivacySettings& settings) {
  return released(data, settings) - released(Block<double>::Zero(0, data.cols()), settings);
}

TEST(PrivateCovariance, IsTheSumOfOuterProductsOfClippedRowsAndNoise) {
  Block<double> data = test::random_block(3000, 6, 1);
  const PrivacySettings settings = budget_of(1, 2.5);
  const Block<double> found = without_noise(data, settings);
  int clipped = 0;
  for (Index i = 0; i < data.rows(); ++i)
    if (data.row(i).norm() > 2.5) data.row(i) *= 2.5 / data.row(i).norm(), ++clipped;
  ASSERT_GT(clipped, 500);
  ASSERT_LT(clipped, 2500);
  const Block<double> expected = data.transpose() * data;
  EXPECT_LE((found - expected).norm(), 1e-5 * expected.norm());
}

TEST(PrivateCovariance, HasTheLawOfTheOrthogonalEnsemble) {
  const ReleasePlan plan = plan_release(budget_of(1, 3), 40);
  EXPECT_NEAR(plan.sigma, 9 / plan.mu, 1e-3 * plan.sigma);
  EXPECT_GE(plan.sigma, 9 / plan.mu);
  double diagonal = 0, beside = 0, largest = 0;
  constexpr int draws = 30;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    const Block<double> E = released(Block<double>::Zero(0, 40), budget_of(1, 3), seed);
    EXPECT_EQ(E, Block<double>(E.transpose()));
    diagonal += E.diagonal().squaredNorm() / (40 * draws);
    beside += (E.squaredNorm() - E.diagonal().squaredNorm()) / (40 * 39 * draws);
    largest = std::max(largest, spectral_norm<double>(E));
  }
  EXPECT_NEAR(std::sqrt(diagonal) / plan.sigma, 1.0, 5 / std::sqrt(2 * 40.0 * draws));
  EXPECT_NEAR(std::sqrt(2 * beside) / plan.sigma, 1.0, 5 / std::sqrt(40.0 * 39 * draws));
  EXPECT_NEAR(largest / (plan.sigma * std::sqrt(2.0 * 40)), 1.0, 0.15);  // the edge of the semicircle
}

// What the noise is made for is what a row can move, in the numbers that are in the machine.
TEST(PrivateCovariance, MovesByNoMoreThanTheNoiseIsMadeFor) {
  for (const Neighbours neighbours : {Neighbours::add_remove, Neighbours::replace}) {
    PrivacySettings settings = budget_of(1, 1);
    settings.neighbours = neighbours;
    const ReleasePlan plan = plan_release(settings, 5);
    double most = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const Block<double> data = 1e3 * test::random_block(9, 5, seed);  // every row is clipped
      Block<double> other = data;
      if (neighbours == Neighbours::replace)
        other.row(4) = 1e3 * test::random_block(1, 5, 1000 + seed);
      else
        other = Block<double>(data.topRows(8));
      most = std::max(most, (released(data, settings) - released(other, settings)).norm());
    }
    EXPECT_LE(most / plan.sigma, plan.matrix_mu);
    EXPECT_GE(most / plan.sigma, 0.95 * plan.matrix_mu);
  }
}

TEST(PrivateCovariance, KeepsTheRadiusForRowsOfAnySize) {
  for (const double size : {1e-300, 1e-9, 1.0, 1e9, 1e200, 1.7e308}) {
    Block<double> data = Block<double>::Zero(1, 3);
    data << size, -size, size / 3;
    const PrivacySettings settings = budget_of(1, 2);
    const double moved = without_noise(data, settings).trace();
    EXPECT_LE(moved, 4.0);
    EXPECT_NEAR(moved, std::min(4.0, size * size * (2 + 1.0 / 9)), 1e-4) << size;
  }
}

TEST(PrivateCovariance, SumsAreExactWhateverTheOrderAndTheThreads) {
  const Block<double> data = test::random_block(5000, 17, 3);
  const Block<double> once = released(data, budget_of(2, 4));
  EXPECT_EQ(once, released(data.colwise().reverse(), budget_of(2, 4)));
  const int before = threads();
  set_threads(1);
  EXPECT_EQ(once, released(data, budget_of(2, 4)));
  set_threads(before);
}

TEST(PrivateCovariance, SubtractsAGivenMeanBeforeItClips) {
  Block<double> data = test::random_block(200, 4, 5);
  PrivacySettings settings = budget_of(1, 1.5);
  const Block<double> expected = without_noise(data, settings);
  settings.center = PrivateCenter::given;
  settings.mean = Vector<double>::Constant(4, 1000.0);
  data.array() += 1000.0;
  EXPECT_LE((without_noise(data, settings) - expected).norm(), 1e-6 * expected.norm());
}

TEST(PrivateCovariance, ReleasesAMeanForItsShare) {
  Block<double> data = 0.1 * test::random_block(4000, 5, 6);
  data.col(2).array() += 0.5;
  PrivacySettings settings = budget_of(1, 1);
  settings.center = PrivateCenter::dp_mean;
  settings.public_rows = 4000;
  const ReleasePlan plan = plan_release(settings, 5);
  EXPECT_NEAR(std::hypot(plan.matrix_mu, plan.mean_mu), plan.mu, 1e-10 * plan.mu);
  EXPECT_NEAR(plan.mean_mu / plan.mu, std::sqrt(mean_share), 1e-9);
  EXPECT_NEAR(plan.mean_sigma * plan.mean_mu, 1.0, 1e-4);
  double squares = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    VectorOfRows rows(data);
    const PrivateCovariance C(rows, settings, insecure_words(seed));
    EXPECT_EQ(rows.passes, 2);
    squares += (C.mean() - data.colwise().mean().transpose()).squaredNorm() / (5 * 60);
  }
  EXPECT_NEAR(std::sqrt(squares) * 4000 / plan.mean_sigma, 1.0, 5 / std::sqrt(600.0));
}

// A row in another's place moves a sum by 2B, not by sqrt(2) B.
TEST(PrivateCovariance, ChargesTheMeanForReplacedRows) {
  PrivacySettings settings = budget_of(1, 1);
  settings.center = PrivateCenter::dp_mean;
  settings.public_rows = 100;
  const double added = plan_release(settings, 3).mean_sigma;
  settings.neighbours = Neighbours::replace;
  EXPECT_NEAR(plan_release(settings, 3).mean_sigma / added, 2.0, 1e-4);
}

TEST(PrivateCovariance, RefusesWhatItCannotPromiseWithoutSayingWhatItSaw) {
  Block<double> data = test::random_block(20, 3, 8);
  data(13, 1) = std::nan("");
  try {
    released(data, budget_of(1, 1));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()).find_first_of("0123456789"), std::string::npos) << error.what();
  }
  const Block<double> fine = test::random_block(20, 3, 8);
  for (const double norm : {0.0, -1.0, std::nan(""), HUGE_VAL})
    test::expect_error<InvalidArgument>([&] { released(fine, budget_of(1, norm)); }, {"row-norm"});
  PrivacySettings settings = budget_of(1, 1);
  settings.center = PrivateCenter::dp_mean;
  test::expect_error<InvalidArgument>([&] { released(fine, settings); }, {"public"});
  settings.center = PrivateCenter::given;
  test::expect_error<InvalidArgument>([&] { released(fine, settings); }, {"needs the mean"});
  settings.mean = Vector<double>::Zero(4);
  test::expect_error<InvalidArgument>([&] { released(fine, settings); }, {"has 4 numbers"});
}

TEST(PrivateCovariance, IsNoiseAloneWhereThereAreNoRows) {
  EXPECT_GT(released(Block<double>::Zero(0, 3), budget_of(1, 1)).norm(), 0.0);
}

}  // namespace
}  // namespace hearsay

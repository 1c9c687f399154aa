// Rows that arrive: what is found of them, what is said of it, and that neither depends on how they were handed over.
#include "hearsay/arriving_pca.hpp"

#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/error.hpp>
#include <hearsay/threads.hpp>

#include <cmath>
#include <limits>

#include "support/expect_error.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::random_block;

// Rows whose covariance is diag(1, 1/2, 1/3, ..), far from the origin.
Block<double> harmonic_rows(Index rows, Index features, std::uint64_t seed) {
  Block<double> data = random_block(rows, features, seed);
  for (Index j = 0; j < features; ++j) data.col(j) /= std::sqrt(static_cast<double>(j + 1));
  data.array() += 3.0;
  return data;
}

Block<double> axes(Index features, Index k) { return Block<double>::Identity(features, k); }

double error_of_all_rows(const Block<double>& data, Index k) {
  return sin_theta<double>(axes(data.cols(), k), pca<double>(data, {.power = {.rank = k}}).power.basis);
}

ArrivingPca<double> fed(const Block<double>& data, Index rank, Index batch, Index rows_a_call) {
  ArrivingPca<double> stream(data.cols(), {.rank = rank, .batch = batch});
  for (Index first = 0; first < data.rows(); first += rows_a_call)
    stream.add(Block<double>(data.middleRows(first, std::min(rows_a_call, data.rows() - first))));
  return stream;
}

TEST(ArrivingPca, FindsWhatAllRowsTellInOnePass) {
  double error = 0, limit = 0;
  for (const std::uint64_t seed : {101, 102, 103, 104}) {
    const Block<double> data = harmonic_rows(20000, 60, seed);

    const auto stream = fed(data, 3, 100, 20000);

    error += sin_theta<double>(axes(60, 3), stream.result().power.basis);
    limit += error_of_all_rows(data, 3);
    EXPECT_EQ(stream.batches(), 200);
    EXPECT_EQ(stream.result().samples, 20000);
  }
  EXPECT_LE(error, 1.3 * limit);
}

TEST(ArrivingPca, GivesTheSameBitsHoweverTheRowsAreHandedOver) {
  const Block<double> data = harmonic_rows(3000, 20, 7);

  const auto at_once = fed(data, 2, 50, 3000), one_by_one = fed(data, 2, 50, 37);
  set_threads(2);
  const auto threaded = fed(data, 2, 50, 500);
  set_threads(1);

  for (const auto* other : {&one_by_one, &threaded}) {
    EXPECT_TRUE((at_once.result().power.basis.array() == other->result().power.basis.array()).all());
    EXPECT_EQ(at_once.result().power.bar.sin_theta, other->result().power.bar.sin_theta);
    EXPECT_TRUE((at_once.result().mean.array() == other->result().mean.array()).all());
  }
}

TEST(ArrivingPca, ComesWithABarThatIsTrueOfWhereTheRowsComeFrom) {
  int within = 0, runs = 0;
  for (const Index k : {2, 4})
    for (std::uint64_t seed = 201; seed < 211; ++seed) {
      const auto stream = fed(harmonic_rows(12000, 40, seed), k, 100, 12000);

      const double truth = sin_theta<double>(axes(40, k), stream.result().power.basis),
                   bar = stream.result().power.bar.sin_theta;
      within += bar <= 3 * truth && truth <= 3 * bar ? 1 : 0;
      ++runs;
      EXPECT_FALSE(stream.result().power.bar.drift) << "k = " << k << ", seed " << seed;
    }
  EXPECT_GE(within, runs - 1);
}

TEST(ArrivingPca, NoticesAStreamThatDrifts) {
  Block<double> data = harmonic_rows(30000, 20, 5);
  for (Index i = 0; i < data.rows(); ++i) {  // the second axis turns into the third
    const double angle = 1.5 * static_cast<double>(i) / static_cast<double>(data.rows());
    const double a = 2 * data(i, 1), b = data(i, 2);
    data(i, 1) = std::cos(angle) * a - std::sin(angle) * b;
    data(i, 2) = std::sin(angle) * a + std::cos(angle) * b;
  }

  const auto stream = fed(data, 2, 50, 30000);

  EXPECT_TRUE(stream.result().power.bar.drift);
}

TEST(ArrivingPca, SaysMeanVarianceAndSingularValuesOfAllRows) {
  const Block<double> data = harmonic_rows(4000, 12, 9);
  const PcaResult<double> whole = pca<double>(data, {.power = {.rank = 2}});

  const auto found = fed(data, 2, 80, 1000).result();

  EXPECT_LE((found.mean - whole.mean).norm(), 1e-12 * whole.mean.norm());
  EXPECT_NEAR(found.total_variance, whole.total_variance, 1e-10 * whole.total_variance);
  for (const Index i : {0, 1}) {
    EXPECT_NEAR(found.power.eigenvalues(i), whole.power.eigenvalues(i), 0.1 * whole.power.eigenvalues(i));
    EXPECT_NEAR(found.singular_values(i), whole.singular_values(i), 0.1 * whole.singular_values(i));
  }
}

TEST(ArrivingPca, HasNoAnswerBeforeTheFirstBatchAndNoBarBeforeThereAreAverages) {
  const Block<double> data = harmonic_rows(300, 12, 10);
  ArrivingPca<double> stream(12, {.rank = 2, .batch = 100});

  stream.add(Block<double>(data.topRows(99)));
  EXPECT_EQ(stream.result().power.basis.size(), 0);
  EXPECT_EQ(stream.samples(), 99);
  stream.add(Block<double>(data.middleRows(99, 101)));

  EXPECT_EQ(stream.batches(), 2);
  EXPECT_EQ(stream.result().power.basis.cols(), 2);
  EXPECT_FALSE(stream.result().power.bar.exists());
}

TEST(ArrivingPca, KeepsNoMoreOfALongStreamThanOfAShortOne) {
  const auto stream = fed(harmonic_rows(40000, 8, 11), 2, 20, 10000);

  EXPECT_EQ(stream.batches(), 2000);
  EXPECT_LE(stream.result().power.history.size(), 700U);  // 128 and the batches of the last call
}

TEST(ArrivingPca, TakesRowsWithoutAnySpread) {
  const auto stream = fed(Block<double>::Constant(100, 5, 2.0), 1, 10, 35);

  EXPECT_EQ(stream.batches(), 10);
  EXPECT_EQ(stream.result().total_variance, 0.0);
}

TEST(ArrivingPca, RefusesWhatDoesNotFit) {
  using test::expect_error;
  expect_error<InvalidArgument>([] { ArrivingPca<double>(5, {.rank = 5}); }, {"rank = 5: must lie in [1, 4]"});
  expect_error<InvalidArgument>([] { ArrivingPca<double>(5, {.rank = 2, .batch = 2}); },
                                {"batch = 2: must be above the `rank`, 2"});
  ArrivingPca<double> stream(5, {.rank = 2, .batch = 10});
  expect_error<InvalidArgument>([&] { stream.add(Block<double>::Zero(3, 4)); }, {"rows of 4 features: must have 5"});
  expect_error<DataError>([&] { stream.add(Block<double>::Constant(3, 5, std::numeric_limits<double>::quiet_NaN())); },
                          {"not finite"});
}

}  // namespace
}  // namespace hearsay

// Products that use a part of the rows: over a whole pass they are those of all rows.
#include "hearsay/operators/minibatch.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/threads.hpp>

#include <algorithm>
#include <set>

#include "support/expect_error.hpp"
#include "support/random_block.hpp"
#include "support/rows.hpp"
#include "support/sparse.hpp"

namespace hearsay {
namespace {

using test::random_block;
using test::VectorOfRows;

template <class Covariance>
Block<double> mean_of_products(const Covariance& A, Index products, const Block<double>& X) {
  Block<double> sum = Block<double>::Zero(A.dim(), X.cols()), Y(A.dim(), X.cols());
  for (Index i = 0; i < products; ++i) {
    A.apply(X, Y);
    sum += Y / static_cast<double>(products);
  }
  return sum;
}

Block<double> whole_product(const Block<double>& data, bool center, const Block<double>& X) {
  const DenseCovariance<double> A(data, {.center = center});
  Block<double> Y(A.dim(), X.cols());
  A.apply(X, Y);
  return Y;
}

TEST(RowBatches, HandOutEveryRowOncePerPassInAnotherOrder) {
  RowBatches batches(103, 10, 7);
  ASSERT_EQ(batches.per_pass(), 11);
  std::vector<std::vector<Index>> orders;

  for (int pass = 0; pass < 3; ++pass) {
    std::vector<Index> order;
    for (Index i = 0; i < batches.per_pass(); ++i) {
      const auto rows = batches.next();
      EXPECT_GE(rows.size(), 9U);
      EXPECT_LE(rows.size(), 10U);
      order.insert(order.end(), rows.begin(), rows.end());
    }
    EXPECT_EQ(std::set<Index>(order.begin(), order.end()).size(), 103U);
    orders.push_back(order);
  }

  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(orders[1], orders[2]);
}

TEST(RowBatches, DependOnSeedAndPositionAlone) {
  RowBatches one(50, 8, 3), other(50, 8, 3), another(50, 8, 4);
  for (int i = 0; i < 12; ++i) one.next();

  other.seek(12);
  another.seek(12);

  const auto wanted = one.next(), found = other.next(), different = another.next();
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), found.begin(), found.end()));
  EXPECT_FALSE(std::equal(wanted.begin(), wanted.end(), different.begin(), different.end()));
}

TEST(RowBatches, RefuseABatchThatIsNoPartOfTheRows) {
  test::expect_error<InvalidArgument>([&] { RowBatches(20, 0, 0); },
                                      {"batch = 0: must lie in [1, 20], the number of rows"});
  test::expect_error<InvalidArgument>([&] { RowBatches(20, 21, 0); },
                                      {"batch = 21: must lie in [1, 20], the number of rows"});
}

TEST(MinibatchCovariance, AveragesToTheCovarianceOverAPass) {
  for (const bool center : {true, false})
    for (const Index columns : {1, 7, 16}) {
      const Block<double> data = random_block(240, 13, 1).array() + 3.0, X = random_block(13, columns, 2);
      const MinibatchCovariance<double> A(data, {.center = center, .batch = 40, .seed = 5});

      const Block<double> mean = mean_of_products(A, A.batches_per_pass(), X);

      EXPECT_LE((mean - whole_product(data, center, X)).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_EQ(A.passes(), 1);
    }
}

TEST(MinibatchCovariance, IsNoisyUnlessABatchIsAllRows) {
  const Block<double> data = random_block(60, 5, 3), X = random_block(5, 2, 4);
  const MinibatchCovariance<double> part(data, {.batch = 30}), all(data, {.batch = 60});
  Block<double> Y(5, 2);

  all.apply(X, Y);

  EXPECT_TRUE(part.facts().noisy);
  EXPECT_FALSE(part.facts().exact);
  EXPECT_TRUE(all.facts().exact);
  EXPECT_FALSE(all.facts().noisy);
  EXPECT_LE((Y - whole_product(data, true, X)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(MinibatchCovariance, GivesTheSameBitsForAnyNumberOfThreadsAndAfterASeek) {
  const Block<double> data = random_block(5000, 40, 6), X = random_block(40, 6, 7);
  const MinibatchCovariance<double> A(data, {.batch = 2000, .seed = 1}), B(data, {.batch = 2000, .seed = 1});
  Block<double> one(40, 6), two(40, 6);
  for (int i = 0; i < 4; ++i) A.apply(X, one);

  set_threads(2);
  B.seek(3);
  B.apply(X, two);
  set_threads(1);

  EXPECT_EQ(A.position(), B.position());
  EXPECT_TRUE((one.array() == two.array()).all());
}

TEST(MinibatchCovariance, HoldsItsBatchWhenToldTo) {
  const Block<double> data = random_block(90, 6, 8), X = random_block(6, 2, 9);
  const MinibatchCovariance<double> A(data, {.batch = 30});
  Block<double> last(6, 2), again(6, 2);
  A.apply(X, last);

  A.hold();
  A.apply(X, again);

  EXPECT_TRUE((last.array() == again.array()).all());
  EXPECT_EQ(A.position(), 1U);
}

TEST(SparseMinibatchCovariance, MultipliesAsTheDenseOneDoes) {
  const Block<double> dense = random_block(120, 9, 10).cwiseMax(0.3).array() - 0.3, X = random_block(9, 3, 11);
  const auto data = test::sparse(dense);
  const MinibatchCovariance<double> A(dense, {.batch = 50, .seed = 2});
  const SparseMinibatchCovariance<double> B(data, {.batch = 50, .seed = 2});
  Block<double> by_dense(9, 3), by_sparse(9, 3);

  for (int i = 0; i < 5; ++i) {
    A.apply(X, by_dense);
    B.apply(X, by_sparse);
    EXPECT_LE((by_dense - by_sparse).cwiseAbs().maxCoeff(), 1e-13);
  }
  EXPECT_TRUE(B.facts().noisy);
}

// Every batch but the first is divided by its rows, as if there were one sample more: the mean over 6 batches of 40 is
// the covariance but for a term of the first batch, 1/39 - 1/40.
TEST(ArrivingCovariance, AddsUpToTheScatterAboutTheMeanOfAllRows) {
  for (const bool center : {true, false}) {
    const Block<double> data = random_block(240, 7, 12).array() + 5.0, X = random_block(7, 3, 13);
    VectorOfRows source(data);
    const ArrivingCovariance<double> A(source, center, 40);

    const Block<double> mean = mean_of_products(A, 6, X);

    const Block<double> wanted = whole_product(data, center, X);
    EXPECT_LE((mean - wanted).norm(), (center ? 1e-2 : 1e-12) * wanted.norm());
    EXPECT_EQ(A.passes(), 1);
    EXPECT_EQ(A.samples(), 240);
    EXPECT_LE((A.mean().transpose() - (center ? 1.0 : 0.0) * data.colwise().mean()).norm(), 1e-12);
    EXPECT_NEAR(A.total_variance(), DenseCovariance<double>(data, {.center = center}).total_variance(), 1e-10);
  }
}

TEST(ArrivingCovariance, GoesRoundWhereAPassEnds) {
  const Block<double> data = random_block(100, 5, 14).array() + 2.0, X = random_block(5, 2, 15);
  VectorOfRows source(data);
  const ArrivingCovariance<double> A(source, true, 30);
  for (int i = 0; i < 3; ++i) mean_of_products(A, 1, X);
  EXPECT_EQ(A.passes(), 1);
  EXPECT_EQ(A.samples(), 100);

  const Block<double> later = mean_of_products(A, 10, X);  // rows 90 to 390: three whole passes

  EXPECT_LE((later - whole_product(data, true, X)).norm(), 1e-12 * later.norm());
}

TEST(ArrivingCovariance, FindsItsPlaceAgain) {
  const Block<double> data = random_block(100, 5, 16).array() + 2.0, X = random_block(5, 2, 17);
  VectorOfRows source(data), same(data);
  const ArrivingCovariance<double> A(source, true, 30), B(same, true, 30);
  Block<double> wanted(5, 2), found(5, 2);
  for (int i = 0; i < 6; ++i) A.apply(X, wanted);

  B.seek(5);
  B.apply(X, found);

  EXPECT_TRUE((wanted.array() == found.array()).all());
}

TEST(ArrivingCovariance, RefusesABatchThatIsNoPartOfTheRows) {
  VectorOfRows source(random_block(20, 3, 18)), empty(Block<double>(0, 3));
  test::expect_error<InvalidArgument>([&] { ArrivingCovariance<double>(source, true, 0); },
                                      {"batch = 0: must be at least 1"});
  test::expect_error<InvalidArgument>([&] { ArrivingCovariance<double>(source, true, 21); },
                                      {"batch = 21: must lie in [1, 20], the number of rows"});
  test::expect_error<DataError>([&] { ArrivingCovariance<double>(empty, true, 5); }, {"stream: has no rows"});
}

}  // namespace
}  // namespace hearsay

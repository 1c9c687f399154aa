// When the covariance matrix is formed, and what a resumed operator does.
#include <gtest/gtest.h>
#include <hearsay/operators/covariance.hpp>
#include <hearsay/threads.hpp>

#include <algorithm>
#include <string>

#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::random_block;

TEST(FormingTheCovariance, HappensAtOnceWhenAHandfulOfProductsPaysForIt) {
  const Block<double> data = random_block(200, 64, 1), X = random_block(64, 8, 2);
  const DenseCovariance<double> A(data);
  Block<double> Y(64, 8);

  A.apply(X, Y);

  EXPECT_TRUE(A.formed());
}

TEST(FormingTheCovariance, WaitsUntilSoManyProductsWereAskedFor) {
  const Block<double> data = random_block(100, 90, 3), X = random_block(90, 1, 4);
  const DenseCovariance<double> A(data);  // breaks even after 90 / 5 = 18 products
  Block<double> Y(90, 1);

  int products = 0;
  while (!A.formed() && products < 100) A.apply(X, Y), ++products;

  EXPECT_EQ(products, 20);  // the twentieth finds nineteen behind it
}

TEST(FormingTheCovariance, HappensAtOnceWhereASolveIsExpectedToPayForIt) {
  const Block<double> data = random_block(100, 90, 3), X = random_block(90, 1, 4);
  const DenseCovariance<double> A(data, {.expected_products = 17}), at_once(data, {.expected_products = 18});
  Block<double> Y(90, 1);

  A.apply(X, Y);
  at_once.apply(X, Y);

  EXPECT_FALSE(A.formed());
  EXPECT_TRUE(at_once.formed());
}

// Few features in lanes, many in strips, samples pair by pair; sums over samples in several blocks, the last one short.
TEST(FormingTheCovariance, GivesTheProductsOfTheDataInEveryWayItIsFormed) {
  struct Shape {
    Index samples, features;
    bool by_samples;
  };
  for (const Shape& shape : {Shape{5000, 3, false}, Shape{4500, 50, false}, Shape{300, 129, false},
                             Shape{700, 1030, false}, Shape{100, 1500, true}, Shape{1, 4, false}}) {
    SCOPED_TRACE(std::to_string(shape.samples) + " x " + std::to_string(shape.features));
    const Block<double> data = random_block(shape.samples, shape.features, 9);
    const CovarianceOptions options{.by_samples = shape.by_samples, .expected_products = 1 << 20};
    const DenseCovariance<double> formed(data, options),
        never(data, {.by_samples = shape.by_samples, .gram_bytes_limit = 0});
    const Block<double> X = random_block(formed.dim(), 5, 10);
    Block<double> Y(formed.dim(), 5), Z(formed.dim(), 5);

    formed.apply(X, Y);
    never.apply(X, Z);

    ASSERT_TRUE(formed.formed() && !never.formed());
    EXPECT_LE((Y - Z).norm(), 1e-13 * std::max(Z.norm(), 1e-300));
  }
}

TEST(FormingTheCovariance, DoesNotDependOnTheThreads) {
  const Block<double> data = random_block(9000, 70, 11), X = random_block(70, 8, 12);
  const int before = threads();
  const auto product = [&](int count) {
    set_threads(count);
    const DenseCovariance<double> A(data);
    Block<double> Y(70, 8);
    A.apply(X, Y);
    EXPECT_TRUE(A.formed());
    return Y;
  };

  const Block<double> one = product(1), three = product(3);
  set_threads(before);

  EXPECT_EQ(one, three);
}

TEST(FormingTheCovariance, WaitsWhereOneProductMayDo) {
  const Block<double> data = random_block(200, 64, 1), X = random_block(64, 4, 2);
  const DenseCovariance<double> A(data, {.form_at_once = false}), at_once(data);
  Block<double> Y(64, 4);
  at_once.apply(X, Y);
  EXPECT_TRUE(at_once.formed());

  int products = 0;
  while (!A.formed() && products < 100) A.apply(X, Y), ++products;

  EXPECT_EQ(products, 5);  // breaks even after 64 / 20 products
}

TEST(FormingTheCovariance, GivesTheTotalVarianceAsItsTrace) {
  const Block<double> data = random_block(200, 64, 1), X = random_block(64, 8, 2);
  const DenseCovariance<double> A(data), never(data, {.gram_bytes_limit = 0});
  Block<double> Y(64, 8);
  A.apply(X, Y);
  ASSERT_TRUE(A.formed());
  EXPECT_NEAR(A.total_variance(), never.total_variance(), 1e-12 * never.total_variance());
}

// Of single precision the trace would be wrong by 1e-5: squares are added up in double on the way.
TEST(FormingTheCovariance, AddsUpTheTotalVarianceInDouble) {
  const Block<float> data = random_block(20000, 24, 1).cast<float>(), X = random_block(24, 8, 2).cast<float>();
  const DenseCovariance<float> A(data), never(data, {.gram_bytes_limit = 0});
  Block<float> Y(24, 8);
  A.apply(X, Y);
  ASSERT_TRUE(A.formed());
  EXPECT_NEAR(A.total_variance(), never.total_variance(), 1e-12 * never.total_variance());
}

TEST(FormingTheCovariance, RespectsTheMemoryLimit) {
  const Block<double> data = random_block(100, 64, 5), X = random_block(64, 8, 6);
  const DenseCovariance<double> A(data, {.gram_bytes_limit = 64 * 64 * 8 - 1});
  Block<double> Y(64, 8);

  A.apply(X, Y);

  EXPECT_FALSE(A.formed());
}

TEST(FormingTheCovariance, IsRememberedByThePositionOfAResumedSolve) {
  const Block<double> data = random_block(100, 90, 7), X = random_block(90, 1, 8);
  const DenseCovariance<double> A(data), B(data);
  Block<double> Y(90, 1), Z(90, 1);
  while (!A.formed()) A.apply(X, Y);

  B.seek(A.position());
  A.apply(X, Y);
  B.apply(X, Z);

  EXPECT_TRUE(B.formed());
  EXPECT_EQ(Y, Z);
}

}  // namespace
}  // namespace hearsay

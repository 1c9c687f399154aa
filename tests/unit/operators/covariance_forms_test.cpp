// When the covariance matrix is formed, and what a resumed operator does.
#include <gtest/gtest.h>
#include <hearsay/operators/covariance.hpp>

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
  const Block<double> data = random_block(100, 90, 3), X = random_block(90, 2, 4);
  const DenseCovariance<double> A(data);  // breaks even after 90 / (3 * 2) = 15 products
  Block<double> Y(90, 2);

  int products = 0;
  while (!A.formed() && products < 100) A.apply(X, Y), ++products;

  EXPECT_EQ(products, 17);  // the seventeenth finds sixteen behind it
}

TEST(FormingTheCovariance, RespectsTheMemoryLimit) {
  const Block<double> data = random_block(100, 64, 5), X = random_block(64, 8, 6);
  const DenseCovariance<double> A(data, {.gram_bytes_limit = 64 * 64 * 8 - 1});
  Block<double> Y(64, 8);

  A.apply(X, Y);

  EXPECT_FALSE(A.formed());
}

TEST(FormingTheCovariance, IsRememberedByThePositionOfAResumedSolve) {
  const Block<double> data = random_block(100, 90, 7), X = random_block(90, 2, 8);
  const DenseCovariance<double> A(data), B(data);
  Block<double> Y(90, 2), Z(90, 2);
  while (!A.formed()) A.apply(X, Y);

  B.seek(A.position());
  A.apply(X, Y);
  B.apply(X, Z);

  EXPECT_TRUE(B.formed());
  EXPECT_EQ(Y, Z);
}

}  // namespace
}  // namespace hearsay

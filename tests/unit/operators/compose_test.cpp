#include "hearsay/operators/compose.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/operators/stored.hpp>

#include <stdexcept>

#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::random_block;

TEST(CallbackOperator, PassesBlocksThrough) {
  const Block<double> A = random_block(9, 9, 1), X = random_block(9, 3, 2);
  const CallbackOperator<double> op(9, [&](ConstBlockView<double> in, BlockView<double> out) { out = A * in; });
  Block<double> Y(9, 3);

  op.apply(X, Y);

  EXPECT_LE((Y - A * X).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(CallbackOperator, FromVectorsHandsOverContiguousColumns) {
  const Block<double> A = random_block(9, 9, 1), X = random_block(9, 3, 2);
  const auto op = CallbackOperator<double>::from_vectors(9, [&](const double* x, double* y) {
    Eigen::Map<Vector<double>>(y, 9) = A * Eigen::Map<const Vector<double>>(x, 9);
  });
  Block<double> Y(9, 3);

  op.apply(X, Y);

  EXPECT_LE((Y - A * X).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(CallbackOperator, LetsExceptionsOut) {
  const CallbackOperator<double> op(3, [](auto, auto) { throw std::runtime_error("the line is dead"); });
  Block<double> Y(3, 1);

  EXPECT_THROW(op.apply(Block<double>::Ones(3, 1), Y), std::runtime_error);
}

TEST(CallbackOperator, RefusesAnEmptyFunction) {
  EXPECT_THROW(CallbackOperator<double>(3, CallbackOperator<double>::BlockFunction{}), InvalidArgument);
}

TEST(SumOperator, AddsItsTermsAndAppliesTheWeight) {
  const Block<double> A = random_block(6, 6, 3), B = random_block(6, 6, 4), X = random_block(6, 2, 5);
  const DenseSymmetric<double> first(A), second(B);
  const SumOperator<double> sum({first, second}, 0.5);
  Block<double> Y(6, 2);

  sum.apply(X, Y);

  EXPECT_LE((Y - 0.5 * (A + B) * X).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(SumOperator, NamesTheTermOfAnotherDimension) {
  const Block<double> A = random_block(6, 6, 3), B = random_block(5, 5, 4);
  const DenseSymmetric<double> first(A), second(B);

  try {
    const SumOperator<double> sum({first, second});
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "term 2 of the sum has dimension 5: must be 6, as term 1 has");
  }
}

TEST(ShiftedOperator, AddsAMultipleOfTheIdentity) {
  const Block<double> A = random_block(6, 6, 6), X = random_block(6, 2, 7);
  const DenseSymmetric<double> op(A);
  Block<double> Y(6, 2);

  ShiftedOperator<double>(op, 2.5).apply(X, Y);

  EXPECT_LE((Y - A * X - 2.5 * X).cwiseAbs().maxCoeff(), 1e-14);
}

}  // namespace
}  // namespace hearsay

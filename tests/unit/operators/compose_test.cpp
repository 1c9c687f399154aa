#include "hearsay/operators/compose.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/graph_tools.hpp>
#include <hearsay/noise.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>

#include <stdexcept>

#include "support/planted.hpp"
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

// Six communities, and how often each kind of product was asked for.
class CountedGraph {
 public:
  using Scalar = double;

  Index dim() const { return A_.dim(); }
  void apply(ConstBlockView<double> X, BlockView<double> Y) const {
    ++products;
    A_.apply(X, Y);
  }
  void apply_step(ConstBlockView<double> X, double shift, double beta, ConstBlockView<double> Z,
                  BlockView<double> Y) const {
    ++steps;
    A_.apply_step(X, shift, beta, Z, Y);
  }
  OperatorFacts facts() const { return A_.facts(); }
  double norm_bound() const { return A_.norm_bound(); }

  mutable Index products = 0, steps = 0;

 private:
  NormalisedGraph<double> A_{planted_partition(600, 6, 12, 0.5, 3)};
};

// Y <- W X - 0.3 X - 0.7 Z, whether or not W takes it in one.
Block<double> unfused(OperatorRef<double> W, const Block<double>& X, const Block<double>& Z) {
  Block<double> Y(X.rows(), X.cols());
  W.apply(X, Y);
  return Y - 0.3 * X - 0.7 * Z;
}

TEST(Wrappers, TakeTheStepOfWhatTheyWrapInOnePass) {
  const CountedGraph A;
  const Block<double> X = random_block(600, 5, 2), Z = random_block(600, 5, 3);
  const ShiftedOperator<double> up(A, 2.5), same(A, 0.0), twice(up, -0.5);
  const auto quiet = noisy(A, NoiseModel<double>{}), loud = noisy(A, gaussian_noise<double>(0.1, 4));
  for (const OperatorRef<double> W : {OperatorRef<double>(up), OperatorRef<double>(same), OperatorRef<double>(twice),
                                      OperatorRef<double>(quiet), OperatorRef<double>(loud)}) {
    const Block<double> expected = unfused(W, X, Z);
    Block<double> Y(600, 5);
    A.products = A.steps = 0;
    W.seek(0);  // the noise of the first product once more

    ASSERT_TRUE(W.apply_step(X, 0.3, 0.7, Z, Y));

    EXPECT_EQ(A.steps, 1);
    EXPECT_EQ(A.products, 0);
    EXPECT_LE((Y - expected).cwiseAbs().maxCoeff(), 1e-13);
  }
  EXPECT_EQ(loud.position(), 1u);
  EXPECT_GT(loud.last_noise().cwiseAbs().maxCoeff(), 0.1);
}

TEST(Wrappers, SayWhereWhatTheyWrapHasNoSuchStep) {
  const Block<double> A = random_block(20, 20, 6), X = random_block(20, 2, 1);
  const DenseSymmetric<double> dense(A);
  const ShiftedOperator<double> shifted(dense, 2.5);
  const auto loud = noisy(dense, gaussian_noise<double>(0.1, 4));
  for (const OperatorRef<double> W : {OperatorRef<double>(shifted), OperatorRef<double>(loud)}) {
    Block<double> Y = X;
    EXPECT_FALSE(W.apply_step(X, 0.3, 0.7, X, Y));
    EXPECT_EQ(Y, X);
  }
  EXPECT_EQ(loud.position(), 0u);
}

TEST(Wrappers, LetTheSolverReachThatStep) {
  const CountedGraph A;
  const CallbackOperator<double> plain(
      A.dim(), [&](ConstBlockView<double> X, BlockView<double> Y) { A.apply(X, Y); }, A.facts());
  const PowerOptions options{.rank = 6, .tolerance = 1e-11, .qr_every = 4};
  for (const double shift : {0.0, 0.75}) {
    const auto expected = accelerated_power<double>(ShiftedOperator<double>(plain, shift), options);
    A.products = A.steps = 0;

    const auto result = accelerated_power<double>(ShiftedOperator<double>(A, shift), options);

    EXPECT_GT(A.steps, A.products);  // three of four
    EXPECT_EQ(A.steps + A.products, result.passes);
    EXPECT_EQ(result.status, Status::converged);
    EXPECT_EQ(result.iterations, expected.iterations);
    EXPECT_LE(test::reference_sin_theta(expected.basis, result.basis), 1e-9);
    EXPECT_LE((result.eigenvalues - expected.eigenvalues).cwiseAbs().maxCoeff(), 1e-12);
  }
}

}  // namespace
}  // namespace hearsay

// Block products against Eigen's own, on shapes that meet every edge of the tiling, and the same bits for any threads.
#include <gtest/gtest.h>
#include <hearsay/linalg.hpp>
#include <hearsay/random.hpp>
#include <hearsay/threads.hpp>
#include <limits>

#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::random_block;

template <class S>
double products_tolerance(Index terms) {
  return 4.0 * static_cast<double>(terms) * static_cast<double>(std::numeric_limits<S>::epsilon());
}

template <class S>
class BlockProducts : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(BlockProducts, Scalars);

TYPED_TEST(BlockProducts, DenseTimesBlockAgreesWithEigenOnEveryTileEdge) {
  using S = TypeParam;
  for (const Index n : {1, 7, 16, 33, 2049})
    for (const Index p : {1, 3, 4, 5, 6, 7, 8, 11, 15, 16, 17, 20, 31, 32, 33, 50}) {
      const Block<S> A = random_block<S>(19, n, 1), X = random_block<S>(n, p, 2);
      Block<S> Y = Block<S>::Constant(19, p, S(7));

      multiply<S>(borrow(A), X, Y);

      EXPECT_LE((Y - A * X).cwiseAbs().maxCoeff(), products_tolerance<S>(n)) << "n = " << n << ", p = " << p;
    }
}

TYPED_TEST(BlockProducts, GramAgreesWithEigenAcrossChunks) {
  using S = TypeParam;
  for (const Index d : {1, 5, 1023, 1024, 1025, 3000}) {
    const Block<S> X = random_block<S>(d, 11, 3), Y = random_block<S>(d, 18, 4);

    const Small<S> G = gram<S>(X, Y);

    EXPECT_LE((G - X.transpose() * Y).cwiseAbs().maxCoeff(), products_tolerance<S>(d)) << "d = " << d;
  }
}

TYPED_TEST(BlockProducts, ColumnsOfALargerBlockAreReadInPlace) {
  using S = TypeParam;
  const Block<S> wide = random_block<S>(40, 9, 5), A = random_block<S>(40, 40, 6);
  Block<S> out = Block<S>::Zero(40, 9);

  multiply<S>(borrow(A), wide.middleCols(2, 5), out.middleCols(1, 5));

  EXPECT_LE((out.middleCols(1, 5) - A * wide.middleCols(2, 5)).cwiseAbs().maxCoeff(), products_tolerance<S>(40));
  EXPECT_EQ(out.col(0).cwiseAbs().maxCoeff(), S(0));
  EXPECT_EQ(out.rightCols(3).cwiseAbs().maxCoeff(), S(0));
}

TYPED_TEST(BlockProducts, TransposedAccumulationAddsToWhatIsThere) {
  using S = TypeParam;
  const Block<S> B = random_block<S>(70, 23, 7), U = random_block<S>(70, 4, 8), before = random_block<S>(23, 4, 9);
  Block<S> Y = before;

  accumulate_transposed<S>(borrow(B), U, Y);

  EXPECT_LE((Y - before - B.transpose() * U).cwiseAbs().maxCoeff(), products_tolerance<S>(70));
}

TYPED_TEST(BlockProducts, MomentumStepSubtractsShiftAndTriangularSolve) {
  using S = TypeParam;
  for (const Index p : {1, 5, 16, 70}) {
    const Index d = 1100;
    const Block<S> X = random_block<S>(d, p, 10), X_prev = random_block<S>(d, p, 11), Y = random_block<S>(d, p, 12);
    Small<S> R = random_block<S>(p, p, 13).template triangularView<Eigen::Upper>();
    R.diagonal().array() = R.diagonal().array().abs() + S(4 * p);
    Block<S> got = Y;

    subtract_momentum<S>(S(0.25), X, S(3), X_prev, R, got);

    const Small<S> solved =
        R.transpose().template triangularView<Eigen::Lower>().solve(Small<S>(X_prev.transpose())).transpose();
    EXPECT_LE((got - (Y - S(0.25) * X - S(3) * solved)).cwiseAbs().maxCoeff(), products_tolerance<S>(16 * p))
        << "p = " << p;
  }
}

TYPED_TEST(BlockProducts, MomentumStepLeavesThePreviousBlockAlone) {
  using S = TypeParam;
  const Block<S> X = random_block<S>(300, 6, 16), before = random_block<S>(300, 6, 17);
  Block<S> X_prev = before, Y = X;

  subtract_momentum<S>(S(0.25), X, S(3), X_prev, Small<S>(Small<S>::Identity(6, 6) * S(2)), Y);

  EXPECT_EQ(X_prev, before);
  EXPECT_LE((Y - (S(0.75) * X - S(1.5) * before)).cwiseAbs().maxCoeff(), products_tolerance<S>(4));
}

TYPED_TEST(BlockProducts, GramOfOneBlockIsSymmetricWithTheBitsOfTheGeneralOne) {
  using S = TypeParam;
  for (const Index p : {1, 11, 16, 17, 33, 50}) {
    const Block<S> X = random_block<S>(1500, p, 18);

    const Small<S> G = gram<S>(X);

    EXPECT_EQ(G, Small<S>(G.transpose())) << "p = " << p;
    EXPECT_EQ(G, gram<S>(X, X)) << "p = " << p;
  }
}

TYPED_TEST(BlockProducts, SolveAndGramAreWhatTheTwoStepsGive) {
  using S = TypeParam;
  for (const Index p : {1, 6, 20, 40}) {
    const Block<S> Z = random_block<S>(1500, p, 19);
    Small<S> R = random_block<S>(p, p, 20).template triangularView<Eigen::Upper>();
    R.diagonal().array() = R.diagonal().array().abs() + S(4 * p);
    Block<S> together = Z, apart = Z;

    const Small<S> G = solve_right_and_gram<S>(R, together);
    solve_right<S>(R, apart);

    EXPECT_EQ(together, apart) << "p = " << p;
    EXPECT_EQ(G, gram<S>(apart)) << "p = " << p;
  }
}

TYPED_TEST(BlockProducts, AreTheSameToTheLastBitForAnyNumberOfThreads) {
  using S = TypeParam;
  const Block<S> A = random_block<S>(900, 900, 14);
  const int before = threads();
  for (const Index p : {1, 5, 13, 20}) {
    const Block<S> X = random_block<S>(900, p, 15), tall = random_block<S>(5000, 2 * p, 21);
    const Small<S> R = Small<S>::Identity(2 * p, 2 * p) * S(3);
    Block<S> one(900, p), many(900, p), solved_one = tall, solved_many = tall, Y_one = tall, Y_many = tall;

    set_threads(1);
    multiply<S>(borrow(A), X, one);
    const Small<S> gram_one = gram<S>(A, X), symmetric_one = gram<S>(tall);
    const Small<S> fused_one = solve_right_and_gram<S>(R, solved_one);
    subtract_momentum<S>(S(0.5), tall, S(2), tall, R, Y_one);
    set_threads(5);
    multiply<S>(borrow(A), X, many);
    const Small<S> gram_many = gram<S>(A, X), symmetric_many = gram<S>(tall);
    const Small<S> fused_many = solve_right_and_gram<S>(R, solved_many);
    subtract_momentum<S>(S(0.5), tall, S(2), tall, R, Y_many);
    set_threads(before);

    EXPECT_EQ(one, many) << "p = " << p;
    EXPECT_EQ(gram_one, gram_many) << "p = " << p;
    EXPECT_EQ(symmetric_one, symmetric_many) << "p = " << p;
    EXPECT_EQ(fused_one, fused_many) << "p = " << p;
    EXPECT_EQ(solved_one, solved_many) << "p = " << p;
    EXPECT_EQ(Y_one, Y_many) << "p = " << p;
  }
}

TEST(FrobeniusNorm, KeepsNumbersWhoseSquaresWouldNotFit) {
  const Block<double> huge = Block<double>::Constant(3, 3, 1e300), tiny = Block<double>::Constant(3, 3, 1e-300);

  EXPECT_NEAR(frobenius_norm<double>(huge) / 3e300, 1.0, 1e-14);
  EXPECT_NEAR(frobenius_norm<double>(tiny) / 3e-300, 1.0, 1e-14);
  EXPECT_EQ(frobenius_norm<double>(Block<double>::Zero(4, 2)), 0.0);
}

TEST(SpectralNorm, OfAKnownMatrixIsItsLargestSingularValue) {
  Block<double> X = Block<double>::Zero(5, 2);
  X(1, 0) = 3;
  X(4, 1) = -7;

  EXPECT_NEAR(spectral_norm<double>(X), 7.0, 1e-14);
}

TEST(CanonicalSigns, MakeTheLargestEntryOfEachColumnPositive) {
  Block<double> X(3, 2);
  X << 1, 2, -3, 1, 2, 0;

  canonical_signs<double>(X);

  EXPECT_EQ(X.col(0), Vector<double>(Eigen::Vector3d(-1, 3, -2)));
  EXPECT_EQ(X.col(1), Vector<double>(Eigen::Vector3d(2, 1, 0)));
}

}  // namespace
}  // namespace hearsay

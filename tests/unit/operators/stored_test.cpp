#include "hearsay/operators/stored.hpp"

#include <gtest/gtest.h>
#include <hearsay/dense_eigen.hpp>
#include <hearsay/error.hpp>
#include <hearsay/threads.hpp>

#include <cmath>

#include "support/random_block.hpp"
#include "support/sparse.hpp"

namespace hearsay {
namespace {

using test::random_block;
using test::sparse;

Block<double> symmetric_with_holes(Index d) {
  Block<double> A = random_block(d, d, 1);
  A = (A + Block<double>(A.transpose())).eval();
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < d; ++j)
      if ((i * j + i + j) % 3 != 0) A(i, j) = 0;
  return A;
}

Graph path_of(Index nodes) {
  Graph graph{.nodes = nodes};
  for (std::int32_t i = 0; i + 1 < nodes; ++i) graph.edges.emplace_back(i, i + 1);
  return graph;
}

TEST(DenseSymmetric, RefusesAMatrixThatIsNotSquare) {
  const Block<double> A(3, 4);

  EXPECT_THROW(DenseSymmetric<double>{A}, InvalidArgument);
}

TEST(SparseSymmetric, MultipliesAsItsDenseFormForEveryWidth) {
  const Block<double> dense = symmetric_with_holes(61);
  const CsrMatrix<double> A = sparse(dense);
  for (const Index p : {1, 2, 7, 8, 9, 16, 31, 33, 40}) {
    const Block<double> X = random_block(61, p, 2);
    Block<double> Y(61, p);

    SparseSymmetric<double>(A).apply(X, Y);

    EXPECT_LE((Y - dense * X).cwiseAbs().maxCoeff(), 1e-12) << "p = " << p;
  }
}

TEST(StoredOperators, TakeAStepOfTheRecurrenceInOnePass) {
  const CsrMatrix<double> stored = sparse(symmetric_with_holes(61));
  const SparseSymmetric<double> matrix(stored);
  const NormalisedGraph<double> graph(path_of(61));
  for (const OperatorRef<double> A : {OperatorRef<double>(matrix), OperatorRef<double>(graph)})
    for (const Index p : {1, 3, 8, 20, 70}) {
      const Block<double> X = random_block(61, p, 2), Z = random_block(61, p, 3);
      Block<double> product(61, p), Y(61, p);
      A.apply(X, product);

      ASSERT_TRUE(A.apply_step(X, 0.3, 0.7, Z, Y));

      EXPECT_LE((Y - (product - 0.3 * X - 0.7 * Z)).cwiseAbs().maxCoeff(), 1e-13) << "p = " << p;
    }
}

TEST(StoredOperators, SayWhereTheyHaveNoSuchStep) {
  const Block<double> A = symmetric_with_holes(20), X = random_block(20, 2, 1);
  const DenseSymmetric<double> dense(A);
  Block<double> Y = X;
  EXPECT_FALSE(OperatorRef<double>(dense).apply_step(X, 0.3, 0.7, X, Y));
  EXPECT_EQ(Y, X);
}

TEST(SparseSymmetric, KnowsThatNoEigenvalueExceedsItsLargestRowSum) {
  const Block<double> dense = symmetric_with_holes(40);
  const CsrMatrix<double> A = sparse(dense);
  const SparseSymmetric<double> op(A);

  EXPECT_GE(op.norm_bound(), dense_eigen<double>(op).values.cwiseAbs().maxCoeff());
}

TEST(NormalisedGraph, OfAPathHasTheKnownSpectrum) {
  // The normalised adjacency of a path of n nodes has eigenvalues cos(pi j / (n - 1)).
  const Index n = 12;
  const NormalisedGraph<double> A(path_of(n));

  const Vector<double> values = dense_eigen<double>(A).values;

  for (Index j = 0; j < n; ++j)
    EXPECT_NEAR(values(j), 1 + std::cos(M_PI * static_cast<double>(j) / static_cast<double>(n - 1)), 1e-13);
}

TEST(NormalisedGraph, LeavesALonelyNodeItsRowOfTheIdentity) {
  const NormalisedGraph<double> A(Graph{.nodes = 3, .edges = {{0, 1}}});
  const Block<double> X = random_block(3, 2, 3);
  Block<double> Y(3, 2);

  A.apply(X, Y);

  EXPECT_EQ(Y.row(2), X.row(2));
  EXPECT_LE((Y.row(0) - X.row(0) - X.row(1)).cwiseAbs().maxCoeff(), 1e-15);
}

TEST(NormalisedGraph, UsesWeightsForDegreesAndEntries) {
  const NormalisedGraph<double> A(Graph{.nodes = 3, .edges = {{0, 1}, {1, 2}}, .weights = {4.0, 5.0}});
  Block<double> Y(3, 3);

  A.apply(Block<double>::Identity(3, 3), Y);

  EXPECT_NEAR(Y(0, 1), 4 / std::sqrt(4.0 * 9.0), 1e-15);
  EXPECT_NEAR(Y(1, 2), 5 / std::sqrt(9.0 * 5.0), 1e-15);
  EXPECT_LE((Y - Block<double>(Y.transpose())).cwiseAbs().maxCoeff(), 1e-15);
}

TEST(NormalisedGraph, IsTheSameToTheLastBitForAnyNumberOfThreads) {
  const NormalisedGraph<double> A(path_of(20000));
  const Block<double> X = random_block(20000, 10, 4);
  Block<double> one(20000, 10), many(20000, 10);
  const int before = threads();
  set_threads(1);
  A.apply(X, one);
  set_threads(3);
  A.apply(X, many);
  set_threads(before);

  EXPECT_EQ(one, many);
}

}  // namespace
}  // namespace hearsay

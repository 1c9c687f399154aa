#include "hearsay/operators/gram.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/threads.hpp>

#include "support/random_block.hpp"
#include "support/sparse.hpp"

namespace hearsay {
namespace {

using test::random_block;
using test::sparse;

// Of each row about a third; the first and last, and some columns, are empty.
Block<double> with_holes(Index m, Index n) {
  Block<double> A = random_block(m, n, 1);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j)
      if ((i * j + i + j) % 3 != 0 || i == 0 || i + 1 == m || j % 5 == 4) A(i, j) = 0;
  return A;
}

struct GramShape {
  Index m, n;
};
constexpr GramShape gram_shapes[] = {{61, 23}, {23, 61}, {40, 40}, {1, 7}, {7, 1}};

TEST(Transposed, IsTheTransposeWithAscendingColumns) {
  for (const auto [m, n] : gram_shapes) {
    const Block<double> dense = with_holes(m, n);
    const CsrMatrix<double> stored = sparse(dense), expected = sparse(dense.transpose());

    const CsrMatrix<double> made = transposed<double>(borrow(stored));

    EXPECT_EQ(made.rows, n);
    EXPECT_EQ(made.cols, m);
    EXPECT_EQ(made.row_start, expected.row_start);
    EXPECT_EQ(made.columns, expected.columns);
    EXPECT_EQ(made.values, expected.values);
  }
}

TEST(SparseGram, MultipliesAsItsDenseFormForEveryWidth) {
  for (const auto [m, n] : gram_shapes) {
    const Block<double> dense = with_holes(m, n);
    const CsrMatrix<double> stored = sparse(dense);
    for (const bool by_rows : {false, true}) {
      const SparseGram<double> N(borrow(stored), by_rows);
      EXPECT_EQ(N.dim(), by_rows ? m : n);
      for (const Index p : {1, 2, 7, 8, 9, 16, 33, 70}) {
        const Block<double> X = random_block(n, p, 2), U = random_block(m, p, 3);
        Block<double> forward(m, p), backward(n, p), Y(N.dim(), p);

        N.multiply(X, forward);
        N.multiply_transposed(U, backward);
        N.apply(by_rows ? U : X, Y);

        EXPECT_LE((forward - dense * X).norm(), 1e-12) << m << " x " << n << ", p = " << p;
        EXPECT_LE((backward - dense.transpose() * U).norm(), 1e-12) << m << " x " << n << ", p = " << p;
        const Block<double> expected =
            by_rows ? Block<double>(dense * (dense.transpose() * U)) : Block<double>(dense.transpose() * (dense * X));
        EXPECT_LE((Y - expected).norm(), 1e-11) << m << " x " << n << ", p = " << p;
      }
    }
  }
}

TEST(SparseGram, GivesTheSameBitsOnAnyNumberOfThreads) {
  const CsrMatrix<double> stored = sparse(with_holes(700, 900));
  const SparseGram<double> N(borrow(stored), true);
  const Block<double> X = random_block(700, 16, 2);
  Block<double> one(700, 16), three(700, 16);
  const int before = threads();

  set_threads(1);
  N.apply(X, one);
  set_threads(3);
  N.apply(X, three);
  set_threads(before);

  EXPECT_EQ(one, three);
}

TEST(SparseGram, KnowsItselfAndItsLongestSum) {
  const CsrMatrix<double> stored = sparse(Block<double>::Ones(9, 4));
  const SparseGram<double> N(borrow(stored), false);

  const OperatorFacts facts = N.facts();

  EXPECT_TRUE(facts.positive_semidefinite && facts.exact);
  EXPECT_EQ(facts.multiply_adds, 2 * 36);
  EXPECT_EQ(N.longest_sum(), 9);
  EXPECT_THROW(SparseGram<double>(CsrView<double>{}, false), InvalidArgument);
}

}  // namespace
}  // namespace hearsay

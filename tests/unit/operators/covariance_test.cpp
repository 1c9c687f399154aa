// The covariance operators against a covariance formed naively in long double.
#include "hearsay/operators/covariance.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/threads.hpp>

#include <cmath>

#include "support/random_block.hpp"
#include "support/rows.hpp"
#include "support/sparse.hpp"

namespace hearsay {
namespace {

using test::random_block;
using test::sparse;
using test::VectorOfRows;
using Wide = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

Block<double> naive_covariance(const Block<double>& data, bool center) {
  Wide wide = data.cast<long double>();
  if (center) wide.rowwise() -= wide.colwise().mean().eval();
  const long double divisor = static_cast<long double>(center ? std::max<Index>(1, data.rows() - 1) : data.rows());
  return (wide.transpose() * wide / divisor).cast<double>();
}

TEST(DenseCovariance, MultipliesAsTheNaiveCovarianceCentredOrNot) {
  for (const bool center : {true, false})
    for (const Index m : {1, 2, 9, 300, 700}) {
      const Block<double> data = random_block(m, 37, 1).array() + 3.0, X = random_block(37, 5, 2);
      const DenseCovariance<double> A(data, {.center = center, .gram_bytes_limit = 0});
      Block<double> Y(37, 5);

      A.apply(X, Y);

      EXPECT_FALSE(A.formed());
      EXPECT_LE((Y - naive_covariance(data, center) * X).cwiseAbs().maxCoeff(), 1e-11) << "m = " << m;
    }
}

TEST(DenseCovariance, FormedMatrixGivesTheSameProducts) {
  for (const bool by_samples : {false, true})
    for (const Index d : {1, 5, 64, 65, 200}) {
      const Block<double> data = random_block(150, d, 3).array() - 1.0;
      const CovarianceOptions lazy{.by_samples = by_samples, .gram_bytes_limit = 0};
      const CovarianceOptions eager{.by_samples = by_samples, .gram_bytes_limit = 1 << 30};
      const DenseCovariance<double> streaming(data, lazy), formed(data, eager);
      const Index n = streaming.dim();
      const Block<double> X = random_block(n, 20, 4);
      Block<double> Y(n, 20), Z(n, 20);

      streaming.apply(X, Y);
      formed.apply(X, Z);

      EXPECT_TRUE(formed.formed());
      EXPECT_LE((Y - Z).cwiseAbs().maxCoeff(), 1e-11 * (1 + Y.cwiseAbs().maxCoeff())) << "d = " << d;
    }
}

TEST(DenseCovariance, SurvivesALargeOffset) {
  const Block<double> small = random_block(500, 8, 5);
  const Block<double> data = small.array() + 1e8;
  const Block<double> X = random_block(8, 3, 6);
  Block<double> Y(8, 3);

  DenseCovariance<double>(data, {.gram_bytes_limit = 0}).apply(X, Y);

  // Adding 1e8 itself rounds each entry by up to 7.5e-9; the operator must lose no more than that.
  EXPECT_LE((Y - naive_covariance(data, true) * X).cwiseAbs().maxCoeff(), 1e-7);
}

TEST(DenseCovariance, OfValuesWhoseSquaresOverflowIsKeptInScale) {
  for (const double magnitude : {1e300, 1e-300}) {
    const Block<double> unit = random_block(40, 6, 7), data = unit * magnitude, X = random_block(6, 2, 8);
    const DenseCovariance<double> A(data, {.gram_bytes_limit = 0});
    Block<double> Y(6, 2);

    A.apply(X, Y);

    // Y 2^exponent = magnitude^2 Cov(unit) X, compared in logarithmic pieces.
    const Block<double> expected = naive_covariance(unit, true) * X;
    const double factor = std::ldexp(magnitude, -A.data_exponent());
    EXPECT_LE((Y - factor * factor * expected).cwiseAbs().maxCoeff(), 1e-12 * factor * factor);
  }
}

TEST(DenseCovariance, IsTheSameToTheLastBitForAnyNumberOfThreads) {
  const Block<double> data = random_block(5000, 60, 9), X = random_block(60, 9, 10);
  const int before = threads();
  for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{1} << 30}) {
    Block<double> one(60, 9), many(60, 9);
    set_threads(1);
    const DenseCovariance<double> A(data, {.gram_bytes_limit = limit});
    A.apply(X, one);
    set_threads(3);
    const DenseCovariance<double> B(data, {.gram_bytes_limit = limit});
    B.apply(X, many);
    EXPECT_EQ(one, many);
    EXPECT_EQ(A.mean(), B.mean());
  }
  set_threads(before);
}

TEST(DenseCovariance, TotalVarianceIsTheTrace) {
  const Block<double> data = random_block(90, 12, 11).array() + 5;

  EXPECT_NEAR(DenseCovariance<double>(data).total_variance(), naive_covariance(data, true).trace(), 1e-11);
}

TEST(SparseCovariance, MultipliesAsTheNaiveCovarianceWithoutDensifying) {
  Block<double> data = random_block(120, 15, 12);
  for (Index i = 0; i < data.rows(); ++i)
    for (Index j = 0; j < data.cols(); ++j)
      if ((7 * i + 3 * j) % 5 != 0 && j != 4) data(i, j) = 0;
  data.col(4).array() += 1e7;  // a full column far from zero
  const CsrMatrix<double> csr = sparse(data);
  const Block<double> X = random_block(15, 4, 13);
  for (const bool center : {true, false}) {
    const SparseCovariance<double> A(csr, center);
    Block<double> Y(15, 4);

    A.apply(X, Y);

    const Block<double> expected = naive_covariance(data, center) * X;
    EXPECT_LE((Y - expected).cwiseAbs().maxCoeff(), (center ? 1e-7 : 1.0) + 1e-12 * expected.cwiseAbs().maxCoeff());
  }
}

// About so many of each row's 40 entries; column 4 is full, and far from zero.
CsrMatrix<double> scattered(Index rows, Index every, Block<double>& data) {
  data = random_block(rows, 40, 21);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < 40; ++j)
      if ((7 * i + 3 * j + i * i) % every != 0 && j != 4) data(i, j) = 0;
  data.col(4).array() += 1e5;
  return sparse(data);
}

TEST(SparseCovariance, IsFormedFromShortRowsAndStaysTheSameMatrix) {
  Block<double> data;
  const CsrMatrix<double> csr = scattered(3000, 5, data);
  std::vector<double> weights(3000);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i % 3);
  const Block<double> X = random_block(40, 4, 22);
  for (const bool center : {true, false})
    for (const bool standardize : {false, true})
      for (const bool weighted : {false, true}) {
        CovarianceOptions options{.center = center, .standardize = standardize};
        if (weighted) options.weights = weights;
        const SparseCovariance<double> formed(borrow(csr), options);
        options.gram_bytes_limit = 0;
        const SparseCovariance<double> implicit(borrow(csr), options);
        Block<double> Y(40, 4), Z(40, 4);

        formed.apply(X, Y);
        implicit.apply(X, Z);

        EXPECT_TRUE(formed.formed());
        EXPECT_FALSE(implicit.formed());
        EXPECT_LE((Y - Z).norm(), 1e-12 * Z.norm()) << center << standardize << weighted;
        EXPECT_NEAR(formed.total_variance(), implicit.total_variance(), 1e-12 * implicit.total_variance());
      }
}

TEST(SparseCovariance, IsNotFormedFromLongRowsForAProductOrTwo) {
  Block<double> data;
  const CsrMatrix<double> csr = scattered(200, 1, data);  // stored in full
  const SparseCovariance<double> A(borrow(csr), {.form_at_once = false});
  const Block<double> x = random_block(40, 1, 23);
  Block<double> y(40, 1);
  A.apply(x, y);
  EXPECT_FALSE(A.formed());
  for (int product = 0; product < 60; ++product) A.apply(x, y);
  EXPECT_TRUE(A.formed());
  EXPECT_LE((y - naive_covariance(data, true) * x).norm(), 1e-10 * y.norm());
}

TEST(SparseCovariance, FormsTheSameBitsWhateverTheThreads) {
  Block<double> data;
  const CsrMatrix<double> csr = scattered(20'000, 3, data);  // more than one chunk of entries
  const Block<double> X = random_block(40, 3, 24);
  const int before = threads();
  std::vector<Block<double>> made;
  for (const int count : {1, 2, 5}) {
    set_threads(count);
    const SparseCovariance<double> A(csr);
    A.apply(X, made.emplace_back(40, 3));
    EXPECT_TRUE(A.formed());
  }
  set_threads(before);
  EXPECT_EQ(made[0], made[1]);
  EXPECT_EQ(made[0], made[2]);
}

TEST(SparseCovariance, GoesOnFromItsPosition) {
  Block<double> data;
  const CsrMatrix<double> csr = scattered(3000, 5, data);
  const Block<double> X = random_block(40, 3, 25);
  Block<double> Y(40, 3), Z(40, 3);
  const SparseCovariance<double> A(csr), B(csr);
  A.apply(X, Y);
  B.seek(A.position());
  EXPECT_TRUE(B.formed());
  A.apply(X, Y);
  B.apply(X, Z);
  EXPECT_EQ(Y, Z);
}

// A column of 1e6 and one zero: its variance is a millionth of what its outer products add up to.
TEST(SparseCovariance, IsNotFormedWhereCentringWouldCancel) {
  constexpr Index rows = 4'000'000;
  CsrMatrix<double> csr{.rows = rows, .cols = 2};
  for (Index i = 0; i < rows; ++i) {
    if (i != 7) csr.columns.push_back(0), csr.values.push_back(1e6);
    if (i % 1000 == 0) csr.columns.push_back(1), csr.values.push_back(1 + static_cast<double>(i % 7));
    csr.row_start.push_back(csr.nonzeros());
  }
  const SparseCovariance<double> A(csr);
  Block<double> X = random_block(2, 2, 26), Y(2, 2);
  A.apply(X, Y);
  EXPECT_FALSE(A.formed());
}

TEST(StreamedCovariance, EqualsTheCovarianceInMemoryWithOnePassPerProduct) {
  const Block<double> data = random_block(1000, 20, 14).array() + 1e6, X = random_block(20, 3, 15);
  for (const Index rows_at_once : {1, 7, 256, 5000}) {
    VectorOfRows source(data);
    const StreamedCovariance<double> A(source, true, {.rows_at_once = rows_at_once});
    Block<double> Y(20, 3);

    A.apply(X, Y);
    A.apply(X, Y);

    EXPECT_EQ(source.passes, 2);
    EXPECT_EQ(A.samples(), 1000);
    EXPECT_LE((Y - naive_covariance(data, true) * X).cwiseAbs().maxCoeff(), 1e-8);
  }
}

TEST(StreamedCovariance, RefusesAStreamWithoutRows) {
  VectorOfRows source(Block<double>(0, 4));
  const StreamedCovariance<double> A(source);
  Block<double> Y(4, 1);

  EXPECT_THROW(A.apply(Block<double>::Ones(4, 1), Y), DataError);
}

}  // namespace
}  // namespace hearsay

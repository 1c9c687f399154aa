// Sparse rows that pass by, beside the same rows with their zeros.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/operators/covariance.hpp>
#include <hearsay/threads.hpp>

#include "operators/covariance_direct.hpp"
#include "operators/rows_in_memory.hpp"
#include "operators/stream_pass.hpp"
#include "support/random_block.hpp"

namespace hearsay::detail {
namespace {

using test::random_block;

CsrMatrix<double> sparse_of(const Block<double>& rows) {
  CsrMatrix<double> A{.rows = rows.rows(), .cols = rows.cols()};
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rows.cols(); ++j)
      if (rows(i, j) != 0) {
        A.columns.push_back(static_cast<std::int32_t>(j));
        A.values.push_back(rows(i, j));
      }
    A.row_start.push_back(static_cast<std::int64_t>(A.columns.size()));
  }
  return A;
}

class PassingCsr final : public SparseRowSource {
 public:
  explicit PassingCsr(CsrMatrix<double> A) : A_(std::move(A)) {}
  Index cols() const override { return A_.cols; }
  std::optional<Index> rows() const override { return A_.rows; }
  std::int64_t entries() const override { return A_.nonzeros(); }
  void rewind() override { next_ = 0; }
  Index read_sparse(Index count, CsrMatrix<double>& out) override {
    const Index some = std::min(count, A_.rows - next_);
    const auto begin = A_.row_start[static_cast<std::size_t>(next_)],
               end = A_.row_start[static_cast<std::size_t>(next_ + some)];
    out = {.rows = some, .cols = A_.cols};
    for (Index i = 1; i <= some; ++i)
      out.row_start.push_back(A_.row_start[static_cast<std::size_t>(next_ + i)] - begin);
    out.columns.assign(A_.columns.begin() + begin, A_.columns.begin() + end);
    out.values.assign(A_.values.begin() + begin, A_.values.begin() + end);
    next_ += some;
    return some;
  }

 private:
  const CsrMatrix<double> A_;
  Index next_ = 0;
};

// A tenth of the entries; a column that is full and far from zero, one half full, one empty.
Block<double> rows_with_zeros(Index rows, Index columns, std::uint64_t seed) {
  Block<double> data = random_block(rows, columns, seed).array() + 0.5;
  const Block<double> chance = random_block(rows, columns, seed + 1);
  data = (chance.array() > 1.28).select(data, 0.0);
  data.col(0) = random_block(rows, 1, seed + 2).array() + 1e6;
  for (Index i = 0; i < rows; ++i) data(i, 1) = i % 2 == 0 ? 5.0 : 0.0;
  data.col(2).setZero();
  return data;
}

Block<double> covariance_of_rows(const Block<double>& data, bool center) {
  const Block<double> centred = center ? Block<double>(data.rowwise() - data.colwise().mean()) : data;
  return centred.transpose() * centred / static_cast<double>(data.rows() - (center ? 1 : 0));
}

TEST(SparseRowsThatPass, HaveTheCovarianceOfTheDenseOnes) {
  for (const Index rows : {2, 255, 3000, 40000})
    for (const bool center : {true, false}) {
      const Block<double> data = rows_with_zeros(rows, 17, 3);
      PassingCsr source(sparse_of(data));
      const FormedCovariance formed = form_covariance(source, center, {});
      EXPECT_EQ(formed.samples, rows);
      const Block<double> expected = covariance_of_rows(data, center);
      const double scale = center ? 1e-9 * expected.norm() : 1e-12 * expected.norm();
      EXPECT_LE((formed.matrix - expected).norm(), scale + formed.rounding) << rows << center;
      EXPECT_LE(formed.rounding, 1e-9 * expected.norm()) << "the offset is shifted away";
      if (center) {
        EXPECT_LE((formed.mean.transpose() - data.colwise().mean()).norm(), 1e-8);
      }
    }
}

TEST(SparseRowsThatPass, HaveTheSameBitsForAnyChunksAndThreads) {
  const Block<double> data = rows_with_zeros(35001, 12, 5);
  const Block<double> X = random_block(12, 3, 6);
  const int before = threads();
  std::optional<Block<double>> matrix, product;
  for (const int count : {1, 3})
    for (const Index at_once : {0, 1, 700, 100000}) {
      set_threads(count);
      PassingCsr source(sparse_of(data));
      const FormedCovariance formed = form_covariance(source, true, {.rows_at_once = at_once});
      if (!matrix) matrix = formed.matrix;
      EXPECT_EQ(formed.matrix, *matrix) << at_once;
      const StreamedCovariance<double> A(
          source, true, std::make_unique<WholePass<double>>(product_lanes(source, true, {.rows_at_once = at_once})));
      Block<double> Y(12, 3);
      A.apply(X, Y);
      A.apply(X, Y);
      if (!product) product = Y;
      EXPECT_EQ(Y, *product) << at_once;
    }
  set_threads(before);
}

TEST(SparseRowsThatPass, MultiplyAsTheDenseOnesDo) {
  const Block<double> data = rows_with_zeros(2000, 30, 9), X = random_block(30, 5, 10);
  for (const bool center : {true, false}) {
    PassingCsr source(sparse_of(data));
    const StreamedCovariance<double> A(source, center,
                                       std::make_unique<WholePass<double>>(product_lanes(source, center, {})));
    const Block<double> expected = covariance_of_rows(data, center) * X;
    Block<double> Y(30, 5);
    for (int pass = 0; pass < 3; ++pass) {
      A.apply(X, Y);
      EXPECT_LE((Y - expected).norm(), (center ? 1e-9 : 1e-12) * expected.norm()) << pass;
    }
    EXPECT_NEAR(A.total_variance(), covariance_of_rows(data, center).trace(),
                1e-9 * covariance_of_rows(data, center).trace());
  }
}

TEST(SparseRowsThatPass, ComeWithTheirZerosToWhoeverAsks) {
  const Block<double> data = rows_with_zeros(1500, 7, 11);
  PassingCsr source(sparse_of(data));
  Block<double> out(1600, 7);
  EXPECT_EQ(source.read(out), 1500);
  EXPECT_EQ(out.topRows(1500), data);
}

}  // namespace
}  // namespace hearsay::detail

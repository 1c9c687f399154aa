#include "operators/read_ahead.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/operators/covariance.hpp>
#include <hearsay/threads.hpp>

#include "operators/covariance_direct.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"
#include "support/rows.hpp"

namespace hearsay::detail {
namespace {

using test::random_block;
using test::VectorOfRows;

// Rows that end in an error.
class FailingRows final : public RowSource<double> {
 public:
  FailingRows(Block<double> rows, Index good, int good_passes = 0)
      : rows_(std::move(rows)), good_(good), good_passes_(good_passes) {}
  Index cols() const override { return rows_.cols(); }
  void rewind() override { next_ = 0, ++passes_; }
  Index read(BlockView<double> out) override {
    const bool fails = passes_ > good_passes_;
    if (fails && next_ >= good_) throw DataError("file.npy: row 41 is torn");
    const Index count = std::min(out.rows(), (fails ? good_ : rows_.rows()) - next_);
    out.topRows(count) = rows_.middleRows(next_, count);
    next_ += count;
    if (fails && count < out.rows()) throw DataError("file.npy: row 41 is torn");
    return count;
  }

 private:
  Block<double> rows_;
  Index good_, next_ = 0;
  int good_passes_, passes_ = 0;
};

Block<double> all_of(ReadAhead<double>& reader, Index cols) {
  Block<double> all(0, cols);
  for (;;) {
    const BorrowedBlock<double> rows = reader.next();
    if (rows.rows() == 0) return all;
    const Index before = all.rows();
    all.conservativeResize(before + rows.rows(), Eigen::NoChange);
    all.bottomRows(rows.rows()) = rows;
  }
}

TEST(ReadAhead, HandsOverEveryRowOnceInOrderInEveryPass) {
  const Block<double> rows = random_block(103, 3, 1);
  for (const Index at_once : {1, 2, 50, 103, 104, 1000}) {
    VectorOfRows source(rows);
    ReadAhead<double> reader(source, at_once);
    for (int pass = 0; pass < 3; ++pass) {
      reader.rewind();
      EXPECT_EQ(all_of(reader, 3), rows) << at_once;
      EXPECT_EQ(reader.next().rows(), 0);
    }
  }
}

TEST(ReadAhead, MayBeLeftInTheMiddleOfAPass) {
  VectorOfRows source(random_block(500, 2, 2));
  ReadAhead<double> reader(source, 7);
  for (int pass = 0; pass < 20; ++pass) {
    reader.rewind();
    EXPECT_EQ(reader.next().rows(), 7);
  }
  reader.rewind();
  EXPECT_EQ(all_of(reader, 2).rows(), 500);
}

TEST(ReadAhead, TellsOfAnErrorAfterTheRowsBeforeIt) {
  FailingRows source(random_block(100, 2, 3), 40);
  ReadAhead<double> reader(source, 10);
  reader.rewind();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(reader.next().rows(), 10);

  test::expect_error<DataError>([&] { reader.next(); }, {"file.npy: row 41"});
}

TEST(ReadAhead, HandsOnRowsInMemoryWhereTheyLie) {
  const Block<double> rows = random_block(10, 2, 4);
  RowsInMemory<double> source(borrow(rows));
  ReadAhead<double> reader(source, 4);
  reader.rewind();

  EXPECT_EQ(reader.next().data(), rows.data());
  EXPECT_EQ(reader.next().data(), rows.data() + 8);
  EXPECT_EQ(reader.next().rows(), 2);
  EXPECT_EQ(reader.next().rows(), 0);
}

class Threads {
 public:
  explicit Threads(int count) { set_threads(count); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() { set_threads(before_); }

 private:
  int before_ = threads();
};

Block<double> product_of(RowSource<double>& source, Index at_once, Index columns) {
  const StreamedCovariance<double> A(source, true, {.rows_at_once = at_once});
  const Block<double> X = random_block(source.cols(), columns, 5);
  Block<double> Y(source.cols(), columns);
  A.apply(X, Y);
  Block<double> Z(source.cols(), columns);
  A.apply(Y, Z);
  return Z;
}

TEST(StreamedCovariance, HasTheSameBitsForAnyChunksAndThreads) {
  VectorOfRows source(random_block(5003, 13, 6));
  std::optional<Block<double>> first;
  for (const int threads : {1, 2, 3})
    for (const Index at_once : {0, 1, 129, 700, 9999}) {
      const Threads these(threads);
      const Block<double> Y = product_of(source, at_once, 5);
      if (!first) first = Y;
      EXPECT_EQ(Y, *first) << threads << " threads, " << at_once << " rows at once";
    }
}

TEST(FormedCovariance, HasTheSameBitsForAnyChunksAndThreads) {
  VectorOfRows source(random_block(5003, 37, 7));
  std::optional<FormedCovariance> first;
  for (const int threads : {1, 2, 3})
    for (const Index at_once : {0, 1, 257, 700, 9999}) {
      const Threads these(threads);
      source.passes = 0;
      const FormedCovariance formed = form_covariance<double>(source, true, {.rows_at_once = at_once});
      if (!first) first = formed;
      EXPECT_EQ(source.passes, 1);
      EXPECT_EQ(formed.matrix, first->matrix);
      EXPECT_EQ(formed.mean, first->mean);
    }
}

Block<double> covariance_from_scratch(const Block<double>& rows) {
  const Block<double> centred = rows.rowwise() - rows.colwise().mean();
  return centred.transpose() * centred / static_cast<double>(rows.rows() - 1);
}

TEST(FormedCovariance, IsTheCovarianceWithinWhatItSaysOfRounding) {
  const Block<double> rows = random_block(3000, 20, 8).array() + 1e6;
  VectorOfRows source(rows);

  const FormedCovariance formed = form_covariance<double>(source, true, {});

  EXPECT_EQ(formed.samples, 3000);
  EXPECT_LE((formed.matrix - covariance_from_scratch(rows)).norm(), formed.rounding + 1e-9);
  EXPECT_LE((formed.mean - rows.colwise().mean().transpose()).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_LE(formed.rounding, 1e-11);
}

// Columns whose first rows say little of the others, and one that is constant.
TEST(FormedCovariance, SaysWhatIsLostWhereTheMeanLiesFarFromTheFirstRows) {
  Block<double> rows = random_block(40000, 6, 9);
  rows.bottomRows(39936).col(2).array() += 1e9;
  rows.topRows(64).col(2).setZero();
  rows.col(5).array() = 7;
  VectorOfRows source(rows);

  const FormedCovariance formed = form_covariance<double>(source, true, {});

  EXPECT_EQ(source.passes, 1);
  EXPECT_LE((formed.matrix - covariance_from_scratch(rows)).norm(), formed.rounding);
  EXPECT_LE(formed.rounding, 1e-8 * formed.matrix.norm());
  EXPECT_EQ(formed.matrix.col(5).norm(), 0);
}

TEST(FormedCovariance, RefusesRowsThatHaveNoSquares) {
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), 1e200, 1e-200}) {
    VectorOfRows source(Block<double>(random_block(300, 3, 10) * value));
    test::expect_error<DataError>([&] { form_covariance<double>(source, true, {}); }, {"stream:", "scale them"});
  }
  VectorOfRows none(Block<double>(0, 3));
  test::expect_error<DataError>([&] { form_covariance<double>(none, true, {}); }, {"stream: has no rows"});
}

TEST(FormedCovariance, HandsOnWhatTheSourceSays) {
  FailingRows source(random_block(100, 2, 3), 40);
  test::expect_error<DataError>([&] { form_covariance<double>(source, true, {}); }, {"file.npy: row 41"});
}

}  // namespace
}  // namespace hearsay::detail

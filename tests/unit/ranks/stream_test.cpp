// Rows that ranks read together.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/memory.hpp>
#include <hearsay/solve_stream_on_ranks.hpp>

#include <cmath>

#include "on_ranks.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"
#include "support/rows.hpp"

namespace hearsay {
namespace {

using test::on_ranks;
using test::random_block;
using test::VectorOfRows;

Block<double> decaying_rows(Index rows, Index columns) {
  Block<double> data = random_block(rows, columns, 7);
  for (Index j = 0; j < columns; ++j) data.col(j) *= std::pow(0.97, static_cast<double>(j));
  data.rowwise() += Eigen::RowVectorXd::LinSpaced(columns, -3, 40);
  return data;
}

// The same rows, most entries of which are zero, without these.
class SparseRowsInMemory final : public SparseRowSource {
 public:
  explicit SparseRowsInMemory(Block<double> rows) : rows_(std::move(rows)) {}
  Index cols() const override { return rows_.cols(); }
  std::optional<Index> rows() const override { return rows_.rows(); }
  std::int64_t entries() const override { return (rows_.array() != 0).count(); }
  void rewind() override { next_ = 0; }
  Index read_sparse(Index count, CsrMatrix<double>& out) override {
    const Index some = std::min(count, rows_.rows() - next_);
    out = {.rows = some, .cols = rows_.cols()};
    for (Index i = next_; i < next_ + some; ++i) {
      for (Index j = 0; j < rows_.cols(); ++j)
        if (rows_(i, j) != 0) {
          out.columns.push_back(static_cast<std::int32_t>(j));
          out.values.push_back(rows_(i, j));
        }
      out.row_start.push_back(static_cast<std::int64_t>(out.columns.size()));
    }
    next_ += some;
    return some;
  }

 private:
  Block<double> rows_;
  Index next_ = 0;
};

Block<double> few_entries(Index rows, Index columns) {
  Block<double> data = decaying_rows(rows, columns);
  const Block<double> chance = random_block(rows, columns, 8);
  data = (chance.array() > 0.8).select(data, 0.0);
  data.col(1) = random_block(rows, 1, 9).array() + 1000;  // one that is there in every row
  return data;
}

Request request_for(Index rank) {
  Request request;
  request.settings.power.rank = rank;
  return request;
}

StreamSettings settings_with(std::uint64_t more_memory) {
  StreamSettings settings;
  if (more_memory > 0) settings.memory = memory_in_use() + more_memory;
  return settings;
}

// Alone and by ranks; whose status, eigenvalues and basis must be the same, to the last bit.
template <class Source>
void expect_same_bits(const Block<double>& data, const StreamSettings& settings, StreamWay way) {
  Source alone(data);
  const StreamSolution expected = solve_stream(alone, request_for(3), settings);
  ASSERT_EQ(expected.plan.way, way);
  on_ranks([&](Transport& ranks) {
    Source rows(data);
    const std::optional<StreamSolution> found = solve_stream_on_ranks(ranks, rows, request_for(3), settings);
    ASSERT_EQ(found.has_value(), ranks.rank() == 0);
    if (!found) return;
    EXPECT_EQ(found->pca.power.status, expected.pca.power.status);
    EXPECT_EQ(found->pca.power.basis, expected.pca.power.basis) << ranks.size() << " ranks";
    EXPECT_EQ(found->pca.power.eigenvalues, expected.pca.power.eigenvalues);
    EXPECT_EQ(found->pca.mean, expected.pca.mean);
    EXPECT_EQ(found->pca.samples, expected.pca.samples);
    EXPECT_EQ(found->pca.power.passes, expected.pca.power.passes);
  });
}

constexpr std::uint64_t too_little_for_the_covariance = 60'000'000;

TEST(StreamOnRanks, FormsTheSameCovarianceAsOneProcess) {
  expect_same_bits<VectorOfRows>(decaying_rows(5003, 30), {}, StreamWay::covariance);
}

TEST(StreamOnRanks, HasRowsForFewerRanksThanThereAre) {
  expect_same_bits<VectorOfRows>(decaying_rows(100, 30), {}, StreamWay::covariance);
}

TEST(StreamOnRanks, LeavesZerosOut) {
  expect_same_bits<SparseRowsInMemory>(few_entries(1500, 40), {}, StreamWay::covariance);
}

// Of which one rank meets an error, from a certain pass on.
class TornRows final : public RowSource<double> {
 public:
  TornRows(Block<double> rows, int good_passes) : rows_(std::move(rows)), good_passes_(good_passes) {}
  Index cols() const override { return rows_.cols(); }
  std::optional<Index> rows() const override { return rows_.rows(); }
  void rewind() override { next_ = 0, ++passes_; }
  Index read(BlockView<double> out) override {
    const Index count = std::min(out.rows(), rows_.rows() - next_);
    if (passes_ > good_passes_ && next_ <= 45 && next_ + count > 45) throw DataError("rows.npy: row 46 is torn");
    out.topRows(count) = rows_.middleRows(next_, count);
    next_ += count;
    return count;
  }
  Index skip(Index count) override {
    const Index some = std::min(count, rows_.rows() - next_);
    next_ += some;
    return some;
  }

 private:
  const Block<double> rows_;
  const int good_passes_;
  int passes_ = 0;
  Index next_ = 0;
};

TEST(StreamOnRanks, AnErrorInTheFirstReadingIsThrownByAll) {
  const Block<double> data = decaying_rows(500, 2000);
  on_ranks([&](Transport& ranks) {
    TornRows rows(data, 0);
    StreamSettings settings = settings_with(too_little_for_the_covariance);
    settings.rows_at_once = 16;
    test::expect_error<DataError>([&] { (void)solve_stream_on_ranks(ranks, rows, request_for(3), settings); },
                                  {"rows.npy: row 46 is torn"});
  });
}

TEST(StreamOnRanks, AnErrorInALaterReadingLeavesTheBestBasis) {
  const Block<double> data = decaying_rows(500, 2000);
  on_ranks([&](Transport& ranks) {
    TornRows rows(data, 4);
    StreamSettings settings = settings_with(too_little_for_the_covariance);
    settings.rows_at_once = 16;
    const std::optional<StreamSolution> found = solve_stream_on_ranks(ranks, rows, request_for(3), settings);
    if (!found) return;
    EXPECT_EQ(found->pca.power.status, Status::breakdown);
    ASSERT_FALSE(found->pca.power.notes.empty());
    EXPECT_NE(found->pca.power.notes.front().find("rows.npy: row 46 is torn"), std::string::npos);
    EXPECT_LT(found->pca.power.residual, 1);
  });
}

TEST(StreamOnRanks, WhoeverWatchesCanEndIt) {
  const Block<double> data = decaying_rows(500, 2000);
  on_ranks([&](Transport& ranks) {
    VectorOfRows rows(data);
    StreamSettings settings = settings_with(too_little_for_the_covariance);
    settings.observe_reading = [](const Reading& now, const StreamPlan&) { return now.pass < 3; };
    const std::optional<StreamSolution> found = solve_stream_on_ranks(ranks, rows, request_for(3), settings);
    if (found) {
      EXPECT_EQ(found->pca.power.status, Status::stopped_by_observer);
    }
  });
}

TEST(StreamOnRanks, RanksWithOtherRowsAreNamed) {
  on_ranks([](Transport& ranks) {
    if (ranks.size() == 1) return;
    SparseRowsInMemory rows(few_entries(ranks.rank() == 1 ? 90 : 100, 5));
    test::expect_error<InvalidArgument>([&] { (void)solve_stream_on_ranks(ranks, rows, request_for(2)); },
                                        {"rank 1", "the number of rows is 90 there, and 100 on rank 0"});
  });
}

TEST(StreamOnRanks, WhatOneProcessMustReadIsRefused) {
  on_ranks([](Transport& ranks) {
    if (ranks.size() == 1) return;
    VectorOfRows rows(decaying_rows(50, 5));
    StreamSettings settings;
    settings.standardize = true;
    test::expect_error<InvalidArgument>([&] { (void)solve_stream_on_ranks(ranks, rows, request_for(2), settings); },
                                        {"standardized"});
  });
}

}  // namespace
}  // namespace hearsay

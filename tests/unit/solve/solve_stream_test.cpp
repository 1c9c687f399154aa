#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/memory.hpp>
#include <hearsay/solve_stream.hpp>
#include <hearsay/threads.hpp>

#include "support/expect_error.hpp"
#include "support/random_block.hpp"
#include "support/rows.hpp"

namespace hearsay {
namespace {

using test::random_block;
using test::VectorOfRows;

// Rows whose columns have the variances 1, 1/2, 1/3 ...
Block<double> harmonic_rows(Index rows, Index columns, std::uint64_t seed) {
  Block<double> data = random_block(rows, columns, seed);
  for (Index j = 0; j < columns; ++j) data.col(j) *= 1 / std::sqrt(1.0 + static_cast<double>(j));
  data.rowwise() += Eigen::RowVectorXd::LinSpaced(columns, -3, 40);
  return data;
}

Request request_for(Index rank, std::optional<double> accuracy = {}) {
  Request request;
  request.settings.power.rank = rank;
  request.settings.power.accuracy = accuracy;
  return request;
}

// Too little for a covariance of 2,000 columns, enough for products.
StreamSettings small_memory() {
  StreamSettings settings;
  settings.memory = memory_in_use() + 60'000'000;
  return settings;
}

double residual_from_scratch(const Block<double>& data, const PowerResult<double>& power) {
  const Block<double> centred = data.rowwise() - data.colwise().mean();
  const Block<double> AV = centred.transpose() * (centred * power.basis) / static_cast<double>(data.rows() - 1);
  return (AV - power.basis * (power.basis.transpose() * AV)).norm() / AV.norm();
}

TEST(SolveStream, FormsTheCovarianceInOneReading) {
  const Block<double> data = harmonic_rows(3000, 40, 1);
  VectorOfRows rows(data);

  const StreamSolution found = solve_stream(rows, request_for(5));

  EXPECT_EQ(found.plan.way, StreamWay::covariance);
  EXPECT_TRUE(found.plan.certain);
  EXPECT_EQ(found.plan.passes, 1);
  EXPECT_EQ(rows.passes, 1);
  EXPECT_EQ(found.pca.power.passes, 1);
  EXPECT_EQ(found.pca.power.status, Status::converged);
  EXPECT_EQ(found.pca.samples, 3000);
  EXPECT_LE(residual_from_scratch(data, found.pca.power), 1e-10);
  const auto in_memory = solve_pca<double>(data, request_for(5));
  EXPECT_LE((found.pca.power.eigenvalues - in_memory.pca.power.eigenvalues).norm(), 1e-12);
  EXPECT_LE((found.pca.singular_values - in_memory.pca.singular_values).norm(), 1e-9);
  EXPECT_LE((found.pca.mean - in_memory.pca.mean).norm(), 1e-11);
  EXPECT_NEAR(found.pca.total_variance, in_memory.pca.total_variance, 1e-11);
}

TEST(SolveStream, ReadsOncePerProductWhereTheCovarianceDoesNotFit) {
  const Block<double> data = harmonic_rows(500, 2000, 2);
  VectorOfRows rows(data);

  const StreamSolution found = solve_stream(rows, request_for(3, 1e-4), small_memory());

  EXPECT_EQ(found.plan.way, StreamWay::products);
  EXPECT_FALSE(found.plan.certain);
  EXPECT_LE(found.plan.memory, found.plan.memory_allowed);
  EXPECT_EQ(rows.passes, found.pca.power.passes);
  EXPECT_EQ(found.pca.power.status, Status::converged);
  EXPECT_NEAR(residual_from_scratch(data, found.pca.power), found.pca.power.residual, 1e-9);
  EXPECT_NEAR(found.pca.total_variance, solve_pca<double>(data, request_for(3)).pca.total_variance, 1e-9);
}

TEST(SolveStream, HasTheSameBitsForAnyRowsAtOnceAndThreads) {
  const int before = threads();
  for (const Index columns : {30, 2000}) {
    VectorOfRows rows(harmonic_rows(columns == 30 ? 3000 : 300, columns, 3));
    std::optional<Block<double>> first;
    for (const int count : {1, 3})
      for (const Index at_once : {0, 1, 200}) {
        set_threads(count);
        StreamSettings settings = small_memory();
        settings.rows_at_once = at_once;
        const StreamSolution found = solve_stream(rows, request_for(2, 1e-3), settings);
        if (!first) first = found.pca.power.basis;
        EXPECT_EQ(found.pca.power.basis, *first) << columns << " columns, " << at_once << " rows, " << count;
      }
  }
  set_threads(before);
}

TEST(SolveStream, OfSinglePrecisionIsSolvedInDouble) {
  const Block<float> stored = harmonic_rows(2000, 30, 4).cast<float>();
  const Block<double> data = stored.cast<double>();

  const PcaSolution<double> found = solve_pca_in_double(borrow(stored), request_for(4));

  EXPECT_LE(residual_from_scratch(data, found.pca.power), 1e-10);
  EXPECT_LE((pca_scores(borrow(stored), found.pca) - pca_scores<double>(data, found.pca)).norm(), 1e-9);
  // On the samples' side there is no stream.
  const Block<float> wide = stored.topRows(20);
  EXPECT_LE(residual_from_scratch(wide.cast<double>(), solve_pca_in_double(borrow(wide), request_for(2)).pca.power),
            1e-9);
}

// Whose passes from a certain one on end in an error.
class TiredRows final : public RowSource<double> {
 public:
  TiredRows(Block<double> rows, int good_passes) : rows_(std::move(rows)), good_passes_(good_passes) {}
  Index cols() const override { return rows_.cols(); }
  void rewind() override { next_ = 0, ++passes_; }
  Index read(BlockView<double> out) override {
    if (passes_ > good_passes_ && next_ >= 100) throw DataError("rows.npy: row 101 cannot be read");
    const Index count = std::min(out.rows(), rows_.rows() - next_);
    out.topRows(count) = rows_.middleRows(next_, count);
    next_ += count;
    return count;
  }

 private:
  const Block<double> rows_;
  const int good_passes_;
  int passes_ = 0;
  Index next_ = 0;
};

TEST(SolveStream, LeavesTheBestBasisWhereALaterReadingFails) {
  const Block<double> data = harmonic_rows(400, 2000, 5);
  for (const int good : {2, 3, 5}) {
    TiredRows rows(data, good);
    StreamSettings settings = small_memory();
    settings.rows_at_once = 8;

    const StreamSolution found = solve_stream(rows, request_for(3), settings);

    EXPECT_EQ(found.pca.power.status, Status::breakdown);
    EXPECT_EQ(found.pca.power.passes, good);
    ASSERT_FALSE(found.pca.power.notes.empty());
    EXPECT_NE(found.pca.power.notes.front().find("rows.npy: row 101 cannot be read"), std::string::npos);
    EXPECT_NEAR(residual_from_scratch(data, found.pca.power), found.pca.power.residual, 1e-9) << good;
    EXPECT_LT(found.pca.power.residual, 0.5);
  }
}

TEST(SolveStream, RefusesWhatFailsInTheFirstReading) {
  for (const Index columns : {10, 2000}) {
    TiredRows rows(harmonic_rows(400, columns, 6), 0);
    StreamSettings settings = small_memory();
    settings.rows_at_once = 8;
    test::expect_error<DataError>([&] { (void)solve_stream(rows, request_for(3), settings); },
                                  {"rows.npy: row 101 cannot be read"});
  }
}

TEST(SolveStream, SpendsNoMorePassesThanAsked) {
  const Block<double> data = harmonic_rows(400, 2000, 7);
  double last = 1;
  for (const Index passes : {2, 4, 6}) {
    VectorOfRows rows(data);
    StreamSettings settings = small_memory();
    settings.passes = passes;

    const StreamSolution found = solve_stream(rows, request_for(5), settings);

    EXPECT_EQ(rows.passes, passes);
    EXPECT_EQ(found.pca.power.passes, passes);
    EXPECT_EQ(found.pca.power.status, Status::iteration_limit);
    const double residual = residual_from_scratch(data, found.pca.power);
    EXPECT_NEAR(residual, found.pca.power.residual, 1e-9);
    EXPECT_LT(residual, last);
    last = residual;
  }
}

TEST(SolveStream, StoppedInTheOnlyReadingAnswersForTheRowsSoFar) {
  const Block<double> data = harmonic_rows(20000, 10, 8);
  VectorOfRows rows(data);
  StreamSettings settings;
  settings.rows_at_once = 1000;
  settings.observe_reading = [](const Reading& now, const StreamPlan&) { return now.rows < 4000; };

  const StreamSolution found = solve_stream(rows, request_for(2), settings);

  const PcaResult<double>& pca = found.pca;
  EXPECT_EQ(pca.power.status, Status::stopped_by_observer);
  EXPECT_GE(pca.samples, 4000);
  EXPECT_LT(pca.samples, 20000);
  EXPECT_LE(residual_from_scratch(data.topRows(pca.samples), pca.power), 1e-10);
}

TEST(SolveStream, StoppedLaterLeavesTheBestBasis) {
  const Block<double> data = harmonic_rows(400, 2000, 9);
  VectorOfRows rows(data);
  StreamSettings settings = small_memory();
  settings.observe_reading = [](const Reading& now, const StreamPlan&) { return now.pass < 4; };

  const StreamSolution found = solve_stream(rows, request_for(3), settings);

  EXPECT_EQ(found.pca.power.status, Status::stopped_by_observer);
  EXPECT_EQ(found.pca.power.passes, 3);
  EXPECT_NEAR(residual_from_scratch(data, found.pca.power), found.pca.power.residual, 1e-9);
}

TEST(SolveStream, SaysWhatMemoryWouldDo) {
  VectorOfRows rows(harmonic_rows(50, 20000, 10));
  StreamSettings settings;
  settings.memory = 1'000'000;
  test::expect_error<DataError>([&] { (void)solve_stream(rows, request_for(3), settings); },
                                {"20000 columns", "3 components", "1.0 MB", "the least that does is"});
}

TEST(SolveStream, TreatsRowsAfterAReadingThatMeasuresThem) {
  Block<double> data = harmonic_rows(1000, 12, 11);
  data(17, 3) = data(400, 5) = std::numeric_limits<double>::quiet_NaN();
  PcaSettings treated;
  treated.standardize = true;
  treated.missing = Missing::mean;
  VectorOfRows rows(data);

  const StreamSolution found = solve_stream(rows, request_for(3), {treated});

  EXPECT_EQ(rows.passes, 2);
  EXPECT_EQ(found.plan.passes, 2);
  EXPECT_EQ(found.pca.power.passes, 2);
  const auto in_memory = solve_pca<double>(data, request_for(3), treated);
  EXPECT_LE((found.pca.power.eigenvalues - in_memory.pca.power.eigenvalues).norm(), 1e-10);
}

TEST(SolveStream, FindsARankByARuleInTheSameReading) {
  VectorOfRows rows(harmonic_rows(2000, 20, 12));
  Request request;
  request.settings.rank_rule = {.kind = RankRule::Kind::share, .share = 0.7};

  const StreamSolution found = solve_stream(rows, request);

  EXPECT_EQ(rows.passes, 1);
  const auto& power = found.pca.power;
  EXPECT_GT(power.eigenvalues.sum(), 0.7 * found.pca.total_variance);
  EXPECT_LE(power.eigenvalues.head(power.eigenvalues.size() - 1).sum(), 0.7 * found.pca.total_variance);
}

}  // namespace
}  // namespace hearsay

#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/random.hpp>
#include <hearsay/solve.hpp>

#include <cmath>

#include "support/planted.hpp"
#include "unit/solve/kept_states.hpp"

namespace hearsay {
namespace {

// 400 samples of 30 features, far from the origin; three of them vary more than the rest.
Block<double> samples() {
  Block<double> data(400, 30);
  fill_normal<double>({.seed = 3}, data);
  data.col(3) *= 9;
  data.col(7) *= 6;
  data.col(20) *= 4;
  data.array() += 100;
  return data;
}

Request pca_asking_for(Index rank) {
  Request request;
  request.settings.power.rank = rank;
  return request;
}

Vector<double> exact_mean(const Block<double>& data) { return data.colwise().mean(); }

CsrMatrix<double> sparse(const Block<double>& data) {
  CsrMatrix<double> made{.rows = data.rows(), .cols = data.cols()};
  for (Index i = 0; i < data.rows(); ++i) {
    for (Index j = 0; j < data.cols(); ++j) {
      made.columns.push_back(static_cast<std::int32_t>(j));
      made.values.push_back(data(i, j));
    }
    made.row_start.push_back(static_cast<std::int64_t>(made.columns.size()));
  }
  return made;
}

class Rows : public RowSource<double> {
 public:
  explicit Rows(Block<double> data) : data_(std::move(data)) {}
  Index cols() const override { return data_.cols(); }
  void rewind() override { next_ = 0; }
  Index read(BlockView<double> out) override {
    const Index count = std::min(out.rows(), data_.rows() - next_);
    out.topRows(count) = data_.middleRows(next_, count);
    next_ += count;
    return count;
  }

 private:
  Block<double> data_;
  Index next_ = 0;
};

TEST(SolvePca, IsPcaWithTheSameOptions) {
  const Block<double> data = samples();
  const auto plain = pca<double>(data, {.power = {.rank = 3}});
  const auto solved = solve_pca<double>(data, pca_asking_for(3));
  EXPECT_EQ(solved.pca.power.basis, plain.power.basis);
  EXPECT_EQ(solved.pca.singular_values, plain.singular_values);
  EXPECT_EQ(solved.pca.total_variance, plain.total_variance);
}

// Whatever the precision and the shape of the data, the same numbers to what the precision can hold.
TEST(SolvePca, SaysTheSameOfTheDataOnEveryWay) {
  const Block<double> data = samples();
  const auto plain = pca<double>(data, {.power = {.rank = 3}});
  const CsrMatrix<double> stored = sparse(data);
  const Block<float> floats = data.cast<float>();
  const auto same = [&](const auto& found, double tolerance, const char* way) {
    EXPECT_EQ(found.power.status, Status::converged) << way;
    EXPECT_EQ(found.samples, 400) << way;
    EXPECT_LE(test::reference_sin_theta(plain.power.basis, found.power.basis.template cast<double>()), tolerance)
        << way;
    EXPECT_LE((found.mean.template cast<double>() - exact_mean(data)).norm(), 1e3 * tolerance) << way;
    const Vector<double> singular = found.singular_values.template cast<double>();
    EXPECT_LE((singular - plain.singular_values).norm(), tolerance * plain.singular_values.norm()) << way;
  };
  Request request = pca_asking_for(3);
  same(solve_pca<double>(stored, request).pca, 1e-8, "sparse");
  Rows rows(data);
  const auto streamed = solve_pca(rows, request, {}, 64);
  same(streamed.pca, 1e-8, "streamed");
  EXPECT_NEAR(streamed.pca.total_variance, plain.total_variance, 1e-9 * plain.total_variance);
  request.settings.precision = Precision::mixed;
  const auto mixed = solve_pca<double>(data, request);
  same(mixed.pca, 1e-8, "mixed");
  EXPECT_NEAR(mixed.pca.total_variance, plain.total_variance, 1e-9 * plain.total_variance);
  same(solve_pca<double>(stored, request).pca, 1e-8, "mixed, sparse");
  request.settings.precision = Precision::single;
  same(solve_pca<double>(data, request).pca, 1e-3, "single");
  same(solve_pca<float>(floats, request).pca, 1e-3, "float data");
}

TEST(SolvePca, IsNoisyMixedAndCheckpointedAtOnce) {
  const Block<double> data = samples();
  Request request = pca_asking_for(3);
  request.settings.precision = Precision::mixed;
  request.settings.noise = {NoiseChoice::Kind::gaussian, 1e-4};
  test::KeptStates kept;
  request.checkpoints = &kept;
  request.checkpoint_every = 1;
  const auto solved = solve_pca<double>(data, request);
  const auto plain = pca<double>(data, {.power = {.rank = 3}});
  EXPECT_EQ(solved.pca.power.status, Status::noise_floor);
  EXPECT_LE(test::reference_sin_theta(plain.power.basis, solved.pca.power.basis), 1e-3);
  EXPECT_FALSE(kept.doubles.empty());
}

TEST(SolvePca, KeepsItsStateInSinglePrecisionToo) {
  Request request = pca_asking_for(3);
  request.settings.precision = Precision::single;
  test::KeptStates kept;
  request.checkpoints = &kept;
  request.checkpoint_every = 1;
  EXPECT_EQ(solve_pca<double>(samples(), request).pca.power.status, Status::converged);
  EXPECT_FALSE(kept.floats.empty());
  EXPECT_TRUE(kept.doubles.empty());
}

TEST(SolvePca, RefusesAPrecisionThatTheDataDoNotHave) {
  Request request = pca_asking_for(3);
  request.settings.precision = Precision::mixed;
  const Block<float> floats = samples().cast<float>();
  EXPECT_THROW((void)solve_pca<float>(floats, request), InvalidArgument);
  Rows rows(samples());
  EXPECT_THROW((void)solve_pca(rows, request), InvalidArgument);
  EXPECT_THROW((void)solve_pca<double>(samples(), request, {.wished_accuracy = 1e-8}), InvalidArgument);
}

// ---- A rank that the variances decide

Request asking_for(RankRule rule) {
  Request request;
  request.settings.rank_rule = rule;
  return request;
}

// All variances are known after one reading of tall rows; of sparse ones solves of growing rank find the same rank.
TEST(SolvePca, FindsARankByShareInOneReading) {
  const Block<double> data = samples();
  const CsrMatrix<double> stored = sparse(data);
  for (const double share : {0.05, 0.5, 0.8, 0.95, 0.9999}) {
    const Request request = asking_for({.kind = RankRule::Kind::share, .share = share});
    const auto found = solve_pca<double>(data, request).pca;
    const auto searched = solve_pca<double>(stored, request).pca;
    EXPECT_EQ(found.power.method, SolveMethod::direct);
    EXPECT_EQ(found.power.passes, 1) << share;
    EXPECT_EQ(found.power.basis.cols(), searched.power.basis.cols()) << share;
    EXPECT_EQ(found.power.notes.front(), searched.power.notes.front()) << share;
    EXPECT_GT(found.power.eigenvalues.sum(), share * found.total_variance);
  }
}

TEST(SolvePca, FindsARankByShareOfWideRowsToo) {
  const Block<double> data = samples().transpose();
  const CsrMatrix<double> stored = sparse(data);
  for (const bool center : {true, false})
    for (const double share : {0.3, 0.9, 0.999999}) {
      const Request request = asking_for({.kind = RankRule::Kind::share, .share = share});
      const auto found = solve_pca<double>(data, request, {.center = center}).pca;
      const auto searched = solve_pca<double>(stored, request, {.center = center}).pca;
      EXPECT_EQ(found.power.basis.cols(), searched.power.basis.cols()) << share;
      EXPECT_EQ(found.power.status, Status::converged) << share;
    }
}

TEST(SolvePca, FindsMinkasRankInOneReading) {
  const Block<double> data = samples();
  const Request request = asking_for({.kind = RankRule::Kind::mle});
  const auto found = solve_pca<double>(data, request).pca;
  const auto searched = solve_pca<double>(sparse(data), request).pca;
  EXPECT_EQ(found.power.method, SolveMethod::direct);
  EXPECT_EQ(found.power.passes, 1);
  EXPECT_EQ(found.power.basis.cols(), searched.power.basis.cols());
  EXPECT_THROW((void)solve_pca<double>(Block<double>(data.transpose()), request), InvalidArgument);
}

}  // namespace
}  // namespace hearsay

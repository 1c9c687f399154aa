#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/private_pca.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/expect_error.hpp"
#include "support/random_block.hpp"
#include "support/reference.hpp"
#include "support/rows.hpp"

namespace hearsay {
namespace {

// Rows with variances 1/i^2, and their components without noise.
struct Table {
  Block<double> data = {}, components = {};
  Vector<double> values = {};
};

Table table_of(Index rows, Index features, Index k) {
  Table table{.data = test::random_block(rows, features, 2)};
  for (Index j = 0; j < features; ++j) table.data.col(j) /= static_cast<double>(j + 1);
  for (Index i = 0; i < rows; ++i) table.data.row(i) *= std::min(1.0, 2.5 / table.data.row(i).norm());
  const test::RightVectors eigen = test::reference_right_vectors(table.data.transpose() * table.data);
  table.components = eigen.V.leftCols(k);
  table.values = eigen.values;
  return table;
}

Request wanting(Index k) {
  Request request;
  request.settings.power.rank = k;
  return request;
}

PrivacySettings budget_of(double epsilon) { return {.budget = {epsilon, 1e-6}, .row_norm = 2.5, .public_rows = 5000}; }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

TEST(PrivatePca, KnowsHowFarTheNoiseTookItsComponents) {
  constexpr Index k = 4;
  const Table table = table_of(5000, 30, k);
  const double best = table.values.head(k).sum(), all = table.values.sum();
  for (const double epsilon : {1.0, 4.0}) {
    std::vector<double> bar, share, explained, values;
    for (std::uint64_t seed = 0; seed < 15; ++seed) {
      const auto found = solve_private_pca(borrow(table.data), wanting(k), budget_of(epsilon), insecure_words(seed));
      const Block<double>& V = found.solution.power.basis;
      ASSERT_EQ(V.cols(), k);
      const double captured = (table.data * V).squaredNorm();
      bar.push_back(found.accuracy.sin_theta / sin_theta<double>(table.components, V));
      share.push_back(found.accuracy.captured / (captured / best));
      explained.push_back(found.accuracy.explained / (captured / all));
      values.push_back(found.accuracy.values(k - 1) / table.values(k - 1));
    }
    EXPECT_GE(median(bar), 0.5) << epsilon;
    EXPECT_LE(median(bar), 2.0) << epsilon;
    EXPECT_NEAR(median(share), 1.0, 0.03) << epsilon;
    EXPECT_NEAR(median(explained), 1.0, 0.03) << epsilon;
    EXPECT_NEAR(median(values), 1.0, 0.1) << epsilon;
  }
}

TEST(PrivatePca, IsNearlyThatOfTheDataWhereTheBudgetIsLarge) {
  const Table table = table_of(5000, 30, 2);
  const auto found = solve_private_pca(borrow(table.data), wanting(2), budget_of(50), insecure_words(1));
  EXPECT_LE(sin_theta<double>(table.components, found.solution.power.basis), 0.02);
  EXPECT_NEAR(found.accuracy.values(0) / table.values(0), 1.0, 1e-2);
  EXPECT_EQ(found.divisor, 5000.0);
}

TEST(PrivatePca, TakesSparseAndStreamedRowsAsItTakesDenseOnes) {
  const Table table = table_of(500, 6, 2);
  const auto dense = solve_private_pca(borrow(table.data), wanting(2), budget_of(1), insecure_words(3));
  test::VectorOfRows rows(table.data);
  const auto streamed = solve_private_pca(rows, wanting(2), budget_of(1), insecure_words(3));
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> columns;
  std::vector<double> values(table.data.data(), table.data.data() + table.data.size());
  for (Index i = 0; i <= 500; ++i) starts.push_back(6 * i);
  for (Index e = 0; e < 3000; ++e) columns.push_back(static_cast<std::int32_t>(e % 6));
  const CsrMatrix<double> matrix{500, 6, {starts.begin(), starts.end()}, {columns.begin(), columns.end()}, values};
  const auto sparse = solve_private_pca(borrow(matrix), wanting(2), budget_of(1), insecure_words(3));
  EXPECT_EQ(dense.release, streamed.release);
  EXPECT_EQ(dense.release, sparse.release);
}

TEST(PrivatePca, SaysThatNothingIsKnownWhereNoiseIsAllThereIs) {
  const Table table = table_of(20, 30, 3);
  const auto found = solve_private_pca(borrow(table.data), wanting(3), budget_of(0.1), insecure_words(1));
  EXPECT_EQ(found.accuracy.sin_theta, 1.0);
  EXPECT_LT(found.accuracy.above_noise, 3);
  EXPECT_EQ(found.accuracy.values(2), 0.0);
}

TEST(PrivatePca, RefusesWhatNobodyHasAccountedFor) {
  const Table table = table_of(100, 5, 2);
  const auto refuses = [&](auto&& change, const char* part) {
    Request request = wanting(2);
    change(request);
    test::VectorOfRows rows(table.data);
    test::expect_error<InvalidArgument>([&] { (void)solve_private_pca(rows, request, budget_of(1)); }, {part});
    EXPECT_EQ(rows.passes, 0) << part;
  };
  refuses([](Request& r) { r.settings.rank_rule.kind = RankRule::Kind::mle; }, "rank");
  refuses([](Request& r) { r.settings.precision = Precision::single; }, "precision");
  refuses([](Request& r) { r.settings.noise = {NoiseChoice::Kind::gaussian, 1.0}; }, "noise");
  refuses([](Request& r) { r.settings.power.which = Which::smallest; }, "which");
  refuses([](Request& r) { r.audit = 0.1; }, "audit");
  refuses([](Request& r) { r.reference = Block<double>::Identity(5, 2); }, "reference");
  refuses([](Request& r) { r.settings.power.rank = 6; }, "rank = 6");
}

TEST(PrivatePlan, TellsWhatTheReleaseWillBeWorth) {
  constexpr Index k = 4;
  const Table table = table_of(5000, 30, k);
  const PrivatePlanRequest request{
      .privacy = budget_of(1), .rank = k, .dimension = 30, .spectrum = table.values / 5000.0};
  const PrivatePlan plan = plan_private_pca(request);
  std::vector<double> sines, shares;
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    const auto found = solve_private_pca(borrow(table.data), wanting(k), budget_of(1), insecure_words(seed));
    sines.push_back(sin_theta<double>(table.components, found.solution.power.basis));
    shares.push_back((table.data * found.solution.power.basis).squaredNorm() / table.values.head(k).sum());
  }
  EXPECT_LE(plan.sin_theta, 2 * median(sines));
  EXPECT_GE(plan.sin_theta, 0.5 * median(sines));
  EXPECT_NEAR(plan.captured, median(shares), 0.02);
  const double needed = epsilon_for_sine(request, plan.sin_theta).value();
  EXPECT_NEAR(needed, 1.0, 1e-4);
  EXPECT_GT(epsilon_for_sine(request, plan.sin_theta / 3).value(), 2.0);
}

TEST(PrivatePlan, RefusesWhatIsNoSpectrum) {
  PrivatePlanRequest request{.privacy = budget_of(1), .rank = 2, .dimension = 4};
  const auto refuses = [&](std::vector<double> values, const char* part) {
    request.spectrum = Eigen::Map<Eigen::VectorXd>(values.data(), static_cast<Index>(values.size()));
    test::expect_error<InvalidArgument>([&] { (void)plan_private_pca(request); }, {part});
  };
  refuses({1}, "has 1 variances");
  refuses({1, 2}, "descending");
  refuses({1, -1}, "not negative");
  refuses({1, 1, 1, 1, 1}, "has 5");
  request.privacy.public_rows = 0;
  refuses({2, 1}, "public-rows");
}

}  // namespace
}  // namespace hearsay

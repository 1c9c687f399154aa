#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <hearsay/error.hpp>
#include <hearsay/plan.hpp>
#include <hearsay/theory.hpp>
#include <limits>

namespace hearsay::theory {
namespace {

PlanRequest figure_one() {
  return {.dimension = 1000, .rank = 10, .lambda_1 = 1.0, .lambda_k = 1.0, .lambda_next = 0.99, .epsilon = 1e-2};
}

PlanRequest heart() {
  PlanRequest request{.dimension = 13, .rank = 2, .lambda_1 = 3.0, .lambda_k = 1.373737, .lambda_next = 1.319549};
  request.network = PlanNetwork{.agents = 4, .spectral_gap = 0.5, .local_norm = 4.6473, .degree = 2.0};
  return request;
}

const PlanRow& row_of(const Plan& plan, Method method) {
  return *std::find_if(plan.rows.begin(), plan.rows.end(), [&](const PlanRow& row) { return row.method == method; });
}

TEST(Plan, ListsTheCentralMethodsAndAddsTheOthersOnRequest) {
  PlanRequest request = heart();
  request.small_beta = 0.3;

  EXPECT_EQ(plan(figure_one()).rows.size(), 4u);
  EXPECT_EQ(plan(request).rows.size(), 8u);
}

TEST(Plan, StartsAtRandomUnlessToldOtherwise) {
  PlanRequest request = figure_one();
  EXPECT_DOUBLE_EQ(plan(request).h0, random_start_tangent(1000, 10));

  request.h0 = 3.0;
  EXPECT_EQ(plan(request).h0, 3.0);
}

TEST(Plan, OrdersTheMethodsAsTheTheoryDoes) {
  const Plan made = plan(figure_one());

  EXPECT_LT(row_of(made, Method::anpm).iterations.value, row_of(made, Method::npm).iterations.value / 4);
  EXPECT_LT(row_of(made, Method::anpm_centred).iterations.value, row_of(made, Method::anpm).iterations.value / 1.3);
  EXPECT_LT(row_of(made, Method::anpm_xu).noise_outside->value, row_of(made, Method::anpm).noise_outside->value);
  EXPECT_NEAR(row_of(made, Method::anpm_centred).noise_outside->value, row_of(made, Method::npm).noise_outside->value,
              1e-18);
}

TEST(Plan, NeverPredictsMoreThanItGuarantees) {
  for (const PlanRow& row : plan(figure_one()).rows)
    if (row.iterations.standing == Standing::guarantee) {
      EXPECT_LE(row.predicted_iterations.value, row.iterations.value) << name(row.method);
    }
}

TEST(Plan, SaysOfEachNumberHowFarToTrustIt) {
  const Plan made = plan(heart());

  EXPECT_EQ(row_of(made, Method::anpm).iterations.standing, Standing::guarantee);
  EXPECT_EQ(row_of(made, Method::anpm).predicted_iterations.standing, Standing::prediction);
  EXPECT_EQ(row_of(made, Method::anpm_xu).noise_outside->standing, Standing::order);
  EXPECT_EQ(row_of(made, Method::depm).traffic->rounds.standing, Standing::order);
  EXPECT_EQ(row_of(made, Method::adepm).traffic->rounds.standing, Standing::guarantee);
  EXPECT_EQ(row_of(made, Method::adepm).predicted_traffic->bytes.standing, Standing::prediction);
}

TEST(Plan, GivesTheReachableSineAtTheNoiseGiven) {
  PlanRequest request = figure_one();
  request.h0 = 1.0;
  request.noise = 1e-6;
  const PlanRow anpm = row_of(plan(request), Method::anpm);

  EXPECT_NEAR(anpm.reachable_epsilon->value, 32 * 1e-6 / 0.01, 1e-12);
  EXPECT_NEAR(anpm.predicted_floor->value, 1e-4, 1e-12);
}

TEST(Plan, PromisesNothingUnderTooMuchNoiseAndSaysSo) {
  PlanRequest request = figure_one();
  request.noise = 1e-2;
  const Plan made = plan(request);

  EXPECT_FALSE(row_of(made, Method::anpm).reachable_epsilon.has_value());
  EXPECT_GT(made.notes.size(), plan(figure_one()).notes.size());
}

TEST(Plan, ShowsThatMomentumAmplifiesWhiteNoise) {
  PlanRequest request = figure_one();
  request.noise = 1e-4;
  request.eigenvalues.assign(1000, 0.5);
  std::fill_n(request.eigenvalues.begin(), 10, 1.0);
  request.eigenvalues[10] = 0.99;
  const Plan made = plan(request);

  EXPECT_NEAR(row_of(made, Method::anpm).predicted_white_floor->value,
              2.66 * row_of(made, Method::npm).predicted_white_floor->value, 0.01);
}

TEST(Plan, CountsTheProductsThatAveragesNeed) {
  PlanRequest request = figure_one();
  EXPECT_FALSE(plan(request).products.has_value());

  request.noise_sigma = 1e-4;  // 10 (1e-4 sqrt(10)/(0.01 * 0.01))^2
  EXPECT_EQ(plan(request).products->value, 100);
  EXPECT_EQ(plan(request).products->standing, Standing::prediction);

  request.eigenvalues.assign(1000, 0.2);
  std::fill_n(request.eigenvalues.begin(), 10, 1.0);
  request.eigenvalues[10] = 0.99;
  EXPECT_EQ(plan(request).products->value, 100);  // the others are far away

  request.noise_sigma = -1;
  EXPECT_THROW(plan(request), InvalidArgument);
}

TEST(Plan, GuaranteesOneHundredAndThirtyOneRoundsOnHeart) {
  const PlanRow adepm = row_of(plan(heart()), Method::adepm);

  EXPECT_EQ(adepm.traffic->rounds_per_iteration.value, 131);
  EXPECT_LE(adepm.predicted_traffic->rounds_per_iteration.value, 131 / 20.0);
}

TEST(Plan, CountsTheBytesAnAgentSends) {
  const PlanRow adepm = row_of(plan(heart()), Method::adepm);
  const AgentTraffic& traffic = *adepm.predicted_traffic;
  const double block = 13 * 3 * 8;  // d x (k+1) doubles

  EXPECT_EQ(adepm.block_columns, 3);
  EXPECT_EQ(traffic.bytes_per_iteration.value, traffic.rounds_per_iteration.value * 2 * block);
  EXPECT_EQ(traffic.bytes.value, traffic.rounds.value * 2 * block);
}

TEST(Plan, RefusesWhatTheTheorySaysNothingAbout) {
  const auto with = [](auto change) {
    PlanRequest request = figure_one();
    change(request);
    return request;
  };

  EXPECT_THROW(plan(with([](auto& r) { r.rank = 0; })), InvalidArgument);
  EXPECT_THROW(plan(with([](auto& r) { r.rank = 1000; })), InvalidArgument);
  EXPECT_THROW(plan(with([](auto& r) { r.lambda_next = 1.0; })), InvalidArgument);
  EXPECT_THROW(plan(with([](auto& r) { r.lambda_1 = 0.5; })), InvalidArgument);
  EXPECT_THROW(plan(with([](auto& r) { r.epsilon = 0.0; })), InvalidArgument);
  EXPECT_THROW(plan(with([](auto& r) { r.noise = std::numeric_limits<double>::quiet_NaN(); })), InvalidArgument);
  EXPECT_THROW(plan(with([](auto& r) { r.small_beta = 0.249; })), InvalidArgument);
  EXPECT_THROW(plan(with([](auto& r) { r.eigenvalues = {1.0}; })), InvalidArgument);
  EXPECT_THROW(plan(with([](auto& r) { r.network = PlanNetwork{.agents = 4, .spectral_gap = 0.0}; })), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::theory

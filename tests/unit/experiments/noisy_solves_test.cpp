#include "experiments/noisy_solves.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>

#include <algorithm>
#include <cmath>

#include "experiments/statistical_limit.hpp"

namespace hearsay::experiments {
namespace {

constexpr NoisyInstance small{.dimension = 120, .rank = 3, .gap = 0.1, .noise_level = 1e-5};

Trace solved(BudgetRun::Solver solver, std::vector<Index> products = {300, 1200}, NoisyInstance instance = small) {
  return trace(BudgetRun{.instance = instance, .solver = solver, .products = std::move(products)}, 1);
}

TEST(NoisySolves, TheLimitFallsAsTheSquareRootOfTheProducts) {
  const Trace limit = solved(BudgetRun::Solver::limit);

  EXPECT_NEAR(limit.error[0] / limit.error[1], 2, 1e-12);
  EXPECT_EQ(limit.swept, (std::vector<double>{300, 1200}));
}

TEST(NoisySolves, TheLimitOfOneEigenvectorIsTheNormOfItsErrorsOverTheGaps) {
  Vector<double> values = Vector<double>::Zero(1001);
  values(0) = 2;

  EXPECT_NEAR(error_of_one_product(values, 1), std::sqrt(1000.0) / 2, 0.03 * std::sqrt(1000.0) / 2);
}

TEST(NoisySolves, AveragesComeNearTheLimitAndTheirBarsNearTheError) {
  const Trace limit = solved(BudgetRun::Solver::limit), averaged = solved(BudgetRun::Solver::averaged);

  for (std::size_t i = 0; i < 2; ++i) EXPECT_LE(averaged.error[i], 2 * limit.error[i]);
  EXPECT_EQ(averaged.facts.at("bars_within"), 1);
  EXPECT_LE(std::abs(std::log(averaged.facts.at("bar_over_error"))), std::log(3));
}

TEST(NoisySolves, TheErrorBarIsThatOfTheSameSolves) {
  const Trace bar = solved(BudgetRun::Solver::error_bar, {300}), averaged = solved(BudgetRun::Solver::averaged, {300});

  EXPECT_DOUBLE_EQ(bar.error[0] / averaged.error[0], averaged.facts.at("bar_over_error"));
}

TEST(NoisySolves, TheLastBlockStaysAtItsFloor) {
  const Trace last = solved(BudgetRun::Solver::last_block, {300, 20000});
  const Trace averaged = solved(BudgetRun::Solver::averaged, {20000});

  EXPECT_GE(last.error[1], 5 * averaged.error[0]);
}

TEST(NoisySolves, OjaConvergesWithTheBestOfItsSteps) {
  const Trace oja = solved(BudgetRun::Solver::oja, {300, 3000});

  EXPECT_LE(oja.error[1], 0.6 * oja.error[0]);
  EXPECT_LE(oja.error[1], 1e-3);
  EXPECT_GT(oja.facts.at("best_step"), 0);
}

TEST(NoisySolves, AStepCountsItsColumns) {
  const SolveRun papers{.instance = small, .solver = SolveRun::Solver::paper, .iterations = 40};
  SolveRun averages = papers;
  averages.solver = SolveRun::Solver::averaged;

  const Trace paper = trace(papers, 1), averaged = trace(averages, 1);

  ASSERT_EQ(paper.products.size(), paper.error.size());
  ASSERT_EQ(averaged.products.size(), averaged.error.size());
  for (std::size_t t = 0; t < paper.products.size(); ++t)
    EXPECT_EQ(paper.products[t], 4.0 * static_cast<double>(t + 1));
  EXPECT_GT(averaged.products.front(), 4) << "a wide block first";
  EXPECT_EQ(averaged.products.back() - *(averaged.products.end() - 2), 4) << "then a narrow one";
}

TEST(NoisySolves, SpectraDecayAsTheyAreCalled) {
  NoisyInstance instance = small;

  EXPECT_DOUBLE_EQ(instance.eigenvalues()(3), 0.9);
  instance.spectrum = NoisyInstance::Spectrum::harmonic;
  EXPECT_DOUBLE_EQ(instance.eigenvalues()(3), 0.25);
  instance.spectrum = NoisyInstance::Spectrum::exponential;
  EXPECT_DOUBLE_EQ(instance.eigenvalues()(49), std::exp(-1.0));
}

TEST(NoisySolves, WhatWasRecordedIsTheSameForEverySeed) {
  const RecordedRun run{.products = {10, 20}, .errors = {0.5, 0.25}, .source = "elsewhere"};

  EXPECT_EQ(trace(run, 1).error, trace(run, 2).error);
  EXPECT_EQ(trace(run, 1).swept, (std::vector<double>{10, 20}));
  EXPECT_THROW((void)trace(RecordedRun{.products = {10}, .errors = {}, .source = "elsewhere"}, 1), InvalidArgument);
}

TEST(NoisySolves, RefuseWhatIsNoInstance) {
  NoisyInstance silent = small, wide = small;
  silent.noise_level = 0;
  wide.rank = 120;

  EXPECT_THROW((void)solved(BudgetRun::Solver::averaged, {300}, silent), InvalidArgument);
  EXPECT_THROW((void)solved(BudgetRun::Solver::averaged, {300}, wide), InvalidArgument);
  EXPECT_THROW((void)solved(BudgetRun::Solver::averaged, {300, 200}), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::experiments

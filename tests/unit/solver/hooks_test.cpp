#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>

#include "support/planted.hpp"

namespace hearsay {
namespace {

const test::Planted& hooks_problem() {
  static const test::Planted planted = test::planted_spectrum(test::paper_spectrum(120, 4, 0.05), 1);
  return planted;
}

TEST(Observer, SeesEveryIterationOnce) {
  std::vector<Index> seen;
  Hooks<double> hooks;
  hooks.observe = [&](const Iteration<double>& now) {
    seen.push_back(now.entry.t);
    EXPECT_EQ(now.X.cols(), 8);
    EXPECT_EQ(now.basis.cols(), 4);
    return true;
  };

  const auto result = accelerated_power<double>(DenseSymmetric<double>(hooks_problem().A), {.rank = 4}, hooks);

  ASSERT_EQ(static_cast<Index>(seen.size()), result.iterations + 1);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<Index>(i));
  EXPECT_EQ(result.history.size(), seen.size());
}

TEST(Observer, CanStopTheSolveAndGetsTheBestBasis) {
  Hooks<double> hooks;
  hooks.observe = [](const Iteration<double>& now) { return now.entry.t < 5; };

  const auto result = accelerated_power<double>(DenseSymmetric<double>(hooks_problem().A), {.rank = 4}, hooks);

  EXPECT_EQ(result.status, Status::stopped_by_observer);
  EXPECT_EQ(result.iterations, 5);
  EXPECT_GT(result.residual, 0);
  EXPECT_EQ(result.basis.cols(), 4);
}

TEST(Reference, FillsTheSineOfEveryIteration) {
  const Block<double> U = hooks_problem().top(4);
  Hooks<double> hooks;
  hooks.reference = &U;

  const auto result = accelerated_power<double>(DenseSymmetric<double>(hooks_problem().A), {.rank = 4}, hooks);

  for (const auto& entry : result.history) EXPECT_LE(entry.sin_theta, 1.0);
  EXPECT_NEAR(result.history.back().sin_theta, test::reference_sin_theta(U, result.basis), 1e-9);
}

TEST(WarmStart, FromTheAnswerStopsAtOnce) {
  const auto cold =
      accelerated_power<double>(DenseSymmetric<double>(hooks_problem().A), {.rank = 4, .tolerance = 1e-9});
  Hooks<double> hooks;
  hooks.start = &cold.basis;

  const auto warm =
      accelerated_power<double>(DenseSymmetric<double>(hooks_problem().A), {.rank = 4, .tolerance = 1e-8}, hooks);

  EXPECT_GT(cold.iterations, 5);
  EXPECT_LE(warm.iterations, 1);
  EXPECT_EQ(warm.status, Status::converged);
}

TEST(WarmStart, OfAnotherHeightIsRefused) {
  const Block<double> start = Block<double>::Ones(7, 2);
  Hooks<double> hooks;
  hooks.start = &start;

  EXPECT_THROW(
      static_cast<void>(accelerated_power<double>(DenseSymmetric<double>(hooks_problem().A), {.rank = 2}, hooks)),
      InvalidArgument);
}

}  // namespace
}  // namespace hearsay

#include "experiments/graph_run.hpp"

#include <gtest/gtest.h>
#include <hearsay/dense_eigen.hpp>
#include <hearsay/error.hpp>
#include <hearsay/graph_tools.hpp>
#include <hearsay/operators/stored.hpp>

namespace hearsay::experiments {
namespace {

GraphRun small_graph_run(double sigma, bool accelerated) {
  return {.graph = std::make_shared<Graph>(planted_partition(400, 4, 12, 1, 3)),
          .stand_in = true,
          .rank = 4,
          .sigma = sigma,
          .accelerated = accelerated,
          .iterations = 60};
}

TEST(GraphRun, EndsAtTheEigenvalueBelowTheSubspaceWhereNothingIsNoisy) {
  const GraphRun run = small_graph_run(0, true);
  const double best = dense_eigen<double>(NormalisedGraph<double>(*run.graph)).values(run.rank);

  const Trace done = trace(run, 1);

  EXPECT_NEAR(done.error.front(), 2, 0.05) << "a random block reconstructs next to nothing";
  EXPECT_NEAR(done.error.back(), best, 0.02 * best);
  EXPECT_LE(done.error.back(), best * (1 + 1e-9)) << "the estimate is from below";
}

TEST(GraphRun, KeepsTheNormOfTheNoiseOnASmallerGraph) {
  const Trace done = trace(small_graph_run(1e-3, false), 1);

  EXPECT_NEAR(done.facts.at("sigma") * std::sqrt(done.facts.at("nodes")), 1e-3 * std::sqrt(262111.0), 1e-12);
  EXPECT_EQ(done.facts.at("generated"), 1);
}

TEST(GraphRun, RefusesToRunWithoutItsGraph) {
  EXPECT_THROW(trace(GraphRun{}, 1), InvalidArgument);
  GraphRun run = small_graph_run(0, true);
  run.rank = 399;
  EXPECT_THROW(trace(run, 1), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::experiments

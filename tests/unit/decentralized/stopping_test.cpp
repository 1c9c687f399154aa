// When and how the agents stop: together, and for a reason they name.
#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/operators/compose.hpp>

#include "problems.hpp"

namespace hearsay {
namespace {

using test::planted_problem;
using test::Problem;

double residual_from_scratch(const Problem& problem, const Block<double>& V) {
  const auto operators = problem.operators();
  const SumOperator<double> A(operators, 1 / static_cast<double>(operators.size()));
  Block<double> AV(V.rows(), V.cols());
  A.apply(V, AV);
  return (AV - V * (V.transpose() * AV)).norm() / AV.norm();
}

TEST(Tolerance, HoldsForTheResidualOfEveryAgent) {
  const Problem problem = planted_problem(8, 300, 20, 3, 0.9, 31);
  for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm, Algorithm::deepca, Algorithm::adeepca})
    for (const double tolerance : {1e-4, 1e-9}) {
      LocalNetwork net(problem.W);
      const auto result =
          decentralized_pca(net, problem.operators(),
                            {.algorithm = algorithm, .rank = 3, .max_iterations = 3000, .tolerance = tolerance});

      EXPECT_EQ(result.status, Status::converged) << name(algorithm);
      for (const auto& V : result.bases)
        EXPECT_LE(residual_from_scratch(problem, V), 2 * tolerance) << name(algorithm) << ' ' << tolerance;
    }
}

TEST(NoiseFloor, IsToldFromConvergence) {
  const Problem problem = planted_problem(8, 300, 20, 3, 0.9, 32);
  LocalNetwork net(problem.W);

  const auto result = decentralized_pca(
      net, problem.operators(),
      {.algorithm = Algorithm::adepm, .rank = 3, .rounds = 4, .max_iterations = 3000, .tolerance = 1e-10});

  EXPECT_EQ(result.status, Status::noise_floor);
  EXPECT_GE(sin_theta<double>(problem.U, result.bases[0]), 1e-6);
  EXPECT_GE(result.agreement, 1e-6);
  ASSERT_FALSE(result.notes.empty());
  EXPECT_NE(result.notes.back().find("each agent came to rest"), std::string::npos);
}

TEST(Observer, StopsEveryoneWithinADiameterOfRounds) {
  const Problem problem = planted_problem(12, 300, 20, 3, 0.9, 33);
  LocalNetwork net(problem.W);

  const auto result = decentralized_pca(net, problem.operators(), {.rank = 3, .rounds = 2, .tolerance = 0},
                                        {.observe = [](const DecentralizedEntry& entry) { return entry.t < 7; }});

  EXPECT_EQ(result.status, Status::stopped_by_observer);
  EXPECT_GE(result.iterations, 8);
  EXPECT_LE(result.iterations, 8 + 2 * 3);  // one agreement may be on its way, and takes three iterations
}

TEST(History, TellsTheRoundsSpentToReachEachIterate) {
  const Problem problem = planted_problem(5, 100, 10, 2, 0.8, 34);
  LocalNetwork net(problem.W);

  const auto result =
      decentralized_pca(net, problem.operators(), {.rank = 2, .rounds = 3, .max_iterations = 6, .tolerance = 0},
                        {.reference = &problem.U});

  ASSERT_EQ(result.history.size(), 6u);
  for (std::size_t t = 0; t < 6; ++t) {
    EXPECT_EQ(result.history[t].t, static_cast<Index>(t));
    EXPECT_EQ(result.history[t].rounds, static_cast<std::int64_t>(3 * t));
  }
  EXPECT_GT(result.history[0].sin_theta, result.history[5].sin_theta);
}

TEST(Traffic, OfARunCountsThatRunAlone) {
  const Problem problem = planted_problem(5, 100, 10, 2, 0.8, 35);
  LocalNetwork net(problem.W);
  const DecentralizedOptions options{.rank = 2, .max_iterations = 6, .tolerance = 0};

  const auto first = decentralized_pca(net, problem.operators(), options);
  const auto second = decentralized_pca(net, problem.operators(), options);

  EXPECT_EQ(first.traffic.bytes, second.traffic.bytes);
  EXPECT_EQ(first.digest, second.digest);
}

}  // namespace
}  // namespace hearsay

// How far the agents say they are from the truth, where they did not converge.
#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/dense_eigen.hpp>
#include <hearsay/faults.hpp>
#include <hearsay/operators/compose.hpp>

#include <algorithm>
#include <cmath>

#include "problems.hpp"

namespace hearsay {
namespace {

using test::planted_problem;
using test::Problem;

double worst_sine(const Block<double>& U, const DecentralizedResult& result) {
  double worst = 0;
  for (const Block<double>& V : result.bases)
    if (V.size() > 0) worst = std::max(worst, sin_theta<double>(U, V));
  return worst;
}

void expect_true(const DecentralizedResult& result, const Block<double>& U, const std::string& what) {
  ASSERT_EQ(result.bar.kind, BarKind::indicative) << what;
  EXPECT_GE(result.bar.sin_theta, worst_sine(U, result)) << what;
  EXPECT_LE(result.bar.sin_theta, 30 * worst_sine(U, result)) << what;
}

TEST(AgentsErrorBar, IsNoLessThanTheErrorAtAFloorOfGossip) {
  for (const std::uint64_t seed : {81, 82, 83}) {
    const Problem problem = planted_problem(9, 300, 20, 3, 0.9, seed);
    for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm})
      for (const Index rounds : {5, 10}) {
        LocalNetwork net(problem.W);
        const auto result = decentralized_pca(
            net, problem.operators(), {.algorithm = algorithm, .rank = 3, .rounds = rounds, .max_iterations = 3000});

        EXPECT_EQ(result.status, Status::noise_floor);
        expect_true(result, problem.U, name(algorithm));
      }
  }
}

TEST(AgentsErrorBar, IsTrueOfRealDataToo) {
  const auto problems = test::real_problems();
  if (!problems)
    GTEST_SKIP() << "HEARSAY_DATA is not set; `hearsay datasets fetch` gets the data, `hearsay datasets path` says "
                    "where";
  for (const Problem& problem : *problems) {
    LocalNetwork net(problem.W);
    const auto result = decentralized_pca(net, problem.operators(),
                                          {.algorithm = Algorithm::adepm,
                                           .rank = problem.k,
                                           .rounds = problem.k == 2 ? 4 : 20,  // heart is exact with 20
                                           .max_iterations = 1000,
                                           .damping = problem.damping});

    expect_true(result, problem.U, problem.name);
  }
}

TEST(AgentsErrorBar, IsNoneWhereTheyConverged) {
  const Problem problem = planted_problem(6, 200, 12, 2, 0.7, 84);
  LocalNetwork net(problem.W);

  const auto result = decentralized_pca(net, problem.operators(), {.rank = 2});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_EQ(result.bar.kind, BarKind::none);
  EXPECT_TRUE(std::isnan(result.bar.sin_theta));
}

TEST(AgentsErrorBar, IsNoneWhereNoAccuracyIsAskedFor) {  // and nothing is sent that was not planned
  const Problem problem = planted_problem(6, 200, 12, 2, 0.7, 84);
  const DecentralizedOptions options{
      .algorithm = Algorithm::adepm, .rank = 2, .rounds = 3, .max_iterations = 20, .tolerance = 0};
  LocalNetwork net(problem.W);

  const auto result = decentralized_pca(net, problem.operators(), options);

  EXPECT_FALSE(result.bar.exists());
  EXPECT_EQ(result.traffic, planned_traffic(problem.W, 12, options));
}

TEST(AgentsErrorBar, SeesStepsThatWereNotTaken) {
  const Problem problem = planted_problem(6, 200, 20, 3, 0.95, 85);
  for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm, Algorithm::deepca, Algorithm::adeepca})
    for (const Index iterations : {3, 8, 20}) {
      LocalNetwork net(problem.W);
      const auto result = decentralized_pca(
          net, problem.operators(),
          {.algorithm = algorithm, .rank = 3, .rounds = 40, .max_iterations = iterations, .tolerance = 1e-12});

      EXPECT_EQ(result.status, Status::iteration_limit);
      EXPECT_GE(result.bar.common, result.bar.spread);
      EXPECT_GE(2 * result.bar.sin_theta, worst_sine(problem.U, result)) << name(algorithm) << ' ' << iterations;
    }
}

TEST(AgentsErrorBar, IsTrueWhereMessagesGetLost) {
  const Problem problem = planted_problem(8, 300, 20, 3, 0.9, 86);
  for (const double loss : {0.05, 0.2}) {
    FaultyNetwork net(problem.W, {.links = {{.kind = LinkFault::Kind::loss, .probability = loss}}, .seed = 9});

    const auto result = decentralized_pca(
        net, problem.operators(), {.algorithm = Algorithm::adepm, .rank = 3, .rounds = 12, .max_iterations = 200});

    expect_true(result, problem.U, std::to_string(loss));
  }
}

TEST(AgentsErrorBar, IsThatOfTheMembersDataAfterACrash) {
  const Problem problem = planted_problem(7, 300, 16, 2, 0.8, 87);
  FaultyNetwork net(problem.W, {.agents = {{.kind = AgentFault::Kind::crash, .agent = 3, .iteration = 5}}});

  const auto result = decentralized_pca(net, problem.operators(),
                                        {.algorithm = Algorithm::adepm, .rank = 2, .rounds = 4, .max_iterations = 300});

  auto members = problem.operators();
  members.erase(members.begin() + 3);
  const auto eigen = dense_eigen<double>(SumOperator<double>(members, 1.0 / 6));
  ASSERT_EQ(result.contributors.size(), 6U);
  expect_true(result, eigen.vectors.leftCols(2), "six members");
}

TEST(AgentsErrorBar, OfOneAgentIsThatOfItsResidual) {
  const Problem problem = planted_problem(1, 100, 12, 2, 0.9, 88);
  LocalNetwork net(problem.W);

  const auto result =
      decentralized_pca(net, problem.operators(), {.algorithm = Algorithm::adepm, .rank = 2, .max_iterations = 4});

  EXPECT_LE(result.bar.spread, 1e-14);
  EXPECT_GE(2 * result.bar.sin_theta, worst_sine(problem.U, result));
}

TEST(AgentsErrorBar, OfTwoAgentsIsNoLessThanTheError) {
  const Problem problem = planted_problem(2, 100, 12, 2, 0.8, 89);
  const Block<double> W{{0.9, 0.1}, {0.1, 0.9}};  // one round of half and half would be exact
  LocalNetwork net(GossipMatrix::from(W));

  const auto result = decentralized_pca(
      net, problem.operators(),
      {.algorithm = Algorithm::depm, .rank = 2, .gossip = GossipKind::plain, .rounds = 12, .max_iterations = 3000});

  EXPECT_EQ(result.status, Status::noise_floor);
  expect_true(result, problem.U, "two");
}

TEST(AgentsErrorBar, IsZeroWhereTheAnswerIsAllOfSpace) {
  const Problem problem = planted_problem(4, 100, 5, 5, 0.8, 90);
  LocalNetwork net(problem.W);

  const auto result = decentralized_pca(net, problem.operators(),
                                        {.algorithm = Algorithm::adepm, .rank = 5, .rounds = 2, .max_iterations = 20});

  EXPECT_TRUE(!result.bar.exists() || result.bar.sin_theta <= 1e-14) << result.bar.sin_theta;
}

}  // namespace
}  // namespace hearsay

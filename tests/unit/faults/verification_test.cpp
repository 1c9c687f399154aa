// Where messages get lost nobody is believed: what the members tell each other before they say that they have
// converged.
#include <gtest/gtest.h>

#include <cmath>

#include "runs.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::crash;
using test::drop;
using test::loss;
using test::planted_problem;
using test::Problem;
using test::random_block;
using test::run;
using test::run_on;
using test::solution_of;
using test::worst_sine;

// 400 x 8 with lambda_3 = 4 lambda_4.
Problem clear_problem(Index agents, std::uint64_t seed) {
  Eigen::RowVectorXd scale(8);
  scale << 4, 3, 2, 1, 0.9, 0.8, 0.7, 0.6;
  Block<double> data = (random_block(400, 8, seed).array().rowwise() * scale.array()).matrix();
  Problem problem{
      .k = 3, .W = GossipMatrix::ring(agents), .shards = covariance_shards(data, even_split(400, agents, seed))};
  test::solve(problem);
  return problem;
}

// Each agent has features of its own, so that the leading eigenvectors of its data are eigenvectors of everyone's.
Problem foreign_problem(Index agents, Index d, Index k) {
  Block<double> data = random_block(40 * agents, d, 3);
  for (Index row = 0; row < data.rows(); ++row)
    for (Index j = 0; j < d; ++j) data(row, j) *= j % agents == row / 40 ? std::pow(0.8, static_cast<double>(j)) : 0;
  Problem problem{.k = k,
                  .W = GossipMatrix::metropolis(path_graph(agents)),
                  .shards = covariance_shards(data, contiguous_split(data.rows(), agents))};
  test::solve(problem);
  return problem;
}

TEST(AgentsThatHardlyHearEachOther, NeverSayThatTheyConvergedWhenTheyHaveNot) {
  for (const double lost : {0.8, 0.9, 0.95})
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Problem problem = clear_problem(4 + 2 * static_cast<Index>(seed % 3), seed);
      const auto result = run(problem, {.links = {loss(lost)}, .seed = seed}, {.max_iterations = 60});

      EXPECT_TRUE(result.status == Status::converged || result.status == Status::iteration_limit ||
                  result.status == Status::communication_failed)
          << name(result.status);
      if (result.status != Status::converged) continue;
      EXPECT_LE(worst_sine(problem, result), 1e-8) << lost << ' ' << seed;
      EXPECT_LE(result.agreement, 1e-8) << lost << ' ' << seed;
      EXPECT_EQ(result.evidence, Knowledge::bound);
      EXPECT_LE(result.verification.residual, 1e-10);
    }
}

TEST(AgentsThatHardlyHearEachOther, ReportHowFarApartTheyReallyAre) {
  const Problem problem = clear_problem(6, 1);

  const auto result = run(problem, {.links = {loss(0.9)}, .seed = 3},
                          {.algorithm = Algorithm::depm, .rounds = 2, .raise_rounds = false, .max_iterations = 20});

  EXPECT_EQ(result.status, Status::iteration_limit);
  ASSERT_GT(result.agreement, 1e-3);
  double apart = 0;
  for (Index i = 0; i < 6; ++i) {
    const auto& V = result.bases.front();
    const Vector<double> theta = result.eigenvalues.row(i).transpose();
    const Block<double> weighted = result.bases[static_cast<std::size_t>(i)] * theta.asDiagonal();
    apart = std::max(apart, (weighted - V * (V.transpose() * weighted)).norm() / theta.norm());
  }
  EXPECT_NEAR(result.disagreement, apart, 1e-9);
}

TEST(AgentsThatCannotHearEachOther, SayThatCommunicationFailed) {
  Problem problem = clear_problem(4, 2);
  problem.W = GossipMatrix::metropolis(path_graph(4));
  const LinkFault cut{.from = 1, .to = 2, .first_round = 40};

  const auto result = run(problem, {.links = {cut}, .give_up = 200}, {.max_iterations = 200});

  EXPECT_EQ(result.status, Status::communication_failed);
  EXPECT_EQ(result.evidence, Knowledge::unknown);
  EXPECT_TRUE(std::isnan(result.disagreement));
  ASSERT_FALSE(result.notes.empty());
  EXPECT_NE(result.notes.back().find("agent 0 has not heard of agent 2"), std::string::npos) << result.notes.back();
}

TEST(AVerifiedAnswer, IsOneBasisWithItsOwnResidualAndEigenvalues) {
  const Problem problem = planted_problem(8, 400, 30, 4, 0.8, 3);  // 120 numbers, of which 64 functionals are told

  const auto result = run(problem, {.links = {loss(0.3)}, .seed = 4}, {.tolerance = 1e-9});

  ASSERT_EQ(result.status, Status::converged);
  EXPECT_LE(result.agreement, 1e-14);
  for (const std::uint64_t digest : result.digests) EXPECT_EQ(digest, result.digests.front());
  EXPECT_EQ(result.evidence, Knowledge::bound);
  EXPECT_GT(result.verification.failure_probability, 0);
  EXPECT_LE(result.verification.failure_probability, 1e-5);
  const auto operators = problem.operators();
  const SumOperator<double> A(operators, 1.0 / 8);
  Block<double> AV(30, 4);
  A.apply(result.bases[5], AV);
  const auto& V = result.bases[5];
  EXPECT_LE((AV - V * (V.transpose() * AV)).norm() / AV.norm(), result.residual);
  EXPECT_LE((result.eigenvalues.row(2).transpose() - problem.eigenvalues.head(4)).norm(), 1e-8);
}

TEST(AVerifiedAnswer, CostsNothingWhereNoMessageWasLost) {
  const Problem problem = planted_problem(6, 300, 20, 3, 0.8, 6);

  const auto result = run(problem, {.links = {{.kind = LinkFault::Kind::delay, .probability = 0.3, .rounds_late = 1}}},
                          {.tolerance = 1e-9});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_EQ(result.verification.attempts, 0);
  EXPECT_EQ(result.evidence, Knowledge::estimate);
}

TEST(AgentsWithFeaturesOfTheirOwn, DoNotTakeOneInvariantSubspaceForTheLeadingOne) {
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adeepca}) {
      const Problem problem = foreign_problem(2 + static_cast<Index>(seed % 3), 9, 4);
      const auto result = run(problem, {.links = {loss(0.8)}, .seed = seed},
                              {.algorithm = algorithm, .max_iterations = 150, .tolerance = 1e-4, .seed = seed});

      if (result.status == Status::converged) {
        EXPECT_LE(worst_sine(problem, result), 2e-2) << seed << ' ' << name(algorithm);
      }
    }
}

TEST(AfterACrash, TheSurvivorsDoNotRestOnWhatWasTheAnswerOfAll) {
  const Problem problem = foreign_problem(3, 9, 2);
  for (const Algorithm algorithm : {Algorithm::depm, Algorithm::deepca, Algorithm::adepm, Algorithm::adeepca}) {
    const auto result =
        run(problem, {.agents = {crash(0, 60)}}, {.algorithm = algorithm, .max_iterations = 400, .tolerance = 1e-13});

    EXPECT_EQ(result.contributors.size(), 2u) << name(algorithm);
    EXPECT_LE(worst_sine(problem, result), 1e-6) << name(algorithm);
  }
}

TEST(RankDeficientData, OverLossyLinksAreAmbiguousToo) {
  const Block<double> data = random_block(120, 3, 21) * random_block(3, 8, 22);
  Problem problem{.k = 5, .W = GossipMatrix::ring(5), .shards = covariance_shards(data, even_split(120, 5, 1))};
  test::solve(problem);

  const auto result = run(problem, {.links = {loss(0.3)}, .seed = 2}, {});

  EXPECT_EQ(result.status, Status::ambiguous);
  EXPECT_EQ(result.defined_rank, 3);
  EXPECT_TRUE(result.cluster.zero);
  EXPECT_LE(sin_theta<double>(problem.U.leftCols(3), result.bases[2].leftCols(3)), 1e-9);
}

}  // namespace
}  // namespace hearsay

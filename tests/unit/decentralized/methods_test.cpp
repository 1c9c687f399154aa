// The four methods against a dense solution, and what each of them promises.
#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/error.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/threads.hpp>

#include "problems.hpp"

namespace hearsay {
namespace {

using test::planted_problem;
using test::Problem;

constexpr Algorithm algorithms[] = {Algorithm::depm, Algorithm::adepm, Algorithm::deepca, Algorithm::adeepca};

DecentralizedResult run(const Problem& problem, DecentralizedOptions options) {
  LocalNetwork net(problem.W);
  options.rank = problem.k;
  return decentralized_pca(net, problem.operators(), options, {.reference = &problem.U});
}

double worst_sine(const Problem& problem, const DecentralizedResult& result) {
  double worst = 0;
  for (const auto& basis : result.bases) worst = std::max(worst, sin_theta<double>(problem.U, basis));
  return worst;
}

TEST(DecentralizedPca, FindsTheSubspaceAtEveryAgentByEveryMethod) {
  const Problem problem = planted_problem(6, 300, 20, 4, 0.8, 1);

  for (const Algorithm algorithm : algorithms) {
    const auto result = run(problem, {.algorithm = algorithm, .tolerance = 1e-11});

    EXPECT_EQ(result.status, Status::converged) << name(algorithm);
    EXPECT_LE(worst_sine(problem, result), 1e-9) << name(algorithm);
    EXPECT_LE(result.agreement, 1e-9) << name(algorithm);
    for (Index i = 0; i < 6; ++i)
      EXPECT_LE((result.eigenvalues.row(i).transpose() - problem.eigenvalues.head(4)).norm(),
                1e-10 * problem.eigenvalues(0))
          << name(algorithm);
  }
}

TEST(DecentralizedPca, ReturnsOrthonormalEigenvectorsByDecreasingEigenvalue) {
  const Problem problem = planted_problem(5, 200, 15, 3, 0.8, 2);

  const auto result = run(problem, {.tolerance = 1e-11});

  for (const auto& V : result.bases) {
    EXPECT_LE((gram<double>(V, V) - Small<double>::Identity(3, 3)).norm(), 1e-13);
    for (Index j = 0; j < 3; ++j) EXPECT_LE(1 - std::abs(V.col(j).dot(problem.U.col(j))), 1e-9);
  }
}

TEST(TrackedMethods, ReachRoundingAtAFixedNumberOfRounds) {
  const Problem problem = planted_problem(6, 300, 20, 4, 0.8, 3);

  for (const Algorithm algorithm : {Algorithm::deepca, Algorithm::adeepca}) {
    const auto result = run(problem, {.algorithm = algorithm, .rounds = 6, .max_iterations = 400, .tolerance = 0});

    EXPECT_LE(worst_sine(problem, result), 1e-12) << name(algorithm);
    EXPECT_EQ(result.traffic.rounds, 6 * 400);
  }
}

TEST(TrackedMethods, ConserveTheMeanToRounding) {
  const Problem problem = planted_problem(7, 300, 20, 4, 0.8, 3);

  for (const Algorithm algorithm : {Algorithm::deepca, Algorithm::adeepca})
    EXPECT_LE(run(problem, {.algorithm = algorithm, .max_iterations = 100, .tolerance = 0}).conservation_error, 1e-12);
}

TEST(UntrackedMethods, EndAtFloorsThatMomentumDoesNotRaise) {
  const Problem problem = planted_problem(6, 300, 20, 4, 0.8, 4);

  for (const Index rounds : {6, 9}) {
    const auto floor = [&](Algorithm algorithm) {
      return worst_sine(problem, run(problem, {.algorithm = algorithm,
                                               .gossip = GossipKind::accelerated,
                                               .rounds = rounds,
                                               .max_iterations = 600,
                                               .tolerance = 0,
                                               .momentum = Momentum::optimal(problem.eigenvalues(4))}));
    };
    const double depm = floor(Algorithm::depm), adepm = floor(Algorithm::adepm);

    EXPECT_GE(depm, 1e-10);
    EXPECT_LE(adepm, 2 * depm);
    EXPECT_LE(depm, 2 * adepm);
  }
}

TEST(Momentum, SavesIterationsInBothFamilies) {
  const Problem problem = planted_problem(6, 400, 30, 3, 0.97, 5);
  const auto iterations = [&](Algorithm algorithm) {
    return run(problem, {.algorithm = algorithm, .rounds = 25, .max_iterations = 3000, .tolerance = 1e-8}).iterations;
  };

  EXPECT_LE(2 * iterations(Algorithm::adepm), iterations(Algorithm::depm));
  EXPECT_LE(2 * iterations(Algorithm::adeepca), iterations(Algorithm::deepca));
}

TEST(Momentum, ByThePapersRuleAndFixedConvergeAsWell) {
  const Problem problem = planted_problem(6, 300, 20, 4, 0.8, 6);

  for (const Momentum momentum : {Momentum::paper(), Momentum::optimal(problem.eigenvalues(4)),
                                  Momentum::fixed(0.2 * std::pow(problem.eigenvalues(4), 2))})
    for (const Algorithm algorithm : {Algorithm::adepm, Algorithm::adeepca}) {
      const auto result = run(problem, {.algorithm = algorithm, .tolerance = 1e-11, .momentum = momentum});

      EXPECT_EQ(result.status, Status::converged);
      EXPECT_EQ(result.damping, Damping::symmetric);
      EXPECT_LE(worst_sine(problem, result), 1e-9);
    }
}

TEST(DecentralizedPca, OfManyRoundsTakesTheStepsOfTheCentralisedMethod) {
  const Problem problem = planted_problem(6, 300, 20, 4, 0.9, 7);
  const auto operators = problem.operators();
  const SumOperator<double> A(operators, 1.0 / 6);
  const Momentum momentum = Momentum::optimal(problem.eigenvalues(4));
  const auto centralised = accelerated_power<double>(
      A, {.rank = 4, .momentum = momentum, .oversample = 0, .tolerance = 1e-15, .max_iterations = 12},
      {.reference = &problem.U});

  for (const Algorithm algorithm : {Algorithm::adepm, Algorithm::adeepca}) {
    const auto result = run(
        problem, {.algorithm = algorithm, .rounds = 60, .max_iterations = 12, .tolerance = 0, .momentum = momentum});
    for (std::size_t t = 0; t < 12; ++t)
      EXPECT_NEAR(result.history[t].sin_theta, centralised.history[t].sin_theta, 1e-9) << name(algorithm) << ' ' << t;
  }
}

TEST(DecentralizedPca, GivesTheSameDigestForAnyNumberOfThreads) {
  const Problem problem = planted_problem(40, 400, 40, 6, 0.9, 8);
  const int before = threads();
  std::vector<std::uint64_t> digests;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    digests.push_back(run(problem, {.max_iterations = 15, .tolerance = 0}).digest);
  }
  set_threads(before);

  EXPECT_EQ(digests[0], digests[1]);
  EXPECT_EQ(digests[0], digests[2]);
  EXPECT_NE(digests[0], run(problem, {.max_iterations = 15, .tolerance = 0, .seed = 1}).digest);
}

TEST(DecentralizedPca, CountsExactlyWhatItSent) {
  const Problem problem = planted_problem(6, 300, 20, 4, 0.8, 9);

  const auto result = run(problem, {.rounds = 5, .max_iterations = 11, .tolerance = 0});

  const Index block = 20 * 5;                      // d x (k + 1)
  const Index votes = 7, facts = 5, diameter = 3;  // numbers that come along, and that were agreed on at the start
  EXPECT_EQ(result.traffic.rounds, 55);
  EXPECT_EQ(result.traffic.control_rounds, diameter);
  EXPECT_EQ(result.traffic.messages, 12 * (55 + diameter));
  EXPECT_EQ(result.traffic.bytes, 12 * 8 * (55 * (block + votes) + diameter * facts));
}

TEST(WideBlock, IsNarrowedWithoutDisturbingWhatIsTracked) {
  const Problem problem = planted_problem(8, 600, 40, 5, 0.93, 11);

  const auto wide = run(problem, {.max_iterations = 150, .tolerance = 0});
  const auto narrow = run(problem, {.max_iterations = 150, .tolerance = 0, .oversample = 1});

  EXPECT_EQ(wide.columns_at_start, 10);
  EXPECT_EQ(wide.columns, 6);
  EXPECT_EQ(narrow.columns_at_start, 6);
  EXPECT_LE(wide.conservation_error, 1e-12);
  EXPECT_LE(worst_sine(problem, wide), 1e-12);
  EXPECT_LE(worst_sine(problem, narrow), 1e-12);
  const auto rounds_to = [](const DecentralizedResult& result, double sine) {
    for (const auto& entry : result.history)
      if (entry.sin_theta <= sine) return static_cast<double>(entry.rounds);
    return std::numeric_limits<double>::infinity();
  };
  EXPECT_LE(rounds_to(wide, 1e-2), 0.7 * rounds_to(narrow, 1e-2));
  EXPECT_LE(rounds_to(wide, 1e-8), rounds_to(narrow, 1e-8));
}

TEST(WideBlock, AsWideAsTheDataIsNotTrustedBeforeItIsNarrow) {
  for (const std::uint64_t seed : {13, 14, 15, 16, 17}) {
    const Problem problem = planted_problem(12, 120, 6, 3, 0.8, seed);

    const auto result = run(problem, {.tolerance = 1e-10});

    EXPECT_EQ(result.status, Status::converged);
    EXPECT_EQ(result.columns, 4);
    EXPECT_LE(worst_sine(problem, result), 1e-8) << seed;
  }
}

TEST(WideBlock, IsForTheMethodThatCanNarrowIt) {
  const Problem problem = planted_problem(4, 100, 20, 3, 0.8, 12);

  EXPECT_THROW(run(problem, {.algorithm = Algorithm::adepm, .oversample = 3}), InvalidArgument);
  EXPECT_THROW(run(problem, {.rounds = 5, .oversample = 3}), InvalidArgument);
  EXPECT_THROW(run(problem, {.oversample = 0}), InvalidArgument);
  EXPECT_THROW(run(problem, {.oversample = -2}), InvalidArgument);
}

TEST(BasisAgreement, BoundsTheLargestAngleAlsoBetweenManyAgents) {
  const Problem problem = planted_problem(80, 400, 10, 2, 0.8, 10);

  const auto result = run(problem, {.algorithm = Algorithm::depm, .rounds = 3, .max_iterations = 50, .tolerance = 0});
  double exact = 0;
  for (const auto& V : result.bases)
    for (const auto& other : result.bases) exact = std::max(exact, sin_theta<double>(V, other));

  EXPECT_GE(result.agreement, exact);
  EXPECT_LE(result.agreement, 2 * exact);
}

}  // namespace
}  // namespace hearsay

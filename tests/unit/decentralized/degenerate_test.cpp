// Awkward networks and data: one agent, an empty shard, nothing to find, nothing to damp.
#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/error.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/operators/stored.hpp>

#include <array>
#include <memory>
#include <new>

#include "problems.hpp"
#include "support/planted.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::planted_problem;
using test::planted_spectrum;
using test::Problem;
using test::random_block;

std::string refusal(const auto& call) {
  try {
    (void)call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

// What a rank without an agent sends on, and any result that was never run.
TEST(DecentralizedResult, HasNothingInItThatNobodyWrote) {
  alignas(DecentralizedResult) std::array<unsigned char, sizeof(DecentralizedResult)> memory;
  memory.fill(0x5a);

  auto* result = new (memory.data()) DecentralizedResult;

  EXPECT_EQ(result->rounds_per_iteration, 0);
  EXPECT_EQ(result->restarts, 0);
  std::destroy_at(result);
}

TEST(LonelyAgent, TakesTheStepsOfTheCentralisedMethodAndSendsNothing) {
  const auto planted = planted_spectrum({5, 4, 3.5, 1, 0.5, 0.2, 0.1, 0.05}, 1);
  const DenseSymmetric<double> A(planted.A);
  const Block<double> U = planted.top(2);
  const Momentum momentum = Momentum::fixed(2.5);
  const auto centralised = accelerated_power<double>(
      A, {.rank = 2, .momentum = momentum, .oversample = 0, .tolerance = 1e-15, .max_iterations = 10},
      {.reference = &U});

  for (const Algorithm algorithm : {Algorithm::adepm, Algorithm::adeepca}) {
    LocalNetwork net(GossipMatrix::ring(1));
    const std::vector<OperatorRef<double>> alone{A};
    const auto result = decentralized_pca(
        net, alone, {.algorithm = algorithm, .rank = 2, .max_iterations = 10, .tolerance = 0, .momentum = momentum},
        {.reference = &U});

    for (std::size_t t = 0; t < 10; ++t)
      EXPECT_NEAR(result.history[t].sin_theta, centralised.history[t].sin_theta, 1e-13) << t;
    EXPECT_EQ(result.traffic.messages, 0);
    EXPECT_EQ(result.traffic.rounds, 0);
  }
}

TEST(LonelyAgent, StopsAtItsTolerance) {
  const Problem problem = planted_problem(1, 100, 12, 3, 0.8, 2);
  LocalNetwork net(problem.W);

  const auto result = decentralized_pca(net, problem.operators(), {.rank = 3, .tolerance = 1e-10});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_LE(result.residual, 1e-10);
  EXPECT_LE(sin_theta<double>(problem.U, result.bases[0]), 1e-8);
}

TEST(EmptyShard, LeavesTheAnswerToTheOthers) {
  const Block<double> data = random_block(90, 10, 3) * random_block(10, 10, 4);
  Split split = contiguous_split(90, 3);
  split.emplace(split.begin() + 1);  // an agent without data between the others
  Problem problem{.k = 2, .W = GossipMatrix::ring(4), .shards = covariance_shards(data, split)};
  test::solve(problem);

  for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm, Algorithm::deepca, Algorithm::adeepca}) {
    LocalNetwork net(problem.W);
    const auto result =
        decentralized_pca(net, problem.operators(), {.algorithm = algorithm, .rank = 2, .tolerance = 1e-11});

    EXPECT_EQ(result.status, Status::converged) << name(algorithm);
    for (const auto& basis : result.bases) EXPECT_LE(sin_theta<double>(problem.U, basis), 1e-9) << name(algorithm);
  }
}

TEST(AgentsOfOneOperator, NeedOneRoundForTheyAgreeAlready) {
  const auto planted = planted_spectrum({4, 3, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.2}, 5);
  const DenseSymmetric<double> A(planted.A);
  const std::vector<OperatorRef<double>> same(5, A);
  LocalNetwork net(GossipMatrix::ring(5));

  const auto result = decentralized_pca(net, same, {.rank = 2, .tolerance = 1e-12});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_EQ(result.rounds_per_iteration, 1);
  EXPECT_LE(sin_theta<double>(planted.top(2), result.bases[3]), 1e-11);
}

TEST(RankEqualToTheDimension, IsNotDoneBeforeTheEigenvaluesAre) {
  const Problem problem = planted_problem(6, 90, 4, 4, 0.8, 7);
  for (const Algorithm algorithm : {Algorithm::depm, Algorithm::deepca, Algorithm::adeepca}) {
    LocalNetwork net(problem.W);
    const auto result = decentralized_pca(net, problem.operators(), {.algorithm = algorithm, .rank = 4});

    EXPECT_EQ(result.status, Status::converged) << name(algorithm);
    for (Index i = 0; i < 6; ++i)
      EXPECT_LE((result.eigenvalues.row(i).transpose() - problem.eigenvalues).norm(), 1e-8 * problem.eigenvalues(0))
          << name(algorithm);
  }
}

TEST(RankEqualToTheDimension, LeavesNothingToDamp) {
  const Problem problem = planted_problem(4, 60, 5, 5, 0.8, 6);
  LocalNetwork net(problem.W);

  const auto result = decentralized_pca(net, problem.operators(), {.rank = 5, .tolerance = 1e-10});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_EQ(result.columns, 5);
  EXPECT_EQ(result.momentum, 0);
}

TEST(ZeroMatrix, HasNoDirectionThatIsDefined) {
  const std::vector<Block<double>> tables(3, Block<double>::Zero(4, 6));
  const auto shards = covariance_shards(tables);
  LocalNetwork net(GossipMatrix::ring(3));

  const auto result = decentralized_pca(net, operators_of(shards), {.rank = 2, .max_iterations = 20});

  EXPECT_EQ(result.status, Status::ambiguous);
  EXPECT_EQ(result.defined_rank, 0);
  EXPECT_LE(result.eigenvalues.cwiseAbs().maxCoeff(), 0);
}

TEST(LowRankData, ConvergeAlthoughNoColumnIsLeftToEstimateBy) {
  const Block<double> data = random_block(60, 2, 7) * random_block(2, 9, 8);
  Problem problem{.k = 2, .W = GossipMatrix::ring(4), .shards = covariance_shards(data, contiguous_split(60, 4))};
  test::solve(problem);
  LocalNetwork net(problem.W);

  const auto result = decentralized_pca(net, problem.operators(), {.rank = 2, .tolerance = 1e-11});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_LE(sin_theta<double>(problem.U, result.bases[1]), 1e-9);
}

TEST(MoreComponentsThanTheDataHave, AreAmbiguousAndTheAgentsAgreeOnThoseTheyHave) {
  const Block<double> data = random_block(120, 4, 11) * random_block(4, 12, 12);
  Problem problem{.k = 4, .W = GossipMatrix::ring(8), .shards = covariance_shards(data, even_split(120, 8, 1))};
  test::solve(problem);
  for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm, Algorithm::deepca, Algorithm::adeepca}) {
    LocalNetwork net(problem.W);
    const auto result = decentralized_pca(net, problem.operators(), {.algorithm = algorithm, .rank = 6});

    EXPECT_EQ(result.status, Status::ambiguous) << name(algorithm);
    EXPECT_EQ(result.defined_rank, 4) << name(algorithm);
    EXPECT_EQ(result.cluster.first, 5) << name(algorithm);
    EXPECT_EQ(result.cluster.last, 12) << name(algorithm);
    EXPECT_LE(result.defined_agreement, 1e-9) << name(algorithm);
    for (Index i = 0; i < 8; ++i) {
      EXPECT_LE(sin_theta<double>(problem.U, result.bases[static_cast<std::size_t>(i)].leftCols(4)), 1e-9);
      EXPECT_LE((result.eigenvalues.row(i).transpose() - problem.eigenvalues.head(6)).norm(),
                1e-8 * problem.eigenvalues(0))
          << name(algorithm);
    }
    ASSERT_FALSE(result.notes.empty());
    EXPECT_NE(result.notes.back().find("eigenvectors 5 to 6 are not defined"), std::string::npos) << name(algorithm);
  }
}

TEST(EqualEigenvalues, ThatKCutsInTwoAreAmbiguousAndTheClusterIsNamed) {
  const auto planted = planted_spectrum({4, 3, 2, 2, 2, 0.5, 0.4, 0.3, 0.2, 0.1}, 6);
  const DenseSymmetric<double> A(planted.A);
  const std::vector<OperatorRef<double>> same(5, A);
  LocalNetwork net(GossipMatrix::ring(5));

  const auto result = decentralized_pca(net, same, {.rank = 3});
  const auto whole = decentralized_pca(net, same, {.rank = 5});

  EXPECT_EQ(result.status, Status::ambiguous);
  EXPECT_EQ(result.defined_rank, 2);
  EXPECT_EQ(result.cluster.first, 3);
  EXPECT_FALSE(result.cluster.zero);
  EXPECT_LE(sin_theta<double>(planted.top(2), result.bases[1].leftCols(2)), 1e-9);
  EXPECT_EQ(whole.status, Status::converged);
  EXPECT_EQ(whole.defined_rank, 5);
  EXPECT_EQ(whole.cluster.first, 0);
}

TEST(DecentralizedPca, RefusesOptionsThatDoNotFit) {
  const Problem problem = planted_problem(3, 60, 6, 2, 0.8, 9);
  LocalNetwork net(problem.W);
  const auto with = [&](DecentralizedOptions options) {
    return refusal([&] { return decentralized_pca(net, problem.operators(), options); });
  };

  EXPECT_EQ(with({.rank = 0}), "rank = 0: must lie in [1, 6]");
  EXPECT_EQ(with({.rank = 7}), "rank = 7: must lie in [1, 6]");
  EXPECT_EQ(with({.rank = 2, .rounds = 0}), "rounds = 0: must be at least 1, or automatic");
  EXPECT_EQ(with({.rank = 2, .max_iterations = 0}), "max_iterations = 0: must be at least 1");
  EXPECT_EQ(with({.rank = 2, .tolerance = std::nan("")}), "tolerance = nan: must be finite and not negative");
}

TEST(DecentralizedPca, RefusesAgentsWithoutAnOperatorOrOfAnotherDimension) {
  const Problem problem = planted_problem(3, 60, 6, 2, 0.8, 9), other = planted_problem(3, 60, 5, 2, 0.8, 9);
  LocalNetwork net(problem.W);
  auto operators = problem.operators();

  operators[1] = other.operators()[1];
  EXPECT_EQ(refusal([&] { return decentralized_pca(net, operators, {.rank = 2}); }),
            "agent 0 has dimension 6: must be the same everywhere, and others range from 5 to 6");
  operators.pop_back();
  EXPECT_EQ(refusal([&] { return decentralized_pca(net, operators, {.rank = 2}); }),
            "2 operators: must be 3, one for each agent here");
}

// Powers of two scale without rounding, so that the very bits of the bases must be those of ordinary data.
TEST(ExtremeData, HaveTheBasesOfOrdinaryDataAndTheirEigenvaluesTimesAPowerOfTwo) {
  const Block<double> data = random_block(60, 6, 21) * random_block(6, 6, 22);
  const Vector<double> mean = data.colwise().mean();
  const Split split = contiguous_split(60, 3);
  for (const auto precision : {MessagePrecision::real64, MessagePrecision::bfloat16})
    for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm, Algorithm::deepca, Algorithm::adeepca}) {
      const auto solve = [&](int exponent) {
        const double scale = std::ldexp(1.0, exponent);
        const Vector<double> offset = scale * mean;
        const auto shards = covariance_shards(scale * data, split, &offset);
        LocalNetwork net(GossipMatrix::ring(3), precision);
        return decentralized_pca(net, operators_of(shards),
                                 {.algorithm = algorithm, .rank = 2, .max_iterations = 60, .tolerance = 1e-8});
      };
      const auto ordinary = solve(0);
      for (const int exponent : {-1000, -500, 70, 500, 996, 1015}) {
        const auto result = solve(exponent);

        EXPECT_EQ(result.digest, ordinary.digest) << name(algorithm) << exponent;
        EXPECT_EQ(result.status, ordinary.status);
        EXPECT_EQ(result.exponent != 0, std::abs(exponent) > 500) << exponent;
        EXPECT_EQ(result.notes.size(), ordinary.notes.size() + (result.exponent != 0 ? 1 : 0));
        for (Index j = 0; j < 2; ++j)
          EXPECT_EQ(std::ldexp(result.eigenvalues(1, j), result.exponent - 2 * exponent), ordinary.eigenvalues(1, j));
      }
    }
}

TEST(ExtremeData, TakeTheirOwnMomentum) {
  const auto solve = [](double scale) {
    const auto shards = covariance_shards(scale * random_block(40, 5, 23), contiguous_split(40, 2));
    LocalNetwork net(GossipMatrix::ring(2));
    return decentralized_pca(
        net, operators_of(shards),
        {.rank = 1, .max_iterations = 10, .tolerance = 0, .momentum = Momentum::fixed(0.04 * std::pow(scale, 4))});
  };

  EXPECT_EQ(solve(0x1p200).digest, solve(1).digest);
  EXPECT_EQ(solve(0x1p200).momentum, std::ldexp(solve(1).momentum, 800));
}

TEST(ExtremeData, AreRefusedWhereNobodyScaledThemAndWhereAgentsScaledThemDifferently) {
  const Block<double> huge = Block<double>::Constant(3, 2, 1e300);
  const std::vector<CovarianceShard> unlike = {CovarianceShard(random_block(3, 2, 1), 1, 7),
                                               CovarianceShard(random_block(3, 2, 2), 1, 8)};
  LocalNetwork net(GossipMatrix::ring(2));

  EXPECT_THROW(CovarianceShard(huge, 1), DataError);
  EXPECT_EQ(refusal([&] { return decentralized_pca(net, operators_of(unlike), {.rank = 1}); }),
            "agent 0: its matrix is divided by 2^14: must be the same everywhere, and others range from 14 to 16");
}

TEST(FaultyOperator, ThatNeverGaveAFiniteProductLeavesNoEigenvalues) {
  const CallbackOperator<double> overflows(
      2, [](ConstBlockView<double>, BlockView<double> Y) { Y.setConstant(std::numeric_limits<double>::infinity()); });
  const std::vector<OperatorRef<double>> agents(3, overflows);
  for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm, Algorithm::deepca, Algorithm::adeepca}) {
    LocalNetwork net(GossipMatrix::ring(3));
    const auto result = decentralized_pca(net, agents, {.algorithm = algorithm, .rank = 1});

    EXPECT_EQ(result.status, Status::breakdown);
    EXPECT_TRUE(result.eigenvalues.array().isNaN().all());
    for (const auto& basis : result.bases) EXPECT_TRUE(basis.allFinite());
  }
}

TEST(FaultyOperator, EndsInABreakdownEverywhereAtOnce) {
  const Problem problem = planted_problem(4, 60, 6, 2, 0.8, 9);
  auto operators = problem.operators();
  Index products = 0;
  const CallbackOperator<double> faulty(6, [&](ConstBlockView<double> X, BlockView<double> Y) {
    problem.shards[2].apply(X, Y);
    if (++products > 5) Y(0, 0) = std::nan("");
  });
  operators[2] = faulty;
  LocalNetwork net(problem.W);

  const auto result = decentralized_pca(net, operators, {.rank = 2, .tolerance = 0});

  EXPECT_EQ(result.status, Status::breakdown);
  EXPECT_LE(result.iterations, 10);
  for (const auto& basis : result.bases) EXPECT_TRUE(basis.allFinite());
}

}  // namespace
}  // namespace hearsay

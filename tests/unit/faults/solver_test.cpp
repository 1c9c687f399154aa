// The answer under every kind of fault; and, beside it, what becomes of it when the fault is handled the obvious way.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/random.hpp>
#include <hearsay/threads.hpp>

#include "runs.hpp"
#include "support/reference.hpp"

namespace hearsay {
namespace {

using test::crash;
using test::delay;
using test::drop;
using test::loss;
using test::planted_problem;
using test::Problem;
using test::rejoin;
using test::run;
using test::run_on;
using test::solution_of;
using test::tracked_algorithms;
using test::worst_sine;

constexpr double tight = 1e-12;  // a tolerance that leaves sines of 1e-10 or less on these problems

// A network that passes everything on to a FaultyNetwork; what is changed in a test is what the solver is not told.
class Forwarding {
 public:
  Forwarding(const GossipMatrix& W, const Faults& faults) : net_(W, faults) {}

  Index agents() const { return net_.agents(); }
  Index local_agents() const { return net_.local_agents(); }
  Index agent(Index local) const { return net_.agent(local); }
  Index diameter() const { return net_.diameter(); }
  GossipSpectrum spectrum() const { return net_.spectrum(); }
  Traffic traffic() const { return net_.traffic(); }
  void mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out,
           BlockView<double> votes) {
    net_.mix(step, Z, Z_prev, out, votes);
  }
  std::optional<Epoch> begin_iteration(Index t) { return net_.begin_iteration(t); }
  void hand_over(BlockView<double> X) { net_.hand_over(X); }
  void begin_votes() { net_.begin_votes(); }
  void settle_votes(BlockView<double> votes) { net_.settle_votes(votes); }
  Reception reception(Index local) const { return net_.reception(local); }
  FaultCounts fault_counts() const { return net_.fault_counts(); }

 private:
  FaultyNetwork net_;
};

// The members change, and nobody starts afresh.
class WithoutEpochs : public Forwarding {
 public:
  using Forwarding::Forwarding;
  std::optional<Epoch> begin_iteration(Index t) {
    auto epoch = Forwarding::begin_iteration(t);
    return t == 0 ? epoch : std::nullopt;
  }
};

// Nobody notices what gossip does to the distances.
class WithoutGuard : public Forwarding {
 public:
  using Forwarding::Forwarding;
  Reception reception(Index) const { return {}; }
};

// Who does not get a block uses its own, or the last one it got, in its place; the sender knows nothing of it.
class Substituting {
 public:
  Substituting(const GossipMatrix& W, double loss, bool stale) : net_(W), loss_(loss), stale_(stale) {}

  Index agents() const { return net_.agents(); }
  Index local_agents() const { return net_.local_agents(); }
  Index agent(Index local) const { return net_.agent(local); }
  Index diameter() const { return net_.diameter(); }
  GossipSpectrum spectrum() const { return net_.spectrum(); }
  Traffic traffic() const { return net_.traffic(); }
  void mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out,
           BlockView<double> votes) {
    net_.mix(step, Z, Z_prev, out, votes);
    ++round_;
    if (Z.cols() == 0) return;
    const CsrMatrix<double>& W = net_.gossip_matrix().matrix();
    last_.resize(static_cast<std::size_t>(W.nonzeros()));
    for (Index i = 0; i < W.rows; ++i)
      for (auto e = W.row_start[static_cast<std::size_t>(i)]; e < W.row_start[static_cast<std::size_t>(i) + 1]; ++e) {
        const auto place = static_cast<std::size_t>(e);
        const Index j = W.columns[place];
        const RandomKey key{.seed = 1, .stream = Stream::test, .iteration = static_cast<std::uint32_t>(place)};
        if (i != j && random_uniform(key, round_) < loss_) {
          const bool own = !stale_ || last_[place].size() == 0;
          const Eigen::RowVectorXd used = own ? Eigen::RowVectorXd(Z.row(i)) : last_[place];
          out.row(i) += step.mixed * W.values[place] * (used - Z.row(j));
        } else {
          last_[place] = Z.row(j);
        }
      }
  }

 private:
  LocalNetwork net_;
  double loss_;
  bool stale_;
  std::uint64_t round_ = 0;
  std::vector<Eigen::RowVectorXd> last_;
};

// ---- Links ----------------------------------------------------------------------------------------------------------

TEST(DroppedLinks, LeaveTrackedMethodsExact) {
  const Problem problem = planted_problem(8, 400, 20, 4, 0.8, 1);
  for (const Algorithm algorithm : tracked_algorithms)
    for (const GossipKind gossip : {GossipKind::plain, GossipKind::accelerated, GossipKind::chebyshev}) {
      const auto result = run(problem, {.links = {drop(0.3)}, .seed = 4},
                              {.algorithm = algorithm, .gossip = gossip, .tolerance = tight});

      EXPECT_EQ(result.status, Status::converged) << name(algorithm) << ' ' << name(gossip);
      EXPECT_LE(worst_sine(problem, result), 1e-10) << name(algorithm) << ' ' << name(gossip);
      EXPECT_LE(result.conservation_error, 1e-12) << name(algorithm) << ' ' << name(gossip);
      EXPECT_GT(result.faults.drops, 0);
    }
}

TEST(DroppedLinks, AtAFixedNumberOfRoundsReachRounding) {
  const Problem problem = planted_problem(8, 400, 20, 4, 0.8, 1);

  const auto result = run(problem, {.links = {drop(0.3)}, .seed = 4},
                          {.gossip = GossipKind::accelerated, .rounds = 20, .max_iterations = 300, .tolerance = 0});

  EXPECT_LE(worst_sine(problem, result), 1e-12);
  EXPECT_EQ(result.faults.fallbacks, 0);
}

TEST(ALinkThatIsDownForGood, IsGossipedAround) {
  const Problem problem = planted_problem(8, 400, 20, 4, 0.8, 2);

  const auto result = run(problem, {.links = {{.from = 2, .to = 3}}}, {.tolerance = tight});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_LE(worst_sine(problem, result), 1e-10);
}

TEST(OneSidedLosses, LeaveTrackedMethodsExactAndSubstitutesForWhatIsLostDoNot) {
  const Problem problem = planted_problem(8, 400, 20, 4, 0.8, 3);
  for (const Algorithm algorithm : tracked_algorithms) {
    const DecentralizedOptions options{
        .algorithm = algorithm, .gossip = GossipKind::plain, .rounds = 60, .max_iterations = 300, .tolerance = 0};

    const auto result = run(problem, {.links = {loss(0.2)}, .seed = 4}, options);
    EXPECT_LE(worst_sine(problem, result), 1e-10) << name(algorithm);
    EXPECT_GT(result.faults.losses, 0);

    for (const bool stale : {false, true}) {
      Substituting net(problem.W, 0.2, stale);
      const auto biased = run_on(net, problem, options);
      EXPECT_GE(worst_sine(problem, biased), 1e-3) << name(algorithm) << (stale ? " stale" : " own");
    }
  }
}

TEST(LateMessages, ThatAreWaitedForChangeNothing) {
  const Problem problem = planted_problem(8, 400, 20, 4, 0.8, 5);

  const auto late = run(problem, {.links = {delay(0.2, 2)}, .patience = 2}, {.tolerance = tight});
  const auto prompt = run(problem, {}, {.tolerance = tight});

  EXPECT_EQ(late.digest, prompt.digest);
  EXPECT_GT(late.faults.waited_rounds, 0);
  EXPECT_EQ(late.faults.late, 0);
}

TEST(LateMessages, ThatAreNotWaitedForAreLosses) {
  const Problem problem = planted_problem(8, 400, 20, 4, 0.8, 5);

  const auto late = run(problem, {.links = {delay(0.2, 3)}, .patience = 2}, {.tolerance = tight});

  EXPECT_EQ(late.status, Status::converged);
  EXPECT_LE(worst_sine(problem, late), 1e-10);
  EXPECT_GT(late.faults.late, 0);
  EXPECT_EQ(late.faults.waited_rounds, 0);
}

TEST(UntrackedMethods, UnderDropsStillMeetTheToleranceWithAutomaticRounds) {
  const Problem problem = planted_problem(6, 300, 20, 3, 0.8, 6);
  for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm}) {
    const auto result = run(problem, {.links = {drop(0.2)}}, {.algorithm = algorithm, .tolerance = 1e-9});

    EXPECT_EQ(result.status, Status::converged) << name(algorithm);
    EXPECT_LE(worst_sine(problem, result), 1e-7) << name(algorithm);
  }
}

TEST(RoundedMessages, OverFailingLinksAreAsExact) {
  const Problem problem = planted_problem(8, 400, 20, 4, 0.8, 7);
  for (const MessagePrecision precision : {MessagePrecision::real32, MessagePrecision::bfloat16}) {
    FaultyNetwork net(problem.W, {.links = {drop(0.2), loss(0.1)}, .agents = {crash(3, 10)}}, precision);

    const auto result = run_on(net, problem, {.tolerance = tight});

    EXPECT_EQ(result.status, Status::converged) << name(precision);
    EXPECT_LE(worst_sine(problem, result), 1e-10) << name(precision);
    EXPECT_GT(result.message_noise.largest, 0);
  }
}

// ---- The guard ------------------------------------------------------------------------------------------------------

TEST(GossipThatDrivesAgentsApart, IsPlainUntilRoundsAreCleanAndThenReachesTheAnswer) {
  const Problem problem = planted_problem(32, 1600, 16, 3, 0.7, 8);
  const Faults half{.links = {drop(0.5)}, .seed = 1};
  for (const Algorithm algorithm : tracked_algorithms)
    for (const std::optional<Index> rounds : {std::optional<Index>(), std::optional<Index>(100)}) {
      const DecentralizedOptions options{
          .algorithm = algorithm, .rounds = rounds, .max_iterations = 400, .tolerance = tight};

      const auto result = run(problem, half, options);
      EXPECT_EQ(result.status, Status::converged) << name(algorithm) << ' ' << rounds.value_or(0);
      EXPECT_LE(worst_sine(problem, result), 1e-10) << name(algorithm) << ' ' << rounds.value_or(0);
      EXPECT_EQ(result.faults.fallbacks, 2)
          << name(algorithm) << ' ' << rounds.value_or(0);  // to accelerated, then to plain

      WithoutGuard net(problem.W, half);  // whose agents may even believe that they have converged
      const auto unguarded = run_on(net, problem, options);
      EXPECT_GE(worst_sine(problem, unguarded), 0.1) << name(algorithm) << ' ' << rounds.value_or(0);
    }
}

TEST(GossipThatDrivesAgentsApart, IsAcceleratedAgainWhenRoundsAreClean) {
  const Problem problem = planted_problem(32, 1600, 16, 3, 0.9, 8);
  const Faults for_a_while{.links = {{.probability = 0.5, .last_round = 2000}}, .seed = 1};
  const DecentralizedOptions options{.max_iterations = 400, .tolerance = tight};

  const auto result = run(problem, for_a_while, options);
  const auto for_ever = run(problem, {.links = {drop(0.5)}, .seed = 1}, options);

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_LE(worst_sine(problem, result), 1e-10);
  EXPECT_GE(result.faults.fallbacks, 1);
  EXPECT_LE(2 * result.rounds_per_iteration, for_ever.rounds_per_iteration);
}

TEST(Drops, OnAWellConnectedNetworkLeaveGossipAccelerated) {
  Problem problem = planted_problem(24, 1200, 16, 3, 0.8, 9);
  problem.W = GossipMatrix::metropolis(random_regular_graph(24, 6, 1));

  const auto result = run(problem, {.links = {drop(0.1)}}, {.tolerance = tight});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_LE(worst_sine(problem, result), 1e-10);
  EXPECT_EQ(result.faults.fallbacks, 0);
}

// ---- Agents ---------------------------------------------------------------------------------------------------------

TEST(AfterACrash, TheAnswerIsThatOfTheSurvivorsAndWithoutANewEpochItIsNobodys) {
  const Problem problem = planted_problem(8, 400, 20, 4, 0.8, 10);
  const std::vector<Index> survivors{0, 1, 2, 3, 5, 6, 7};
  const Faults faults{.agents = {crash(4, 12)}};
  for (const Algorithm algorithm : tracked_algorithms) {
    const DecentralizedOptions options{
        .algorithm = algorithm, .rounds = 40, .raise_rounds = false, .max_iterations = 300, .tolerance = 0};

    const auto result = run(problem, faults, options);
    EXPECT_EQ(result.contributors, survivors);
    EXPECT_LE(worst_sine(problem, result), 1e-12) << name(algorithm);

    WithoutEpochs net(problem.W, faults);
    const auto wrong = run_on(net, problem, options);
    EXPECT_GE(worst_sine(problem, wrong, survivors), 1e-3) << name(algorithm);
    double from_everyones = 1;
    for (const Index i : survivors)
      from_everyones = std::min(from_everyones, sin_theta<double>(problem.U, wrong.bases[static_cast<std::size_t>(i)]));
    EXPECT_GE(from_everyones, 1e-3) << name(algorithm);
  }
}

TEST(AfterACrash, TheResultNamesContributorsAndEpochsAndHasNothingOfTheDead) {
  const Problem problem = planted_problem(6, 300, 20, 3, 0.8, 11);

  const auto result = run(problem, {.agents = {crash(4, 12)}}, {.tolerance = tight});

  ASSERT_EQ(result.epochs.size(), 2u);
  EXPECT_EQ(result.epochs[0].reason, "start");
  EXPECT_EQ(result.epochs[0].members.size(), 6u);
  EXPECT_EQ(result.epochs[1].iteration, 12);
  EXPECT_EQ(result.epochs[1].reason, "agent 4 crashed");
  EXPECT_EQ(result.epochs[1].members, result.contributors);
  EXPECT_EQ(result.contributors, (std::vector<Index>{0, 1, 2, 3, 5}));
  EXPECT_EQ(result.faults.crashes, 1);
  EXPECT_EQ(result.bases[4].size(), 0);
  EXPECT_TRUE(result.eigenvalues.row(4).array().isNaN().all());
  EXPECT_EQ(result.bases[5].cols(), 3);
}

TEST(Eigenvalues, AreOfTheContributorsAverageAndOfTheirCovarianceByTheScale) {
  const Problem problem = planted_problem(7, 300, 20, 3, 0.8, 12);  // 300 rows: shards of unequal sizes

  const auto result = run(problem, {.agents = {crash(2, 8), crash(3, 8)}}, {.tolerance = tight});

  const Vector<double> average = solution_of(problem, result.contributors).values.head(3);
  Block<double> covariance = Block<double>::Zero(20, 20), A(20, 20);
  Index samples = 0;
  for (const Index i : result.contributors) {
    const CovarianceShard& shard = problem.shards[static_cast<std::size_t>(i)];
    shard.apply(Block<double>::Identity(20, 20), A);  // (7/300) Phi_i'Phi_i
    covariance += A * (300.0 / 7);
    samples += shard.samples();
  }
  covariance /= static_cast<double>(samples);
  const Vector<double> values = test::reference_eigenvalues<double>(covariance);
  const double scale = covariance_scale(problem.shards, result.contributors);
  for (const Index i : result.contributors) {
    EXPECT_LE((result.eigenvalues.row(i).transpose() - average).norm(), 1e-9 * average(0));
    EXPECT_LE((scale * result.eigenvalues.row(i).transpose() - values.tail(3).reverse()).norm(), 1e-9 * values(19));
  }
  EXPECT_EQ(covariance_scale(problem.shards, std::vector<Index>{0, 1, 2, 3, 4, 5, 6}), 1);
  EXPECT_EQ(covariance_scale(problem.shards, std::vector<Index>{0, 1, 2, 3, 4, 5, 6}, true), 1);
  EXPECT_DOUBLE_EQ(covariance_scale(problem.shards, result.contributors, true),
                   5.0 / 7 * 299 / static_cast<double>(samples - 1));
  EXPECT_EQ(covariance_scale(problem.shards, std::vector<Index>{}), 0);
  EXPECT_THROW(covariance_scale(problem.shards, std::vector<Index>{7}), InvalidArgument);
}

TEST(AfterARejoin, TheAnswerIsThatOfEveryone) {
  const Problem problem = planted_problem(8, 400, 20, 4, 0.8, 13);
  for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm, Algorithm::deepca, Algorithm::adeepca}) {
    const auto result =
        run(problem, {.agents = {crash(4, 12), rejoin(4, 25)}}, {.algorithm = algorithm, .tolerance = tight});

    EXPECT_EQ(result.status, Status::converged) << name(algorithm);
    EXPECT_EQ(result.contributors.size(), 8u);
    EXPECT_LE(worst_sine(problem, result), 1e-10) << name(algorithm);
    EXPECT_EQ(result.epochs.size(), 3u);
    EXPECT_EQ(result.faults.rejoins, 1);
  }
}

TEST(AfterACrashThatSplitsTheNetwork, TheLargestGroupGoesOn) {
  Problem problem = planted_problem(9, 450, 20, 3, 0.8, 14);
  problem.W = GossipMatrix::metropolis(path_graph(9));

  const auto result = run(problem, {.agents = {crash(3, 10), rejoin(3, 20), crash(6, 10)}}, {.tolerance = tight});
  EXPECT_EQ(result.contributors, (std::vector<Index>{0, 1, 2, 3, 4, 5}));
  EXPECT_LE(worst_sine(problem, result), 1e-10);
  EXPECT_EQ(result.epochs[1].members, (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(result.faults.cut_off, 4 + 2);

  EXPECT_THROW(run(problem, {.agents = {crash(3, 10)}, .quorum = 6}, {.tolerance = tight}), CommunicationError);
}

TEST(TheLastAgentLeft, FindsTheSubspaceOfItsOwnData) {
  const Problem problem = planted_problem(3, 300, 12, 2, 0.7, 15);

  const auto result = run(problem, {.agents = {crash(0, 5), crash(2, 9)}}, {.tolerance = tight});

  EXPECT_EQ(result.status, Status::converged);
  EXPECT_EQ(result.contributors, std::vector<Index>{1});
  EXPECT_LE(worst_sine(problem, result), 1e-10);
}

TEST(EverythingAtOnce, LeavesTheAnswerRight) {
  Problem problem = planted_problem(12, 600, 20, 4, 0.8, 16);
  problem.W = GossipMatrix::metropolis(random_regular_graph(12, 4, 1));
  const Faults faults{.links = {drop(0.1), loss(0.1), delay(0.1, 1), delay(0.05, 5)},
                      .agents = {crash(3, 5), crash(7, 9), rejoin(3, 20)},
                      .seed = 9};
  for (const Algorithm algorithm : tracked_algorithms) {
    const auto result = run(problem, faults, {.algorithm = algorithm, .tolerance = tight});

    EXPECT_EQ(result.status, Status::converged) << name(algorithm);
    EXPECT_EQ(result.contributors.size(), 11u);
    EXPECT_LE(worst_sine(problem, result), 1e-10) << name(algorithm);
  }
}

// ---- Runs -----------------------------------------------------------------------------------------------------------

TEST(AFaultyRun, GivesTheSameDigestEveryTimeAndForAnyNumberOfThreads) {
  const Problem problem = planted_problem(40, 400, 40, 6, 0.9, 17);
  FaultyNetwork net(problem.W, {.links = {drop(0.2), loss(0.1)}, .agents = {crash(5, 4), rejoin(5, 9)}, .seed = 2});
  const DecentralizedOptions options{.max_iterations = 15, .tolerance = 0};
  const int before = threads();
  std::vector<DecentralizedResult> results;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    results.push_back(run_on(net, problem, options));
  }
  set_threads(before);

  for (const auto& result : results) {
    EXPECT_EQ(result.digest, results[0].digest);
    EXPECT_EQ(result.traffic, results[0].traffic);
    EXPECT_EQ(result.faults, results[0].faults);
  }
  EXPECT_NE(run(problem, {.links = {drop(0.2)}, .seed = 3}, options).digest,
            run(problem, {.links = {drop(0.2)}, .seed = 4}, options).digest);
}

TEST(AFaultyNetwork, WithoutFaultsGivesTheDigestOfALocalOne) {
  const Problem problem = planted_problem(8, 400, 20, 4, 0.8, 18);
  LocalNetwork local(problem.W);

  const DecentralizedOptions options{.max_iterations = 40, .tolerance = 0, .oversample = 1};
  const auto result = run(problem, {}, options);
  const auto reference = run_on(local, problem, options);

  EXPECT_EQ(result.digest, reference.digest);
  EXPECT_EQ(result.traffic.rounds, reference.traffic.rounds);
  EXPECT_EQ(result.residual, reference.residual);
  EXPECT_EQ(reference.faults, FaultCounts{});
  EXPECT_EQ(reference.contributors.size(), 8u);
  ASSERT_EQ(reference.epochs.size(), 1u);
}

TEST(AFaultyRun, ThatSaysItConvergedHasWhateverTheNetworkAndTheFaults) {
  std::vector<GossipMatrix> networks{GossipMatrix::ring(12), GossipMatrix::metropolis(path_graph(7)),
                                     GossipMatrix::metropolis(star_graph(8)),
                                     GossipMatrix::metropolis(random_regular_graph(16, 4, 1))};
  for (const GossipMatrix& W : networks) {
    Problem problem = planted_problem(W.agents(), 40 * W.agents(), 12, 2, 0.8, 20);
    problem.W = W;
    for (const double probability : {0.05, 0.5})
      for (const Faults& faults :
           {Faults{.links = {drop(probability)}}, Faults{.links = {loss(probability / 2)}},
            Faults{.links = {drop(probability)}, .agents = {crash(2, 6), rejoin(2, 14)}},
            Faults{.links = {{.probability = probability, .first_round = 50, .last_round = 300}}}})
        for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm, Algorithm::deepca, Algorithm::adeepca}) {
          const auto result = run(problem, faults, {.algorithm = algorithm, .max_iterations = 300, .tolerance = 1e-9});

          EXPECT_EQ(result.status, Status::converged) << W.agents() << ' ' << name(algorithm) << ' ' << probability;
          EXPECT_LE(worst_sine(problem, result), 2e-8) << W.agents() << ' ' << name(algorithm) << ' ' << probability;
        }
  }
}

TEST(WhereMessagesGetLost, TheResidualIsOfExactlyTheBasesReturned) {
  const Problem problem = planted_problem(9, 450, 16, 3, 0.8, 21);
  const auto operators = problem.operators();
  const SumOperator<double> A(operators, 1.0 / 9);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto result = run(problem, {.links = {loss(0.2)}, .seed = seed},
                            {.algorithm = Algorithm::adepm, .tolerance = 1e-8, .seed = seed});

    ASSERT_EQ(result.status, Status::converged);
    EXPECT_LE(result.residual, 1e-8);
    for (const auto& V : result.bases) {
      Block<double> AV(16, 3);
      A.apply(V, AV);
      EXPECT_LE((AV - V * (V.transpose() * AV)).norm() / AV.norm(), result.residual + result.disagreement) << seed;
    }
  }
}

TEST(AnObserver, StopsEveryoneTogetherAlsoUnderDrops) {
  const Problem problem = planted_problem(12, 300, 20, 3, 0.9, 19);
  FaultyNetwork net(problem.W, {.links = {drop(0.5)}});

  const auto result = decentralized_pca(net, problem.operators(), {.rank = 3, .rounds = 2, .tolerance = 0},
                                        {.observe = [](const DecentralizedEntry& entry) { return entry.t < 7; }});

  EXPECT_EQ(result.status, Status::stopped_by_observer);
  EXPECT_LE(result.iterations, 8 + 2 * 3);  // as without drops: the votes take more rounds, the iterations do not
  EXPECT_GT(result.traffic.control_rounds, 0);
}

}  // namespace
}  // namespace hearsay

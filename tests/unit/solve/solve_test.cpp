#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/graph_tools.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/solve.hpp>
#include <hearsay/subspace.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

#include "support/planted.hpp"
#include "unit/solve/kept_states.hpp"

namespace hearsay {
namespace {

const test::Planted& problem() {
  static const test::Planted planted = test::planted_spectrum(test::paper_spectrum(120, 3, 0.2), 1);
  return planted;
}

Request asking_for(Index rank) {
  Request request;
  request.settings.power.rank = rank;
  return request;
}

template <class S>
double sine(const PowerResult<S>& result) {
  return test::reference_sin_theta(problem().top(3), result.basis.template cast<double>());
}

bool any_note(const std::vector<std::string>& notes, std::string_view text) {
  return std::any_of(notes.begin(), notes.end(), [&](const auto& note) { return note.find(text) != note.npos; });
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Solve, IsTheSolverWithTheSameOptions) {
  const DenseSymmetric<double> A(problem().A);
  const auto plain = principal_subspace<double>(A, {.rank = 3});
  const auto solved = solve<double>(A, asking_for(3));

  EXPECT_EQ(solved.power.basis, plain.basis);
  EXPECT_EQ(solved.power.eigenvalues, plain.eigenvalues);
  EXPECT_FALSE(solved.audit);
  EXPECT_GT(solved.seconds, 0);
}

TEST(Solve, TakesAShiftBackFromTheEigenvalues) {
  const Block<double> A = problem().A - 2 * Block<double>::Identity(120, 120);  // eigenvalues in [-1.5, -1]

  const auto solved = solve_matrix<double>(borrow(A), asking_for(3), {.shift = 2, .positive_semidefinite = true});

  EXPECT_EQ(solved.power.status, Status::converged);
  EXPECT_LE(sine(solved.power), 1e-8);
  for (Index j = 0; j < 3; ++j) EXPECT_NEAR(solved.power.eigenvalues(j), -1, 1e-12);
  EXPECT_LE(solved.power.certificate.nothing_missed_above, -1 + 1e-3);
  EXPECT_TRUE(any_note(solved.power.notes, "shift: A + 2 I was solved"));
}

TEST(Solve, MeetsEachPrecisionInItsOwnWay) {
  Request request = asking_for(3);
  request.settings.precision = Precision::single;
  const auto single = solve_matrix<double>(borrow(problem().A), request);
  request.settings.precision = Precision::mixed;
  const auto mixed = solve_matrix<double>(borrow(problem().A), request);

  EXPECT_EQ(single.power.status, Status::converged);
  EXPECT_GT(sine(single.power), 1e-8);
  EXPECT_LE(sine(single.power), 1e-3);
  EXPECT_EQ(mixed.power.status, Status::converged);
  EXPECT_LE(sine(mixed.power), 1e-8);
  EXPECT_TRUE(any_note(mixed.power.notes, "mixed precision: "));
}

TEST(Solve, OfASparseMatrixIsThatOfTheDenseOne) {
  CsrMatrix<double> A{.rows = 60, .cols = 60};
  for (Index i = 0; i < 60; ++i) {
    A.columns.push_back(static_cast<std::int32_t>(i));
    A.values.push_back(1.0 / static_cast<double>(1 + i));
    A.row_start.push_back(i + 1);
  }
  for (const Precision precision : {Precision::full, Precision::single, Precision::mixed}) {
    Request request = asking_for(2);
    request.settings.precision = precision;
    const auto solved = solve_matrix<double>(borrow(A), request);
    EXPECT_EQ(solved.power.status, Status::converged);
    EXPECT_NEAR(solved.power.eigenvalues(0), 1, 1e-6);
    EXPECT_NEAR(solved.power.eigenvalues(1), 0.5, 1e-6);
  }
}

TEST(Solve, ObservesEveryArithmeticThatItUses) {
  Request request = asking_for(3);
  request.settings.precision = Precision::mixed;
  Index singles = 0, doubles = 0;
  request.observe_single = [&](const Iteration<float>&) { return ++singles > 0; };
  request.observe = [&](const Iteration<double>& now) {
    EXPECT_EQ(now.basis.cols(), 3);
    return ++doubles > 0;
  };
  const auto solved = solve_matrix<double>(borrow(problem().A), request);
  EXPECT_EQ(solved.power.status, Status::converged);
  EXPECT_GT(singles, 1);
  EXPECT_GE(doubles, 1);

  request.observe_with([](const auto&) { return false; });
  EXPECT_EQ(solve_matrix<double>(borrow(problem().A), request).power.status, Status::stopped_by_observer);
}

TEST(Solve, AddsNoiseByNameAsTheOperatorWould) {
  Request request = asking_for(3);
  request.settings.noise = {NoiseChoice::Kind::gaussian, 1e-5};
  request.settings.noise_seed = 7;
  const DenseSymmetric<double> A(problem().A);

  const auto solved = solve<double>(A, request);
  const auto by_hand = principal_subspace<double>(noisy(A, gaussian_noise<double>(1e-5, 7)), {.rank = 3});

  EXPECT_EQ(solved.power.status, Status::noise_floor);
  EXPECT_EQ(solved.power.basis, by_hand.basis);
}

TEST(Solve, TakesANoiseModelOfTheCallersOwn) {
  Request request = asking_for(3);
  Index calls = 0;
  request.noise =
      NoiseModels{.in_double = {"mine", 0, [&](std::uint64_t, ConstBlockView<double>, BlockView<double> Xi) {
                                  ++calls;
                                  Xi.setZero();
                                }}};
  const auto solved = solve_matrix<double>(borrow(problem().A), request);
  EXPECT_GT(calls, 3);
  EXPECT_LE(sine(solved.power), 1e-6);
}

TEST(Solve, KnowsTheSpectrumForAnOptimalMomentumAndAnAdversary) {
  Request request = asking_for(3);
  request.settings.optimal_momentum = true;
  request.settings.noise = {NoiseChoice::Kind::adversarial, 1e-6};

  const auto solved = solve_matrix<double>(borrow(problem().A), request);

  EXPECT_NEAR(solved.power.momentum, 0.8 * 0.8 / 4, 1e-9);  // lambda_(k+1)^2 / 4
  EXPECT_TRUE(any_note(solved.power.notes, "optimal momentum: lambda_(k+1) = 0.8"));
  EXPECT_LE(sine(solved.power), 1e-4);
}

TEST(Solve, AuditsARunAgainstTheTheory) {
  Request request = asking_for(3);
  request.audit = 0.01;
  request.settings.power.momentum = Momentum::optimal(0.8);
  request.settings.noise = {NoiseChoice::Kind::gaussian, 1e-6};

  const auto solved = solve_matrix<double>(borrow(problem().A), request);

  ASSERT_TRUE(solved.audit);
  EXPECT_EQ(solved.power.method, SolveMethod::anpm);
  EXPECT_FALSE(std::isnan(solved.power.history.front().sin_theta)) << "the exact answer is the reference";
}

TEST(Solve, GoesOnInMixedPrecisionFromAStateToTheSameBits) {
  Request request = asking_for(3);
  request.settings.precision = Precision::mixed;
  request.settings.noise = {NoiseChoice::Kind::gaussian, 1e-7};
  test::KeptStates kept;
  request.checkpoints = &kept;
  request.checkpoint_every = 2;
  const auto whole = solve_matrix<double>(borrow(problem().A), request);
  ASSERT_FALSE(kept.doubles.empty());
  EXPECT_TRUE(kept.floats.empty()) << "the part in double precision alone saves its state";

  test::KeptStates again;
  again.resume = kept.doubles.front();
  request.checkpoints = &again;
  const auto resumed = solve_matrix<double>(borrow(problem().A), request);
  EXPECT_EQ(resumed.power.basis, whole.power.basis);
  EXPECT_EQ(resumed.power.status, whole.power.status);
}

TEST(Solve, OutlivesACheckpointThatCannotBeWritten) {
  Request request = asking_for(3);
  test::KeptStates kept;
  kept.full = true;
  request.checkpoints = &kept;
  request.checkpoint_every = 1;
  std::vector<std::string> warnings;
  request.warn = [&](const std::string& message) { warnings.push_back(message); };

  const auto solved = solve_matrix<double>(borrow(problem().A), request);

  EXPECT_EQ(solved.power.status, Status::converged);
  ASSERT_EQ(warnings.size(), 1U) << "told once";
  EXPECT_NE(warnings[0].find("checkpoint: not written at iteration "), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[0].find("no space left"), std::string::npos) << warnings[0];
  EXPECT_TRUE(any_note(solved.power.notes, warnings[0]));
}

TEST(Solve, RefusesWhatDoesNotGoTogether) {
  Request request = asking_for(3);
  request.settings.precision = Precision::mixed;
  request.audit = 0.1;
  EXPECT_EQ(message_of([&] { check(request); }), "precision = mixed: takes no `audit`, which follows one arithmetic");
  request.audit.reset();
  EXPECT_EQ(message_of([&] { (void)solve<double>(DenseSymmetric<double>(problem().A), request); }),
            "precision = mixed: needs the matrix in double and in single precision");
  request.settings.precision = Precision::full;
  request.reference = Block<double>::Zero(7, 3);
  EXPECT_EQ(message_of([&] { (void)solve_matrix<double>(borrow(problem().A), request); }),
            "reference: is 7 x 3, but must have 120 rows, and 3 columns or more");
  request.reference.reset();
  request.settings.power.rank = 121;
  EXPECT_EQ(message_of([&] { (void)solve_matrix<double>(borrow(problem().A), request); }),
            "rank = 121: must lie in [1, 120]");
  request.checkpoint_every = 0;
  EXPECT_EQ(message_of([&] { check(request); }), "checkpoint-every = 0: must be at least 1");
}

TEST(Solve, RefusesToNeedEigenvectorsThatNobodyComputes) {
  const CallbackOperator<double> A(6000, [](ConstBlockView<double> X, BlockView<double> Y) { Y = X; });
  Request request = asking_for(2);
  request.settings.noise = {NoiseChoice::Kind::adversarial, 1e-3};
  EXPECT_NE(message_of([&] { (void)solve<double>(A, request); }).find("up to dimension 5000 only; this one has 6000"),
            std::string::npos);
}

TEST(SolveGraph, FindsTheComponentsOfAGraphInEveryPrecision) {
  Graph graph{.nodes = 9, .edges = {}};
  for (std::int32_t part = 0; part < 3; ++part)  // three triangles
    for (const auto& [a, b] : {std::pair{0, 1}, {0, 2}, {1, 2}}) graph.edges.push_back({3 * part + a, 3 * part + b});
  for (const Precision precision : {Precision::full, Precision::single, Precision::mixed}) {
    Request request = asking_for(3);
    request.settings.precision = precision;
    const auto solved = solve_graph(graph, request);
    const Block<double> embedding = unit_rows(solved.power.basis);
    for (Index j = 0; j < 3; ++j) EXPECT_NEAR(solved.power.eigenvalues(j), 2, 1e-5);
    for (Index i = 0; i < 9; ++i)
      for (Index j = 0; j < 9; ++j)
        EXPECT_NEAR(embedding.row(i).dot(embedding.row(j)), i / 3 == j / 3 ? 1 : 0, 1e-4) << i << " " << j;
  }
}

TEST(UnitRows, LeaveARowOfZerosAlone) {
  Block<double> rows(2, 2);
  rows << 3, 4, 0, 0;
  const Block<double> unit = unit_rows(rows);
  EXPECT_EQ(unit(0, 0), 0.6);
  EXPECT_EQ(unit(0, 1), 0.8);
  EXPECT_EQ(unit.row(1).norm(), 0);
}

}  // namespace
}  // namespace hearsay

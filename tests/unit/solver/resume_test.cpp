// A resumed solve is the uninterrupted one, to the last bit; a damaged checkpoint is refused.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/io/checkpoint.hpp>
#include <hearsay/io/file.hpp>
#include <hearsay/noise.hpp>
#include <hearsay/operators/covariance.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>

#include <fstream>
#include <limits>

#include "support/planted.hpp"
#include "support/random_block.hpp"
#include "support/temp_dir.hpp"

namespace hearsay {
namespace {

const test::Planted& resume_problem() {
  static const test::Planted planted = test::planted_spectrum(test::paper_spectrum(150, 4, 0.02), 1);
  return planted;
}

template <class S>
void expect_identical(const PowerResult<S>& a, const PowerResult<S>& b) {
  EXPECT_EQ(a.basis, b.basis);
  EXPECT_EQ(a.eigenvalues, b.eigenvalues);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.residual, b.residual);
  EXPECT_EQ(a.products, b.products);
  ASSERT_EQ(a.history.size(), b.history.size());
  for (std::size_t i = 0; i < a.history.size(); ++i) EXPECT_EQ(a.history[i].residual, b.history[i].residual);
}

// Runs once through, saving every `every` iterations to files, then resumes from each of them with a fresh operator.
template <class S, class MakeOperator>
void expect_every_checkpoint_resumes(const MakeOperator& make_operator, const PowerOptions& options, Index every) {
  const test::TempDir directory;
  std::vector<std::filesystem::path> files;
  Hooks<S> saving;
  saving.checkpoint_every = every;
  saving.checkpoint = [&](const PowerState<S>& state) {
    files.push_back(directory.path() / ("t" + std::to_string(state.t)));
    io::write_checkpoint<S>(files.back(), state, "test");
  };
  const auto uninterrupted_operator = make_operator();
  const auto uninterrupted = accelerated_power<S>(uninterrupted_operator, options, saving);
  ASSERT_GE(files.size(), 2u);

  for (const auto& file : files) {
    const PowerState<S> state = io::read_checkpoint<S>(file, "test");
    Hooks<S> resuming;
    resuming.resume = &state;
    const auto fresh_operator = make_operator();
    const auto resumed = accelerated_power<S>(fresh_operator, options, resuming);
    expect_identical<S>(uninterrupted, resumed);
  }
}

TEST(Resume, OfAnExactSolveIsIdentical) {
  expect_every_checkpoint_resumes<double>([] { return DenseSymmetric<double>(resume_problem().A); }, {.rank = 4}, 3);
}

TEST(Resume, OfASinglePrecisionSolveIsIdentical) {
  static const Block<float> A = resume_problem().A.cast<float>();
  expect_every_checkpoint_resumes<float>([] { return DenseSymmetric<float>(A); }, {.rank = 4, .tolerance = 1e-5}, 3);
}

TEST(Resume, OfANoisySolveRepeatsTheSameNoiseThroughTheCoolDown) {
  static const DenseSymmetric<double> exact(resume_problem().A);
  expect_every_checkpoint_resumes<double>([] { return noisy(exact, gaussian_noise<double>(1e-5, 2)); }, {.rank = 4}, 7);
}

TEST(Resume, OfACovarianceThatWasFormedOnTheWayIsIdentical) {
  static const Block<double> data = test::random_block(80, 150, 3);
  expect_every_checkpoint_resumes<double>([] { return DenseCovariance<double>(data); },
                                          {.rank = 2, .oversample = 1, .tolerance = 1e-9}, 10);
}

// A start of eigenvectors that are not the leading ones: what was missed joins the block, which is then wider than at
// the beginning.
TEST(Resume, OfABlockThatColumnsJoinedIsIdentical) {
  static const test::Planted planted = test::planted_spectrum(test::paper_spectrum(60, 2, 0.3), 5);
  const Block<double> start = planted.U.rightCols(6);
  for (const std::optional<Index> oversample : {std::optional<Index>(), std::optional<Index>(1)}) {
    const PowerOptions options{.rank = 2, .oversample = oversample};
    std::vector<PowerState<double>> states;
    Hooks<double> saving;
    saving.start = &start;
    saving.checkpoint_every = 1;
    saving.checkpoint = [&](const PowerState<double>& state) { states.push_back(state); };
    const DenseSymmetric<double> A(planted.A);
    const auto uninterrupted = accelerated_power<double>(A, options, saving);
    ASSERT_FALSE(states.empty());
    ASSERT_GT(states.back().X.cols(), oversample ? 3 : 6) << "no columns joined";

    Hooks<double> resuming;
    resuming.start = &start;
    resuming.resume = &states.back();
    const auto resumed = accelerated_power<double>(A, options, resuming);
    expect_identical<double>(uninterrupted, resumed);
  }
}

TEST(Checkpoints, AreNotMadeEveryZeroIterations) {
  for (const Index every : {Index{0}, Index{-3}}) {
    Hooks<double> hooks;
    hooks.checkpoint_every = every;
    hooks.checkpoint = [](const PowerState<double>&) {};
    try {
      static_cast<void>(accelerated_power<double>(DenseSymmetric<double>(resume_problem().A), {.rank = 4}, hooks));
      ADD_FAILURE() << every << " was not refused";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.what(), "checkpoint_every = " + std::to_string(every) + ": must be at least 1");
    }
  }
}

class CheckpointFile : public testing::Test {
 protected:
  CheckpointFile() {
    Hooks<double> hooks;
    hooks.checkpoint_every = 5;
    hooks.checkpoint = [&](const PowerState<double>& state) {
      state_ = state;
      io::write_checkpoint<double>(path_, state, "problem A");
    };
    static_cast<void>(accelerated_power<double>(DenseSymmetric<double>(resume_problem().A), {.rank = 4}, hooks));
  }

  // The file as someone would make it who knows how.
  void expect_refused(const PowerState<double>& forged, const std::string& thing) {
    io::write_checkpoint<double>(path_, forged, "problem A");
    try {
      static_cast<void>(io::read_checkpoint<double>(path_, "problem A"));
      ADD_FAILURE() << thing << " was not refused";
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find(thing), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(path_.string()), std::string::npos) << error.what();
    }
  }
  void expect_refused_by_solver(const PowerState<double>& forged, const PowerOptions& options, const char* thing) {
    Hooks<double> hooks;
    hooks.resume = &forged;
    try {
      static_cast<void>(accelerated_power<double>(DenseSymmetric<double>(resume_problem().A), options, hooks));
      ADD_FAILURE() << thing << " was not refused";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(thing), std::string::npos) << error.what();
    }
  }

  test::TempDir directory_;
  std::filesystem::path path_ = directory_.path() / "solve.checkpoint";
  PowerState<double> state_;
};

struct Forgery {
  const char* named;
  void (*forge)(PowerState<double>&);
};

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
using State = PowerState<double>;

const Forgery impossible_states[] = {
    {"X_prev", [](State& s) { s.X_prev.resize(3, 2), s.X_prev.setZero(); }},
    {"X_prev", [](State& s) { s.X_prev(1, 1) = nan; }},
    {"X = ", [](State& s) { s.X.resize(0, 0); }},
    {"X = ", [](State& s) { s.X.setZero(2, 5); }},
    {"X: ", [](State& s) { s.X(0, 0) = infinity; }},
    {"R = ", [](State& s) { s.R.setIdentity(2, 2); }},
    {"R: ", [](State& s) { s.R(0, 0) = nan; }},
    {"R: is singular", [](State& s) { s.R(1, 1) = 0; }},
    {"best_basis = ", [](State& s) { s.best_basis.setZero(3, 4); }},
    {"best_basis: ", [](State& s) { s.best_basis(0, 0) = nan; }},
    {"best_residual", [](State& s) { s.best_residual = nan; }},
    {"best_sine", [](State& s) { s.best_sine = -1; }},
    {"exponent = 5000", [](State& s) { s.exponent = 5000; }},
    {"exponent", [](State& s) { s.exponent = std::numeric_limits<std::int32_t>::min(); }},
    {"t = -1", [](State& s) { s.t = -1; }},
    {"t = ", [](State& s) { s.t = 3; }},
    {"t = ", [](State& s) { s.history.clear(); }},
    {"history: t", [](State& s) { s.history.back().t = 0; }},
    {"history", [](State& s) { s.history.back().noise = nan; }},
    {"history", [](State& s) { s.history.back().residual = -1; }},
    {"history", [](State& s) { s.history.back().theta_k = infinity; }},
    {"cooldown_left", [](State& s) { s.cooldown_left = -2; }},
    {"products", [](State& s) { s.products = -1; }},
    {"passes", [](State& s) { s.passes = std::numeric_limits<Index>::max(); }},
    {"last_recheck", [](State& s) { s.last_recheck = std::numeric_limits<Index>::max(); }},
    {"start_norm", [](State& s) { s.start_norm = nan; }},
    {"start_columns", [](State& s) { s.start_columns = 151; }},
    {"frobenius", [](State& s) { s.frobenius = infinity; }},
    {"proven_count", [](State& s) { s.proven_count = 151; }},
    {"proven_above", [](State& s) { s.proven_above = nan; }},
    {"filter",
     [](State& s) {
       s.filter = {1, 2, 3};
     }},
    {"filter: steps",
     [](State& s) {
       s.filter = {0.1, 0.1, 1e18, 0};
     }},
    {"filter: steps",
     [](State& s) {
       s.filter = {0.1, 0.1, nan, 0};
     }},
    {"filter: steps in all", [](State& s) { s.filter.assign(4 * 200, 1.0); }},
};

TEST_F(CheckpointFile, IsRefusedWhereItIsNoStateOfASolve) {
  for (const auto& [named, forge] : impossible_states) {
    State forged = state_;
    forge(forged);
    expect_refused(forged, named);
    expect_refused_by_solver(forged, {.rank = 4}, "checkpoint");
  }
}

TEST_F(CheckpointFile, IsHeldAgainstTheProblemThatGoesOnFromIt) {
  const Index p = state_.X.cols();
  const auto narrower = [&] {
    State s = state_;
    s.X = Block<double>(s.X.leftCols(p - 1)), s.X_prev = Block<double>(s.X_prev.leftCols(p - 1));
    s.R = Small<double>(s.R.topLeftCorner(p - 1, p - 1)), s.start_norm = 0;
    return s;
  }();
  expect_refused_by_solver(narrower, {.rank = 4, .oversample = p - 4}, "block");
  expect_refused_by_solver(state_, {.rank = 20}, "block");
  State forged = state_;
  forged.X *= 1.5;
  expect_refused_by_solver(forged, {.rank = 4}, "X: its columns must be orthonormal");
  forged = state_;
  forged.best_basis.setOnes();
  expect_refused_by_solver(forged, {.rank = 4}, "best_basis: its columns must be orthonormal");
  forged = state_;
  forged.cooldown_left = 21;
  expect_refused_by_solver(forged, {.rank = 4}, "cooldown_left");
  forged = state_;
  forged.t += 1000000;
  expect_refused_by_solver(forged, {.rank = 4}, "iterations from");
  for (const std::int32_t exponent : {-1000, 600, 1022}) {
    forged = state_;
    forged.exponent = exponent;
    expect_refused_by_solver(forged, {.rank = 4}, "exponent");
  }
  Hooks<double> hooks;
  hooks.resume = &state_;
  const Block<double> other = Block<double>::Identity(149, 149);
  EXPECT_THROW(static_cast<void>(accelerated_power<double>(DenseSymmetric<double>(other), {.rank = 4}, hooks)),
               InvalidArgument);
}

TEST_F(CheckpointFile, IsRefusedWhereBytesFollowItsEndOrABoolIsNone) {
  const std::string good = io::read_whole(path_), body = good.substr(0, good.size() - 64);
  const auto sealed = [this](const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content << io::sha256_hex(content);
  };
  const auto says = [this](const char* thing) {
    try {
      static_cast<void>(io::read_checkpoint<double>(path_, "problem A"));
      ADD_FAILURE() << thing << " was not refused";
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find(thing), std::string::npos) << error.what();
    }
  };

  sealed(body + "x");
  says("1 bytes behind its end");
  sealed(body.substr(0, body.size() - 8));
  says("shorter than it says");
  std::string bad = body;
  bad[body.find("problem A") + 9 + 8] = 2;  // has_previous, behind t
  sealed(bad);
  says("0 or 1");
  bad = body;
  bad[19] = '3';
  sealed(bad);
  says("another version, '3'");
}

TEST_F(CheckpointFile, IsRefusedForAnotherProblem) {
  EXPECT_THROW(static_cast<void>(io::read_checkpoint<double>(path_, "problem B")), InvalidArgument);
}

TEST_F(CheckpointFile, IsRefusedForAnotherNumberType) {
  EXPECT_THROW(static_cast<void>(io::read_checkpoint<float>(path_, "problem A")), InvalidArgument);
}

TEST_F(CheckpointFile, IsRefusedWhenAnyByteIsChangedOrTheEndIsMissing) {
  const std::string good = io::read_whole(path_);
  for (const std::size_t at : {std::size_t{0}, std::size_t{30}, good.size() / 2, good.size() - 1}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    std::ofstream(path_, std::ios::binary) << bad;
    EXPECT_THROW(static_cast<void>(io::read_checkpoint<double>(path_, "problem A")), DataError) << "byte " << at;
  }
  std::ofstream(path_, std::ios::binary) << good.substr(0, good.size() - 10);
  EXPECT_THROW(static_cast<void>(io::read_checkpoint<double>(path_, "problem A")), DataError);
}

TEST_F(CheckpointFile, LeavesNoTemporaryFileBeside) {
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_.path()), {}), 1);
}

}  // namespace
}  // namespace hearsay

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

#include "support/planted.hpp"
#include "support/random_block.hpp"
#include "support/temp_dir.hpp"

namespace hearsay {
namespace {

const test::Planted& problem() {
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
  expect_every_checkpoint_resumes<double>([] { return DenseSymmetric<double>(problem().A); }, {.rank = 4}, 3);
}

TEST(Resume, OfASinglePrecisionSolveIsIdentical) {
  static const Block<float> A = problem().A.cast<float>();
  expect_every_checkpoint_resumes<float>([] { return DenseSymmetric<float>(A); }, {.rank = 4, .tolerance = 1e-5}, 3);
}

TEST(Resume, OfANoisySolveRepeatsTheSameNoiseThroughTheCoolDown) {
  static const DenseSymmetric<double> exact(problem().A);
  expect_every_checkpoint_resumes<double>([] { return noisy(exact, gaussian_noise<double>(1e-5, 2)); }, {.rank = 4}, 7);
}

TEST(Resume, OfACovarianceThatWasFormedOnTheWayIsIdentical) {
  static const Block<double> data = test::random_block(80, 150, 3);
  expect_every_checkpoint_resumes<double>([] { return DenseCovariance<double>(data); },
                                          {.rank = 2, .oversample = 1, .tolerance = 1e-9}, 10);
}

class CheckpointFile : public testing::Test {
 protected:
  CheckpointFile() {
    Hooks<double> hooks;
    hooks.checkpoint_every = 5;
    hooks.checkpoint = [&](const PowerState<double>& state) {
      io::write_checkpoint<double>(path_, state, "problem A");
    };
    static_cast<void>(accelerated_power<double>(DenseSymmetric<double>(problem().A), {.rank = 4}, hooks));
  }

  test::TempDir directory_;
  std::filesystem::path path_ = directory_.path() / "solve.checkpoint";
};

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

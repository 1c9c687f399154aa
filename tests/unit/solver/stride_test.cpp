// Several steps between two QRs, and a block that sheds columns: the same subspace for less work.
#include <gtest/gtest.h>
#include <hearsay/graph_tools.hpp>
#include <hearsay/io/checkpoint.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>

#include <cmath>

#include "support/planted.hpp"
#include "support/temp_dir.hpp"

namespace hearsay {
namespace {

using test::reference_sin_theta;

const test::Planted& problem() {
  static const test::Planted planted = test::planted_spectrum(test::paper_spectrum(150, 4, 0.05), 1);
  return planted;
}

// Twelve communities: a wide gap after the twelfth eigenvalue.
const NormalisedGraph<double>& communities() {
  static const NormalisedGraph<double> graph(planted_partition(4000, 12, 10, 0.5, 3));
  return graph;
}

TEST(Stride, ChangesTheBasisOnTheWayAndNotTheSubspace) {
  PowerOptions options{.rank = 4, .momentum = Momentum::optimal(0.95), .oversample = 0, .tolerance = 1e-15};
  options.max_iterations = 24;
  options.stop_at_noise_floor = false;
  const DenseSymmetric<double> A(problem().A);
  const auto every = accelerated_power<double>(A, options);
  for (const Index stride : {2, 4, 8, 24}) {
    options.qr_every = stride;
    const auto strided = accelerated_power<double>(A, options);
    EXPECT_EQ(strided.iterations, 24);
    EXPECT_EQ(strided.history.size(), static_cast<std::size_t>(24 / stride) + 1);
    EXPECT_LE(reference_sin_theta(every.block, strided.block), 1e-11) << stride;
  }
}

TEST(Stride, EndsAtTheIterationsAllowed) {
  PowerOptions options{.rank = 4, .tolerance = 1e-15, .max_iterations = 10};
  options.qr_every = 7;
  const auto result = accelerated_power<double>(DenseSymmetric<double>(problem().A), options);
  EXPECT_EQ(result.iterations, 10);
  EXPECT_EQ(result.status, Status::iteration_limit);
}

TEST(Stride, BreaksDownOnAProductThatIsNotFiniteBetweenTwoQrs) {
  Index products = 0;
  const CallbackOperator<double> A(150,
                                   [&](ConstBlockView<double> X, BlockView<double> Y) {
                                     Y = problem().A * X;
                                     if (++products == 11) Y(7, 3) = std::nan("");  // and never again
                                   },
                                   {.exact = true});
  PowerOptions options{.rank = 4, .tolerance = 1e-12};
  options.qr_every = 4;
  const auto result = accelerated_power<double>(A, options);
  EXPECT_EQ(result.status, Status::breakdown);
  EXPECT_LE((result.basis.transpose() * result.basis - Eigen::MatrixXd::Identity(4, 4)).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(Stride, OnAGraphTakesFewQrsAndFindsWhatThePapersStepsFind) {
  PowerOptions options{.rank = 12, .tolerance = 1e-9};
  const auto strided = accelerated_power<double>(communities(), options);
  options.qr_every = 1;
  const auto every = accelerated_power<double>(communities(), options);
  EXPECT_EQ(strided.status, Status::converged);
  EXPECT_LE(reference_sin_theta(every.basis, strided.basis), 1e-7);
  EXPECT_LE(strided.history.size(), every.history.size() / 2);
  EXPECT_LE(strided.passes, every.passes + every.passes / 4);
}

TEST(Narrowing, ShedsColumnsWhereTheGapIsWideAndKeepsTheAnswer) {
  PowerOptions options{.rank = 12, .tolerance = 1e-9};
  const auto narrowed = accelerated_power<double>(communities(), options);
  options.oversample = 6;  // as many as automatic begins with, kept because they were asked for
  const auto wide = accelerated_power<double>(communities(), options);
  EXPECT_EQ(wide.columns, 18);
  EXPECT_LT(narrowed.columns, 18);
  EXPECT_LT(narrowed.products, wide.products);
  EXPECT_LE(reference_sin_theta(wide.basis, narrowed.basis), 1e-7);
  EXPECT_NEAR(narrowed.eigenvalues(11), wide.eigenvalues(11), 1e-12);
}

TEST(Narrowing, ResumesToTheLastBit) {
  const test::TempDir directory;
  const auto file = directory.path() / "state";
  PowerOptions options{.rank = 12, .tolerance = 1e-11};
  Hooks<double> saving;
  saving.checkpoint_every = 8;
  Index saves = 0, columns = 0;
  saving.checkpoint = [&](const PowerState<double>& state) {
    if (++saves != 2) return;
    columns = state.X.cols();
    io::write_checkpoint<double>(file, state, "narrowed");
  };
  const auto whole = accelerated_power<double>(communities(), options, saving);
  ASSERT_GE(saves, 2);
  ASSERT_LT(columns, 18);
  const auto state = io::read_checkpoint<double>(file, "narrowed");
  Hooks<double> resuming;
  resuming.resume = &state;
  const auto resumed = accelerated_power<double>(communities(), options, resuming);
  EXPECT_EQ(whole.basis, resumed.basis);
  EXPECT_EQ(whole.iterations, resumed.iterations);
  EXPECT_EQ(whole.sin_theta_estimate, resumed.sin_theta_estimate);
}

}  // namespace
}  // namespace hearsay

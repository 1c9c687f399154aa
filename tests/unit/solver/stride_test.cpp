// Several steps between two QRs, and a block that sheds columns or takes some in: the same subspace for less work.
#include <gtest/gtest.h>
#include <hearsay/graph_tools.hpp>
#include <hearsay/io/checkpoint.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>

#include <algorithm>
#include <cmath>

#include "support/planted.hpp"
#include "support/temp_dir.hpp"

namespace hearsay {
namespace {

using test::reference_sin_theta;

const test::Planted& stride_problem() {
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
  const DenseSymmetric<double> A(stride_problem().A);
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
  const auto result = accelerated_power<double>(DenseSymmetric<double>(stride_problem().A), options);
  EXPECT_EQ(result.iterations, 10);
  EXPECT_EQ(result.status, Status::iteration_limit);
}

TEST(Stride, BreaksDownOnAProductThatIsNotFiniteBetweenTwoQrs) {
  Index products = 0;
  const CallbackOperator<double> A(150,
                                   [&](ConstBlockView<double> X, BlockView<double> Y) {
                                     Y = stride_problem().A * X;
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

// Twelve eigenvalues above a gap, in a product so costly that the block begins with twice as many columns.
CallbackOperator<double> dear_product() {
  return {3000,
          [](ConstBlockView<double> X, BlockView<double> Y) {
            for (Index i = 0; i < 3000; ++i)
              Y.row(i) = (i < 12 ? 2 - 0.01 * double(i) : 1.2 * (1 - double(i) / 3000)) * X.row(i);
          },
          {.positive_semidefinite = true, .exact = true, .multiply_adds = 9e6}};
}

// A torus: eigenvalues close together all the way down, the thirteenth apart from the next by 0.3 percent.
const NormalisedGraph<double>& torus() {
  static const NormalisedGraph<double> graph([] {
    constexpr std::int32_t side = 60;
    Graph torus{.nodes = side * side};
    for (std::int32_t i = 0; i < side; ++i)
      for (std::int32_t j = 0; j < side; ++j)
        for (const std::int32_t other : {(i + 1) % side * side + j, i * side + (j + 1) % side})
          torus.edges.emplace_back(std::min(i * side + j, other), std::max(i * side + j, other));
    std::sort(torus.edges.begin(), torus.edges.end());
    return torus;
  }());
  return graph;
}

// A solve that was interrupted after its second checkpoint ends as one that was not.
void expect_same_after_resuming(OperatorRef<double> A, const PowerOptions& options, Index columns_at_checkpoint) {
  const test::TempDir directory;
  const auto file = directory.path() / "state";
  Hooks<double> saving;
  saving.checkpoint_every = 8;
  Index saves = 0, columns = 0;
  saving.checkpoint = [&](const PowerState<double>& state) {
    if (++saves != 3) return;
    columns = state.X.cols();
    io::write_checkpoint<double>(file, state, "resized");
  };
  const auto whole = accelerated_power<double>(A, options, saving);
  ASSERT_GE(saves, 3);
  ASSERT_EQ(columns, columns_at_checkpoint);
  const auto state = io::read_checkpoint<double>(file, "resized");
  Hooks<double> resuming;
  resuming.resume = &state;
  const auto resumed = accelerated_power<double>(A, options, resuming);
  EXPECT_EQ(whole.basis, resumed.basis);
  EXPECT_EQ(whole.iterations, resumed.iterations);
  EXPECT_EQ(whole.sin_theta_estimate, resumed.sin_theta_estimate);
}

TEST(Narrowing, ShedsColumnsWhereTheGapIsWideAndKeepsTheAnswer) {
  PowerOptions options{.rank = 12, .tolerance = 1e-9};
  const auto narrowed = accelerated_power<double>(dear_product(), options);
  options.oversample = 12;  // as many as automatic begins with, kept because they were asked for
  const auto wide = accelerated_power<double>(dear_product(), options);
  EXPECT_EQ(wide.columns, 24);
  EXPECT_LT(narrowed.columns, 24);
  EXPECT_LT(narrowed.products, wide.products);
  EXPECT_LE(reference_sin_theta(Block<double>::Identity(3000, 12), narrowed.basis), 1e-7);
  EXPECT_NEAR(narrowed.eigenvalues(11), wide.eigenvalues(11), 1e-12);
}

TEST(Narrowing, ResumesToTheLastBit) {
  expect_same_after_resuming(dear_product(), {.rank = 12, .tolerance = 1e-12}, 16);
}

TEST(Widening, TakesColumnsInWhereThereIsNoGapAndSavesProducts) {
  PowerOptions options{.rank = 13, .tolerance = 1e-8};
  const auto widened = accelerated_power<double>(torus(), options);
  options.oversample = 3;  // as many as automatic begins with
  const auto narrow = accelerated_power<double>(torus(), options);
  EXPECT_EQ(narrow.columns, 16);
  EXPECT_EQ(widened.columns, 24);
  EXPECT_EQ(widened.status, Status::converged);
  EXPECT_LT(widened.products, narrow.products);
  EXPECT_LE(reference_sin_theta(narrow.basis, widened.basis), 1e-4);
  EXPECT_NEAR(widened.eigenvalues(12), narrow.eigenvalues(12), 1e-12);
}

TEST(Widening, ResumesToTheLastBit) { expect_same_after_resuming(torus(), {.rank = 13, .tolerance = 1e-9}, 24); }

}  // namespace
}  // namespace hearsay

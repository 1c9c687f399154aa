// A block that is turned before a product and back after it.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/operators/turned.hpp>

#include "support/planted.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

struct Turned : testing::TestWithParam<Turning> {
  const test::Planted planted = test::planted_spectrum({5, 4, 3, 2, 1, 0.5, 0.25, 0.1}, 3);
  const DenseSymmetric<double> A{planted.A};
  const Block<double> X = test::random_block<double>(8, 4, 7);
};

TEST_P(Turned, ChangesNoExactProduct) {
  const TurnedOperator<double> turned(A, GetParam(), 1);
  Block<double> Y(8, 4), Z(8, 4);
  A.apply(X, Y);
  for (int product = 0; product < 3; ++product) {
    turned.apply(X, Z);

    EXPECT_LE((Y - Z).norm(), 1e-14 * Y.norm());
  }
}

TEST_P(Turned, RepeatsItsTurnsFromAnyPosition) {
  const TurnedOperator<double> turned(A, GetParam(), 1), again(A, GetParam(), 1);
  Block<double> Y(8, 4), Z(8, 4);
  for (int product = 0; product < 3; ++product) turned.apply(X, Y);
  EXPECT_EQ(turned.position(), 3u);

  again.seek(2);
  again.apply(X, Z);

  EXPECT_EQ(Y, Z);
}

INSTANTIATE_TEST_SUITE_P(Turnings, Turned, testing::Values(Turning::none, Turning::signs, Turning::rotations),
                         [](const auto& turning) { return name(turning.param); });

TEST(TurnedBySigns, TakesAConstantErrorsMeanAway) {
  const CallbackOperator<double> pushed(50, [](ConstBlockView<double>, BlockView<double> Y) { Y.setOnes(); });
  const TurnedOperator<double> turned(pushed, Turning::signs, 5);
  const Block<double> X = test::random_block<double>(50, 6, 1);
  Block<double> Y(50, 6), sum = Block<double>::Zero(50, 6);
  constexpr int products = 400;
  for (int product = 0; product < products; ++product) {
    turned.apply(X, Y);
    EXPECT_EQ(Y.cwiseAbs().maxCoeff(), 1);
    sum += Y;
  }

  EXPECT_LE(sum.cwiseAbs().maxCoeff() / products, 5 / std::sqrt(double(products)));  // five standard deviations
}

TEST(TurnedOperator, SaysThatApproximateProductsAreNoisy) {
  const CallbackOperator<double> rough(5, [](ConstBlockView<double> X, BlockView<double> Y) { Y = X; },
                                       {.approximate = true});

  EXPECT_TRUE(TurnedOperator<double>(rough, Turning::rotations, 1).facts().noisy);
}

}  // namespace
}  // namespace hearsay

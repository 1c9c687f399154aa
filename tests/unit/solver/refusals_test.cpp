// What the solver refuses, and in which words.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>

#include <cmath>
#include <stdexcept>

#include "support/planted.hpp"

namespace hearsay {
namespace {

const test::Planted& small_problem() {
  static const test::Planted planted = test::planted_spectrum({5, 4, 3, 2, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3}, 1);
  return planted;
}

template <class Exception>
std::string refusal(const PowerOptions& options, const Block<double>& A = small_problem().A) {
  try {
    static_cast<void>(accelerated_power<double>(DenseSymmetric<double>(A), options));
  } catch (const Exception& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Refusals, NameTheOptionItsValueAndTheRule) {
  EXPECT_EQ(refusal<InvalidArgument>({.rank = 0}), "rank = 0: must lie in [1, 12]");
  EXPECT_EQ(refusal<InvalidArgument>({.rank = 13}), "rank = 13: must lie in [1, 12]");
  EXPECT_EQ(refusal<InvalidArgument>({.tolerance = 0}), "tolerance = 0: must be finite and positive");
  EXPECT_EQ(refusal<InvalidArgument>({.tolerance = std::nan("")}), "tolerance = nan: must be finite and positive");
  EXPECT_EQ(refusal<InvalidArgument>({.max_iterations = -1}), "max_iterations = -1: must not be negative");
  EXPECT_EQ(refusal<InvalidArgument>({.rank = 2, .oversample = 0}),
            "oversample = 0: adaptive momentum needs at least one column more than the rank");
  EXPECT_THROW(static_cast<void>(Momentum::fixed(-0.1)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(Momentum::fixed(std::nan(""))), InvalidArgument);
}

TEST(Refusals, IncludeAMomentumThatCannotConverge) {
  // lambda_3 = 3: beta must stay below 9/4.
  const std::string message = refusal<InvalidArgument>({.rank = 3, .momentum = Momentum::fixed(4.0)});

  EXPECT_NE(message.find("momentum = 4"), std::string::npos) << message;
  EXPECT_NE(message.find("below lambda_k"), std::string::npos) << message;
}

TEST(Refusals, IncludeAMomentumBeyondAKnownBoundBeforeAnyProduct) {
  CsrMatrix<double> A{.rows = 2, .cols = 2, .row_start = {0, 1, 2}, .columns = {0, 1}, .values = {2.0, 1.0}};

  EXPECT_THROW(
      static_cast<void>(accelerated_power<double>(SparseSymmetric<double>(A), {.momentum = Momentum::fixed(1.0)})),
      InvalidArgument);
}

TEST(NegativeEigenvalues, AreRefusedWithTheCure) {
  const auto planted = test::planted_spectrum({3, 2, 1, 0.5, 0.4, 0.3, 0.2, 0.1, 0, -0.5, -1, -4}, 2);

  const std::string message = refusal<DataError>({.rank = 2}, planted.A);

  EXPECT_NE(message.find("negative eigenvalue"), std::string::npos) << message;
  EXPECT_NE(message.find("`shift`"), std::string::npos) << message;
}

TEST(NegativeEigenvalues, AreFineAfterAShift) {
  const auto planted = test::planted_spectrum({3, 2, 1, 0.5, 0.4, 0.3, 0.2, 0.1, 0, -0.5, -1, -4}, 2);
  const DenseSymmetric<double> A(planted.A);

  const auto result = accelerated_power<double>(ShiftedOperator<double>(A, 4.0), {.rank = 2, .tolerance = 1e-12});

  EXPECT_LE(test::reference_sin_theta(planted.top(2), result.basis), 1e-10);
}

TEST(AFaultyOperator, ThatThrowsIsHeard) {
  int calls = 0;
  const CallbackOperator<double> A(12, [&](ConstBlockView<double> X, BlockView<double> Y) {
    if (++calls == 4) throw std::range_error("disk on fire");
    Y = small_problem().A * X;
  });

  EXPECT_THROW(static_cast<void>(accelerated_power<double>(A, {.rank = 2, .oversample = 1})), std::range_error);

  calls = 100;  // nothing of the failed solve is left behind: the operator serves the next one
  const auto result = accelerated_power<double>(A, {.rank = 2, .oversample = 1});
  EXPECT_EQ(result.status, Status::converged);
}

TEST(AFaultyOperator, ThatTurnsNonFiniteBreaksDownWithTheBestBasisSoFar) {
  int calls = 0;
  const CallbackOperator<double> A(12, [&](ConstBlockView<double> X, BlockView<double> Y) {
    Y = small_problem().A * X;
    if (++calls == 12) Y(3, 0) = std::nan("");
  });

  const auto result = accelerated_power<double>(A, {.rank = 2, .oversample = 1, .tolerance = 1e-15});

  EXPECT_EQ(result.status, Status::breakdown);
  EXPECT_EQ(result.iterations, 11);
  EXPECT_TRUE(result.basis.allFinite());
  EXPECT_LE(test::reference_sin_theta(small_problem().top(2), result.basis), 0.1);
}

TEST(AFaultyOperator, ThatIsNeverFiniteIsADataError) {
  const CallbackOperator<double> A(5, [](ConstBlockView<double>, BlockView<double> Y) { Y.setConstant(INFINITY); });

  EXPECT_THROW(static_cast<void>(accelerated_power<double>(A, {})), DataError);
}

}  // namespace
}  // namespace hearsay

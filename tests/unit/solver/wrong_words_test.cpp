// Matrices on which 0.1.0 said `converged` and was wrong, and others that the adversary found: whatever a result says
// of itself must be so.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/mixed.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/pca.hpp>
#include <hearsay/subspace.hpp>

#include "support/planted.hpp"

namespace hearsay {
namespace {

using test::planted_spectrum;
using test::reference_sin_theta;

void expect_true(const PowerResult<double>& result, const Block<double>& U, double accuracy, const std::string& what) {
  const double sine = reference_sin_theta(U, result.basis);
  if (result.status == Status::converged && accuracy > 0) {
    EXPECT_LE(sine, accuracy) << what;
  }
  if (result.certificate.sin_theta_bound < 1) {
    EXPECT_LE(sine, result.certificate.sin_theta_bound) << what;
  }
  if (result.status == Status::converged && result.certificate.sin_theta == Knowledge::estimate) {
    EXPECT_LE(sine, 2 * result.certificate.sin_theta_estimate) << what;
  }
}

Block<double> hadamard(Index d) {
  Block<double> H(d, d);
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < d; ++j) H(i, j) = (__builtin_popcountll(static_cast<unsigned long long>(i & j)) & 1) ? -1 : 1;
  return H / std::sqrt(static_cast<double>(d));
}

TEST(NoWrongWord, InsideClustersOfAnySpacing) {
  for (const double rest : {0.3, 0.9})
    for (const double spacing : {1e-2, 1e-4, 1e-7, 1e-11})
      for (const Index n : {9, 20, 31}) {
        std::vector<double> values(110, rest);
        for (Index j = 0; j < n; ++j)
          values[static_cast<std::size_t>(j)] = 1 + spacing * static_cast<double>(n - 1 - j);
        const auto problem = planted_spectrum(values, 1);
        const Block<float> rounded = problem.A.cast<float>();
        const DenseSymmetric<double> A(problem.A);
        const DenseSymmetric<float> A_single(rounded);
        for (const double accuracy : {0.0, 1e-2}) {
          PowerOptions options{.rank = n / 2};
          if (accuracy > 0) options.tolerance = options.accuracy = accuracy;
          const auto what = "spacing " + std::to_string(spacing) + " n " + std::to_string(n);
          expect_true(principal_subspace<double>(A, options), problem.top(n / 2), accuracy, what);
          if (accuracy > 0)
            expect_true(mixed_precision_subspace(A_single, A, options), problem.top(n / 2), accuracy, "mixed " + what);
        }
      }
}

TEST(NoWrongWord, FromAStartOfEigenvectorsThatAreNotTheLeadingOnes) {
  std::vector<double> values;
  for (Index i = 0; i < 80; ++i) values.push_back(std::pow(0.9, static_cast<double>(i)));
  const auto problem = planted_spectrum(values, 2);
  for (const std::optional<SolveMethod> method : {std::optional<SolveMethod>(), std::optional(SolveMethod::anpm)})
    for (const Index columns : {4, 12}) {
      const Block<double> start = problem.U.middleCols(1, columns);
      Hooks<double> hooks;
      hooks.start = &start;
      PowerOptions options{.rank = 4};
      options.method = method;
      const auto result = principal_subspace<double>(DenseSymmetric<double>(problem.A), options, hooks);
      EXPECT_EQ(result.status, Status::converged);
      EXPECT_LE(reference_sin_theta(problem.top(4), result.basis), 1e-8) << name(result.method) << " " << columns;
    }
}

TEST(NoWrongWord, OfAClusterWhileTheNextRitzValueIsOnItsWay) {
  // wanted ones that are eigenvectors from the start are at rest before the random columns beside them have begun to
  // move
  for (const double decay : {0.16, 0.3, 0.6})
    for (Index skipped = 0; skipped < 3; ++skipped) {
      std::vector<double> values(81);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::pow(decay, static_cast<double>(i));
      const auto problem = planted_spectrum(values, 7);
      Block<double> start(81, 3);
      for (Index j = 0; j < 3; ++j) start.col(j) = problem.U.col(j < skipped ? j : j + 1);
      Hooks<double> hooks;
      hooks.start = &start;
      const auto result =
          principal_subspace<double>(DenseSymmetric<double>(problem.A), {.rank = 3, .tolerance = 1e-12}, hooks);
      EXPECT_EQ(result.status, Status::converged) << decay << ", without " << skipped;
      EXPECT_LE(reference_sin_theta(problem.top(3), result.basis), 1e-10) << decay << ", without " << skipped;
    }
}

TEST(NoWrongWord, OfEigenvectorsWhoseRoundingIsAlikeInEveryColumn) {
  const Index d = 64;
  for (const int bits : {13, 20, 30, 60}) {
    Vector<double> values = Vector<double>::Constant(d, 0.25);
    values.head(4) << 2, 1.5, 1.25, 1;
    values(4) = 1 - std::ldexp(1.0, -bits);
    const Block<double> H = hadamard(d), A = H * values.asDiagonal() * H.transpose();
    for (const double accuracy : {1e-3, 1e-8}) {
      PowerOptions options{.rank = 4, .tolerance = accuracy};
      options.accuracy = accuracy;
      expect_true(principal_subspace<double>(DenseSymmetric<double>(A), options), H.leftCols(4), accuracy, "double");
      const Block<float> rounded = A.cast<float>();
      const auto single = principal_subspace<float>(DenseSymmetric<float>(rounded), options);
      const double sine = reference_sin_theta(H.leftCols(4), single.basis.cast<double>());
      if (single.status == Status::converged) {
        EXPECT_LE(sine, accuracy) << "single, 2^-" << bits;
      }
    }
  }
}

TEST(NoWrongWord, WhereTheSpaceIsExhaustedByCoordinates) {
  // the start's images are eigenvectors to rounding, and rounding keeps the zeros of coordinates
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    for (const Index rank : {1, 3, 7}) {
      const Index d = 120;
      Block<double> A = Block<double>::Zero(d, d);
      for (Index i = 0; i < rank + 4; ++i) A(5 * i, 5 * i) = 1 / static_cast<double>(i + 1);
      Block<double> U = Block<double>::Zero(d, rank);
      for (Index i = 0; i < rank; ++i) U(5 * i, i) = 1;
      PowerOptions options{.rank = rank, .tolerance = 1e-12, .seed = seed};
      options.method = SolveMethod::krylov;
      const auto result = principal_subspace<double>(DenseSymmetric<double>(A), options);
      EXPECT_TRUE(result.status == Status::converged || result.status == Status::rounding_floor) << name(result.status);
      EXPECT_LE(reference_sin_theta(U, result.basis), 1e-10) << seed;
      expect_true(result, U, 0, "coordinates");
    }
}

TEST(NoWrongWord, OfNoiseWhereProductsAreExact) {
  std::vector<double> values(100, 0.5);
  for (std::size_t i = 0; i < 12; ++i) values[i] = 1 + 1e-10 * static_cast<double>(i);
  std::sort(values.rbegin(), values.rend());
  const auto problem = planted_spectrum(values, 4);
  for (const double tolerance : {1e-10, 1e-14}) {
    PowerOptions options{.rank = 5, .tolerance = tolerance};
    options.method = SolveMethod::anpm;
    EXPECT_NE(principal_subspace<double>(DenseSymmetric<double>(problem.A), options).status, Status::noise_floor);
  }
}

TEST(NoWrongWord, FromAStartThatTheMatrixTakesToNothing) {
  std::vector<double> values(60, 0.0);
  for (std::size_t i = 0; i < 8; ++i) values[i] = 1 - 0.1 * static_cast<double>(i);
  const auto problem = planted_spectrum(values, 5);
  const Block<double> start = problem.U.rightCols(20);
  Hooks<double> hooks;
  hooks.start = &start;
  for (const std::optional<SolveMethod> method : {std::optional(SolveMethod::anpm), std::optional<SolveMethod>()}) {
    PowerOptions options{.rank = 3};
    options.method = method;
    const auto result = principal_subspace<double>(DenseSymmetric<double>(problem.A), options, hooks);
    EXPECT_NE(result.status, Status::noise_floor);
    expect_true(result, problem.top(3), 0, name(result.method));
  }
}

// Nested columns have k Ritz values and no more, whatever the block holds.
TEST(NoWrongWord, OfNestedColumnsInABlockThatIsEverything) {
  const auto problem = planted_spectrum({1, 0.7, 0.5, 0.3, 0.2, 0.1}, 3);
  const DenseSymmetric<double> A(problem.A);
  for (const Index oversample : {3, 4, 9}) {
    const auto result =
        accelerated_power<double>(A, {.rank = 2, .oversample = oversample, .extraction = Extraction::nested});
    EXPECT_EQ(result.status, Status::converged) << oversample;
    expect_true(result, problem.top(2), 1e-8, "oversample " + std::to_string(oversample));
  }
}

TEST(AdaptiveMomentum, DoesNotStallWhereTheTopMultiplicityExceedsTheBlock) {
  std::vector<double> values(200, 0.5);
  std::fill(values.begin(), values.begin() + 30, 1.0);
  const auto problem = planted_spectrum(values, 6);
  PowerOptions options{.rank = 3};
  options.method = SolveMethod::anpm;
  const auto result = principal_subspace<double>(DenseSymmetric<double>(problem.A), options);
  EXPECT_EQ(result.status, Status::ambiguous);
  EXPECT_LE(result.iterations, 200);
}

TEST(AShift, MakesNoResidualSmaller) {
  std::vector<double> values;
  for (Index i = 0; i < 60; ++i) values.push_back(std::pow(0.93, static_cast<double>(i)));
  const auto problem = planted_spectrum(values, 7);
  const DenseSymmetric<double> A(problem.A);
  for (const double shift : {0.0, 1e2, 1e6, 1e10}) {
    const ShiftedOperator<double> shifted(A, shift);
    PowerOptions options{.rank = 4, .tolerance = 1e-4};
    const auto result = principal_subspace<double>(shifted, options);
    expect_true(result, problem.top(4), 0, "shift " + std::to_string(shift));
    const Block<double> AV = problem.A * result.basis;
    const Block<double> R = AV - result.basis * (result.basis.transpose() * AV);
    if (result.status == Status::converged) {
      EXPECT_LE(R.norm(), 1.01e-4 * AV.norm()) << shift;
    }
  }
  for (const double shift : {1e308, std::numeric_limits<double>::infinity()})
    EXPECT_THROW((ShiftedOperator<double>(A, shift)), InvalidArgument);
}

TEST(AnEmptySparseMatrix, IsAmbiguousAsADenseOneIs) {
  CsrMatrix<double> empty{.rows = 30, .cols = 6};
  empty.row_start.assign(31, 0);
  PcaOptions<double> options;
  options.power.rank = 2;
  options.wished_accuracy = 1e-6;
  EXPECT_EQ(pca<double>(empty, options).power.status, Status::ambiguous);
  EXPECT_EQ(pca<double>(Block<double>(Block<double>::Zero(30, 6)), options).power.status, Status::ambiguous);
}

}  // namespace
}  // namespace hearsay

#include <gtest/gtest.h>

#include <hearsay/error.hpp>
#include <hearsay/threads.hpp>

#include "support/expect_error.hpp"
#include "unit/solve/svd_problems.hpp"

namespace hearsay {
namespace {

using test::expect_error;
using test::planted_rectangle;
using test::svd_asking_for;

constexpr double default_tolerance = 1e-10;

std::vector<double> falling(Index count, double factor) {
  std::vector<double> values;
  for (Index i = 0; i < count; ++i) values.push_back(std::pow(factor, static_cast<double>(i)));
  return values;
}

struct Shape {
  Index m, n;
};
constexpr Shape shapes[] = {{70, 30}, {30, 70}, {40, 40}};

TEST(SolveSvd, FindsPlantedSingularValuesOfAnyShape) {
  for (const auto [m, n] : shapes) {
    const Block<double> A = planted_rectangle(m, n, falling(30, 0.8), 5);

    const auto svd = solve_svd<double>(A, svd_asking_for(6)).svd;

    EXPECT_EQ(svd.status, Status::converged) << m << " x " << n;
    EXPECT_EQ(svd.by_rows, m < n);
    EXPECT_EQ(svd.left.rows(), m);
    EXPECT_EQ(svd.right.rows(), n);
    for (Index i = 0; i < 6; ++i) EXPECT_NEAR(svd.singular_values(i), std::pow(0.8, i), 1e-14);
    EXPECT_EQ(test::wrong_words(A, svd, default_tolerance), 0);
    EXPECT_NEAR(svd.frobenius_norm, A.norm(), 1e-14);
  }
}

TEST(SolveSvd, SaysTheSameOfSparseData) {
  for (const auto [m, n] : shapes) {
    const Block<double> A = planted_rectangle(m, n, falling(30, 0.8), 6);
    const auto dense = solve_svd<double>(A, svd_asking_for(4)).svd,
               sparse = solve_svd<double>(test::sparse(A), svd_asking_for(4)).svd;
    EXPECT_LE((dense.singular_values - sparse.singular_values).norm(), 1e-14);
    EXPECT_LE((dense.right - sparse.right).norm(), 1e-8);
    EXPECT_LE((dense.left - sparse.left).norm(), 1e-8);
    EXPECT_EQ(test::wrong_words(A, sparse, default_tolerance), 0);
  }
}

TEST(SolveSvd, TakesFunctionsForTheProducts) {
  const Block<double> A = planted_rectangle(60, 25, falling(25, 0.7), 7);
  RectangularFunctions<double> functions{
      60, 25, [&A](ConstBlockView<double> X, BlockView<double> out) { out = A * X; },
      [&A](ConstBlockView<double> U, BlockView<double> out) { out = A.transpose() * U; }};

  const auto svd = solve_svd<double>(functions, svd_asking_for(5)).svd;

  EXPECT_EQ(svd.status, Status::converged);
  EXPECT_EQ(test::wrong_words(A, svd, default_tolerance), 0);
  for (Index i = 0; i < 5; ++i) EXPECT_NEAR(svd.singular_values(i), std::pow(0.7, i), 1e-13);

  functions.multiply_transposed = [&A](ConstBlockView<double> U, BlockView<double> out) {
    out = 2 * A.transpose() * U;
  };
  expect_error<DataError>([&] { (void)solve_svd<double>(functions, svd_asking_for(5)); },
                          {"products with its transpose"});
}

// Then rounding says nothing, and neither does a mismatch of the two products.
TEST(SolveSvd, ClaimsNothingOfSingularValuesWhereProductsAreNoisy) {
  const Block<double> A = planted_rectangle(60, 25, falling(25, 0.7), 7);
  std::uint64_t call = 100;
  const auto noisy = [&call](BlockView<double> out) {
    out += 1e-4 * test::random_block(out.rows(), out.cols(), ++call);
  };
  const RectangularFunctions<double> functions{60, 25,
                                               [&](ConstBlockView<double> X, BlockView<double> out) {
                                                 out = A * X;
                                                 noisy(out);
                                               },
                                               [&](ConstBlockView<double> U, BlockView<double> out) {
                                                 out = A.transpose() * U;
                                                 noisy(out);
                                               }};
  Request request = svd_asking_for(3);
  request.settings.power.products = Products::noisy;

  const auto svd = solve_svd<double>(functions, request).svd;

  EXPECT_EQ(svd.method, SolveMethod::averaged);
  EXPECT_EQ(svd.errors_are, Knowledge::unknown);
  EXPECT_TRUE(std::isinf(svd.within) && std::isinf(svd.rounding));
  for (Index i = 0; i < 3; ++i) EXPECT_NEAR(svd.singular_values(i), std::pow(0.7, i), 1e-2);
}

// The eigenvalues of A'A hold sigma_i to eps sigma_1^2 / sigma_i; what is returned is right to eps sigma_1.
TEST(SolveSvd, FindsSmallSingularValuesBeyondWhatTheirSquaresHold) {
  for (const auto [m, n] : shapes) {
    const Block<double> A = planted_rectangle(m, n, falling(13, 0.1), 8);  // 1 to 1e-12
    for (const Index k : {4, 7, 10, 13}) {
      const auto svd = solve_svd<double>(A, svd_asking_for(k)).svd;
      for (Index i = 0; i < k; ++i) EXPECT_NEAR(svd.singular_values(i), std::pow(0.1, i), 2e-15) << k << " " << i;
      EXPECT_EQ(test::wrong_words(A, svd, default_tolerance), 0) << k;
    }
  }
}

TEST(SolveSvd, FindsAllOfThem) {
  for (const auto [m, n] : shapes) {
    const Index k = std::min(m, n);
    const Block<double> A = test::random_block(m, n, 9);
    const auto svd = solve_svd<double>(A, svd_asking_for(k)).svd;
    EXPECT_EQ(svd.status, Status::converged);
    EXPECT_LE((svd.left * svd.singular_values.asDiagonal() * svd.right.transpose() - A).norm(), 1e-13 * A.norm());
    EXPECT_EQ(test::wrong_words(A, svd, default_tolerance), 0);
    EXPECT_EQ(svd.errors_are, Knowledge::bound);
  }
}

// Vectors of zero are orthonormal and said to mean nothing.
TEST(SolveSvd, SaysWhatIsNotDefinedWhereRankIsLacking) {
  for (const auto [m, n] : shapes) {
    const Block<double> A = planted_rectangle(m, n, {3, 2, 1}, 10);
    const auto within_rank = solve_svd<double>(A, svd_asking_for(3)).svd;
    EXPECT_EQ(within_rank.status, Status::converged);
    EXPECT_EQ(within_rank.resolved, 3);
    EXPECT_EQ(test::wrong_words(A, within_rank, default_tolerance), 0);

    const auto beyond = solve_svd<double>(A, svd_asking_for(5)).svd;
    EXPECT_EQ(beyond.status, Status::ambiguous);
    EXPECT_EQ(beyond.resolved, 3);
    EXPECT_LE(beyond.singular_values(3), beyond.rounding);
    EXPECT_EQ(test::wrong_words(A, beyond, default_tolerance), 0);
    ASSERT_FALSE(beyond.notes.empty());
    EXPECT_NE(beyond.notes.back().find("cannot be told from zero"), std::string::npos);

    const auto all = solve_svd<double>(A, svd_asking_for(std::min(m, n))).svd;
    EXPECT_EQ(all.resolved, 3);
    EXPECT_EQ(all.status, m == n ? Status::converged : Status::ambiguous);
    EXPECT_EQ(test::wrong_words(A, all, default_tolerance), 0);
  }
}

TEST(SolveSvd, IsHonestAboutTheZeroMatrix) {
  for (const auto [m, n] : shapes) {
    const Block<double> A = Block<double>::Zero(m, n);
    for (const auto& svd :
         {solve_svd<double>(A, svd_asking_for(2)).svd, solve_svd<double>(test::sparse(A), svd_asking_for(2)).svd}) {
      EXPECT_EQ(svd.singular_values.norm(), 0);
      EXPECT_EQ(svd.resolved, 0);
      EXPECT_EQ(svd.status, Status::ambiguous);
      EXPECT_LE(test::apart_from_orthonormal(svd.left), 1e-13);
      EXPECT_LE(test::apart_from_orthonormal(svd.right), 1e-13);
    }
  }
}

TEST(SolveSvd, TakesOneRowAndOneColumn) {
  const Block<double> row = test::random_block(1, 9, 11), column = test::random_block(9, 1, 12);
  for (const Block<double>& A : {row, column, Block<double>(Block<double>::Constant(1, 1, -3.0))}) {
    for (const auto& svd :
         {solve_svd<double>(A, svd_asking_for(1)).svd, solve_svd<double>(test::sparse(A), svd_asking_for(1)).svd}) {
      EXPECT_EQ(svd.status, Status::converged);
      EXPECT_NEAR(svd.singular_values(0), A.norm(), 1e-14);
      EXPECT_LE((svd.left * svd.singular_values.asDiagonal() * svd.right.transpose() - A).norm(), 1e-14);
    }
  }
}

TEST(SolveSvd, KeepsItsDigitsAtExtremeScales) {
  const Block<double> A = planted_rectangle(50, 20, falling(20, 0.8), 13);
  const auto plain = solve_svd<double>(A, svd_asking_for(4)).svd;
  for (const double scale : {1e-300, 1e-150, 1e150, 1e300}) {
    const Block<double> extreme = A * scale;
    for (const auto& svd : {solve_svd<double>(extreme, svd_asking_for(4)).svd,
                            solve_svd<double>(test::sparse(extreme), svd_asking_for(4)).svd}) {
      EXPECT_EQ(svd.status, Status::converged);
      EXPECT_EQ(svd.exponent, 0);
      EXPECT_LE((svd.singular_values / scale - plain.singular_values).norm(), 1e-13);
      EXPECT_NEAR(svd.frobenius_norm / scale, plain.frobenius_norm, 1e-12);
      EXPECT_LE(svd.errors.maxCoeff() / scale, 10 * plain.errors.maxCoeff());
    }
  }
  const Block<double> beyond = Block<double>::Constant(50, 20, 1e308);  // 3e309 has no number
  const auto svd = solve_svd<double>(beyond, svd_asking_for(1)).svd;
  EXPECT_NE(svd.exponent, 0);
  EXPECT_NEAR(std::log2(svd.singular_values(0)) + svd.exponent, std::log2(1e308) + 0.5 * std::log2(1000.0), 1e-9);
}

TEST(SolveSvd, GoesOnPastEmptyRowsAndColumns) {
  Block<double> A = planted_rectangle(40, 60, falling(20, 0.8), 14);
  A.row(0).setZero();
  A.row(39).setZero();
  A.middleCols(10, 20).setZero();
  A.col(59).setZero();
  for (const Block<double>& matrix : {A, Block<double>(A.transpose())}) {
    const auto svd = solve_svd<double>(test::sparse(matrix), svd_asking_for(5)).svd;
    EXPECT_EQ(svd.status, Status::converged);
    EXPECT_EQ(test::wrong_words(matrix, svd, default_tolerance), 0);
  }
}

TEST(SolveSvd, WorksInSingleAndMixedPrecision) {
  const Block<double> A = planted_rectangle(90, 40, falling(40, 0.75), 15);
  const auto exact = solve_svd<double>(A, svd_asking_for(5)).svd;
  for (const Precision precision : {Precision::single, Precision::mixed}) {
    Request request = svd_asking_for(5);
    request.settings.precision = precision;
    const double allowed = precision == Precision::single ? 1e-5 : 1e-13;
    for (const auto& svd : {solve_svd<double>(A, request).svd, solve_svd<double>(test::sparse(A), request).svd}) {
      EXPECT_EQ(svd.status, Status::converged);
      EXPECT_LE((svd.singular_values - exact.singular_values).norm(), allowed);
      for (Index i = 0; i < 5; ++i) {
        EXPECT_GE(exact.singular_values(i), svd.singular_values(i) - svd.rounding);
        if (svd.errors_are == Knowledge::bound) {
          EXPECT_LE(exact.singular_values(i), svd.singular_values(i) + svd.errors(i));
        }
      }
    }
  }
  const auto floats = solve_svd<float>(Block<float>(A.cast<float>()), svd_asking_for(5)).svd;
  EXPECT_LE((floats.singular_values.cast<double>() - exact.singular_values).norm(), 1e-5);
}

TEST(SolveSvd, BeginsWhereItIsTold) {
  for (const auto [m, n] : shapes) {
    const Block<double> A = planted_rectangle(m, n, falling(30, 0.9), 16);
    const auto cold = solve_svd<double>(A, svd_asking_for(3)).svd;
    Request request = svd_asking_for(3);
    request.start = cold.right;
    const auto warm = solve_svd<double>(A, request).svd;
    EXPECT_EQ(warm.status, Status::converged);
    EXPECT_LE((warm.singular_values - cold.singular_values).norm(), 1e-13);
    EXPECT_EQ(test::wrong_words(A, warm, default_tolerance), 0);
    request.start = Block<double>::Zero(n + 1, 2);
    expect_error<InvalidArgument>([&] { (void)solve_svd<double>(A, request); }, {"start block", "must have"});
  }
}

TEST(SolveSvd, RefusesWhatItCannotTake) {
  Block<double> A = test::random_block(6, 4, 17);
  for (const Index k : {0, 5})
    expect_error<InvalidArgument>([&] { (void)solve_svd<double>(A, svd_asking_for(k)); },
                                  {"rank = ", "[1, 4]", "the lesser of rows and columns"});
  expect_error<InvalidArgument>([&] { (void)solve_svd<double>(Block<double>(0, 4), svd_asking_for(1)); }, {"0 x 4"});
  expect_error<InvalidArgument>([&] { (void)solve_svd<double>(CsrMatrix<double>{}, svd_asking_for(1)); }, {"0 x 0"});
  Request noisy = svd_asking_for(2);
  noisy.settings.noise = {.kind = NoiseChoice::Kind::gaussian, .level = 0.1};
  expect_error<InvalidArgument>([&] { (void)solve_svd<double>(A, noisy); }, {"noise", "symmetric"});
  A(2, 3) = std::nan("");
  expect_error<DataError>([&] { (void)solve_svd<double>(A, svd_asking_for(2)); }, {"row 3, column 4", "finite"});
  A(2, 3) = std::numeric_limits<double>::infinity();
  expect_error<DataError>([&] { (void)solve_svd<double>(test::sparse(A), svd_asking_for(2)); },
                          {"row 3, column 4", "inf"});
}

TEST(SolveSvd, DoesNotDependOnThreads) {
  const Block<double> A = test::random_block(300, 200, 18);
  const CsrMatrix<double> stored = test::sparse(A);
  const int before = threads();
  set_threads(1);
  const auto dense = solve_svd<double>(A, svd_asking_for(4)).svd,
             sparse = solve_svd<double>(stored, svd_asking_for(4)).svd;
  set_threads(3);
  EXPECT_EQ(solve_svd<double>(A, svd_asking_for(4)).svd.right, dense.right);
  EXPECT_EQ(solve_svd<double>(stored, svd_asking_for(4)).svd.left, sparse.left);
  set_threads(before);
}

}  // namespace
}  // namespace hearsay

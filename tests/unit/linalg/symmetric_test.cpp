#include <gtest/gtest.h>

#include <hearsay/error.hpp>
#include <hearsay/symmetric.hpp>
#include <limits>

#include "support/expect_error.hpp"

namespace hearsay {
namespace {

using test::expect_error;

TEST(RequireSymmetric, AcceptsWhatIsSymmetricUpToRounding) {
  Block<double> A = Block<double>::Random(150, 150);
  A = (A + A.transpose()).eval();
  A(3, 140) *= 1 + 1e-12;

  EXPECT_NO_THROW(require_symmetric(A, "A"));
  EXPECT_NO_THROW(require_symmetric(Block<float>(A.cast<float>()), "A"));
  EXPECT_NO_THROW(require_symmetric(Block<double>::Zero(3, 3), "A"));
  EXPECT_NO_THROW(require_symmetric(1e300 * A, "A"));
  EXPECT_NO_THROW(require_symmetric(1e-300 * A, "A"));
}

TEST(RequireSymmetric, NamesTheEntryThatIsNot) {
  Block<double> A = Block<double>::Identity(150, 150);
  A(2, 6) = 0.5;
  A(6, 2) = 0.25;
  const Block<float> single = A.cast<float>();

  expect_error<DataError>([&] { require_symmetric(A, "a.npy"); },
                          {"a.npy: not symmetric: (3, 7) is 0.5 but (7, 3) is 0.25"});
  expect_error<DataError>([&] { require_symmetric(single, "a.npy"); }, {"(3, 7) is 0.5 but (7, 3) is 0.25"});
}

TEST(RequireSymmetric, LooksAtBothHalvesForValuesThatAreNotFinite) {
  Block<double> A = Block<double>::Identity(5, 5);
  A(4, 1) = std::numeric_limits<double>::quiet_NaN();

  expect_error<DataError>([&] { require_symmetric(A, "a.npy"); }, {"a.npy: (5, 2) is nan"});
  A(4, 1) = A(1, 4) = std::numeric_limits<double>::infinity();
  expect_error<DataError>([&] { require_symmetric(A, "a.npy"); }, {"a.npy: (2, 5) is inf"});
}

TEST(RequireSymmetric, RefusesWhatIsNotSquare) {
  expect_error<DataError>([] { require_symmetric(Block<double>::Zero(2, 3), "a.npy"); }, {"a.npy: is 2 x 3"});
  expect_error<DataError>(
      [] {
        require_symmetric(CsrMatrix<double>{.rows = 1, .cols = 2, .row_start = {0, 0}, .columns = {}, .values = {}},
                          "a.mtx");
      },
      {"a.mtx: is 1 x 2"});
}

TEST(RequireSymmetric, ChecksSparseMatricesAlike) {
  CsrMatrix<double> A{.rows = 3, .cols = 3, .row_start = {0, 2, 3, 4}, .columns = {0, 2, 1, 0}, .values = {1, 2, 5, 2}};
  EXPECT_NO_THROW(require_symmetric(A, "a.mtx"));

  A.values[3] = 4;
  expect_error<DataError>([&] { require_symmetric(A, "a.mtx"); },
                          {"a.mtx: not symmetric: (1, 3) is 2 but (3, 1) is 4"});
  A.columns[3] = 1;
  expect_error<DataError>([&] { require_symmetric(A, "a.mtx"); }, {"(1, 3) is 2 but (3, 1) is 0"});
  A.values[2] = std::numeric_limits<double>::quiet_NaN();
  expect_error<DataError>([&] { require_symmetric(A, "a.mtx"); }, {"(2, 2) is nan"});
}

// A small entry alone, below the diagonal or above, is as good as a zero; a large one is named wherever it stands.
TEST(RequireSymmetric, LooksForWhatStandsAlone) {
  CsrMatrix<double> A{
      .rows = 3, .cols = 3, .row_start = {0, 2, 4, 6}, .columns = {1, 2, 0, 1, 0, 1}, .values = {1, 3, 1, 2, 3, 1e-12}};
  EXPECT_NO_THROW(require_symmetric(A, "a.mtx"));
  A.values[5] = 0.5;
  expect_error<DataError>([&] { require_symmetric(A, "a.mtx"); }, {"(3, 2) is 0.5 but (2, 3) is 0"});

  const CsrMatrix<double> last{
      .rows = 2, .cols = 2, .row_start = {0, 1, 1}, .columns = {1}, .values = {1}};  // beside an empty row
  expect_error<DataError>([&] { require_symmetric(last, "a.mtx"); }, {"(1, 2) is 1 but (2, 1) is 0"});
}

TEST(RequireSymmetric, ChecksSparseMatricesInSinglePrecisionToItsRounding) {
  CsrMatrix<float> A{.rows = 2, .cols = 2, .row_start = {0, 1, 2}, .columns = {1, 0}, .values = {1.0F, 1.0F}};
  A.values[1] += 4 * std::numeric_limits<float>::epsilon();
  EXPECT_NO_THROW(require_symmetric(A, "A"));

  A.values[1] = 1.5F;
  expect_error<DataError>([&] { require_symmetric(A, "A"); }, {"A: not symmetric: (1, 2) is 1 but (2, 1) is 1.5"});
}

}  // namespace
}  // namespace hearsay

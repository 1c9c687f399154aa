#include <gtest/gtest.h>

#include <hearsay/io/matrix_market.hpp>

#include "gzipped.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

using test::expect_error;

MatrixMarket parse_market(const std::string& text) { return parse_matrix_market(text, "a.mtx"); }

void expect_bad_market(const std::string& text, std::initializer_list<std::string> parts) {
  expect_error<DataError>([&] { parse_market(text); }, parts);
}

Block<double> dense(const MatrixMarket& file) {
  if (const auto* array = std::get_if<Block<double>>(&file.matrix)) return *array;
  const auto& A = std::get<CsrMatrix<double>>(file.matrix);
  Block<double> full = Block<double>::Zero(A.rows, A.cols);
  for (Index i = 0; i < A.rows; ++i)
    for (auto e = A.row_start[static_cast<std::size_t>(i)]; e < A.row_start[static_cast<std::size_t>(i) + 1]; ++e)
      full(i, A.columns[static_cast<std::size_t>(e)]) = A.values[static_cast<std::size_t>(e)];
  return full;
}

TEST(MatrixMarket, ReadsGeneralCoordinatesInAnyOrder) {
  const auto file = parse_market(
      "%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 3 3\n2 3 -1.5\n1 2 4e0\n  2\t1   1  \n");

  EXPECT_FALSE(file.declared_symmetric);
  EXPECT_EQ(dense(file), (Block<double>(2, 3) << 0, 4, 0, 1, 0, -1.5).finished());
  EXPECT_EQ(std::get<CsrMatrix<double>>(file.matrix).columns, (std::vector<std::int32_t>{1, 0, 2}));
}

TEST(MatrixMarket, ExpandsSymmetricCoordinates) {
  const auto file = parse_market("%%MatrixMarket MATRIX Coordinate Integer Symmetric\n3 3 3\n1 1 5\n3 1 7\n3 2 8\n");

  EXPECT_TRUE(file.declared_symmetric);
  EXPECT_EQ(dense(file), (Block<double>(3, 3) << 5, 0, 7, 0, 0, 8, 7, 8, 0).finished());
}

TEST(MatrixMarket, ReadsPatternsAsOnes) {
  const auto file = parse_market("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 1\n");

  EXPECT_EQ(dense(file), (Block<double>(2, 2) << 1, 0, 1, 0).finished());
}

TEST(MatrixMarket, AddsUpEntriesOfTheSamePlace) {
  const auto file = parse_market("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n2 1 1\n2 1 0.5\n1 1 2\n");

  EXPECT_EQ(dense(file), (Block<double>(2, 2) << 2, 1.5, 1.5, 0).finished());
  EXPECT_EQ(std::get<CsrMatrix<double>>(file.matrix).nonzeros(), 3);
}

TEST(MatrixMarket, ReadsAMatrixWithoutEntries) {
  const auto file = parse_market("%%MatrixMarket matrix coordinate real general\n1000 10 0\n");

  EXPECT_EQ(dense(file), Block<double>::Zero(1000, 10));
}

TEST(MatrixMarket, ReadsArraysColumnByColumn) {
  EXPECT_EQ(dense(parse_market("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n")),
            (Block<double>(2, 3) << 1, 3, 5, 2, 4, 6).finished());
  EXPECT_EQ(dense(parse_market("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n")),
            (Block<double>(2, 2) << 1, 2, 2, 3).finished());
}

TEST(MatrixMarket, ReadsGzip) {
  const test::TempDir dir;
  const auto path = dir.file("a.mtx.gz", test::gzipped("%%MatrixMarket matrix array real general\r\n1 1\r\n2.5\r\n"));

  EXPECT_EQ(dense(read_matrix_market(path))(0, 0), 2.5);
}

TEST(MatrixMarketError, NamesWhatItDoesNotRead) {
  expect_bad_market("", {"a.mtx:1", "%%MatrixMarket"});
  expect_bad_market("1 1 1\n", {"a.mtx:1: is not a Matrix Market file"});
  expect_bad_market("%%MatrixMarket vector array real general\n", {"a.mtx:1:2: 'vector'"});
  expect_bad_market("%%MatrixMarket matrix dense real general\n", {"a.mtx:1:3: 'dense'"});
  expect_bad_market("%%MatrixMarket matrix array complex general\n", {"a.mtx:1:4: complex matrices cannot be read"});
  expect_bad_market("%%MatrixMarket matrix array quaternion general\n", {"a.mtx:1:4: 'quaternion'"});
  expect_bad_market("%%MatrixMarket matrix array real skew-symmetric\n",
                    {"a.mtx:1:5: 'skew-symmetric' matrices cannot be read"});
  expect_bad_market("%%MatrixMarket matrix array real hermitian\n", {"a.mtx:1:5: 'hermitian' matrices cannot be read"});
  expect_bad_market("%%MatrixMarket matrix array pattern general\n1 1\n", {"a.mtx:1:4: an array cannot be a pattern"});
}

TEST(MatrixMarketError, ChecksTheSizes) {
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";

  expect_bad_market(banner, {"a.mtx:1: the line of sizes is missing"});
  expect_bad_market(banner + "2 2\n", {"a.mtx:2:3: the number of entries '' is not a whole number"});
  expect_bad_market(banner + "2 x 1\n", {"a.mtx:2:2: the number of columns 'x' is not a whole number"});
  expect_bad_market(banner + "0 2 0\n", {"a.mtx:2:1: the number of rows 0 is not in 1 to 2147483647"});
  expect_bad_market(banner + "2 2 1 9\n1 1 1\n", {"a.mtx:2:4: '9' is more than"});
  expect_bad_market("%%MatrixMarket matrix array real symmetric\n2 3\n",
                    {"a.mtx:2: a symmetric matrix cannot be 2 x 3"});
}

TEST(MatrixMarketError, RefusesPromisesNoFileCouldKeep) {
  const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n";
  const std::string array = "%%MatrixMarket matrix array real general\n";

  expect_bad_market(coordinate + "10 10 1000000000000\n1 1 1\n",
                    {"a.mtx:2: 1000000000000 entries are promised, more than"});
  expect_bad_market(coordinate + "10 10 1000000000000000000\n", {"a.mtx:2:3: the number of entries"});
  expect_bad_market(coordinate + "10 10 99999999999999999999999\n", {"a.mtx:2:3", "is not a whole number"});
  expect_bad_market(coordinate + "2000000000 10 1\n1 1 1\n", {"a.mtx:2: 2000000000 rows for 1 entries"});
  expect_bad_market(array + "2147483647 2147483647\n1\n", {"a.mtx:2", "are promised, more than the file holds"});
  expect_bad_market(array + "100000 1\n1\n", {"a.mtx:2: 100000 entries are promised"});
}

TEST(MatrixMarketError, SaysWhichEntryIsAtFault) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n2 3 2\n";

  expect_bad_market(head + "1 1 1\n3 1 1\n", {"a.mtx:4:1: the row 3 is not in 1 to 2"});
  expect_bad_market(head + "1 4 1\n1 1 1\n", {"a.mtx:3:2: the column 4 is not in 1 to 3"});
  expect_bad_market(head + "0 1 1\n1 1 1\n", {"a.mtx:3:1: the row 0 is not in 1 to 2"});
  expect_bad_market(head + "1 1\n1 1 1\n", {"a.mtx:3:3: the value is missing"});
  expect_bad_market(head + "1 1 abc\n1 1 1\n", {"a.mtx:3:3: 'abc' is not a number"});
  expect_bad_market(head + "1 1 nan\n1 1 1\n", {"a.mtx:3:3: 'nan' is not finite"});
  expect_bad_market(head + "1 1 1 1\n1 1 1\n", {"a.mtx:3:4: '1' is more than the line should hold"});
  expect_bad_market(head + "1 1 1e308\n1 1 1e308\n", {"a.mtx", "add up to infinity"});
  expect_bad_market("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n",
                    {"a.mtx:3: (1, 2) lies above the diagonal"});
}

TEST(MatrixMarketError, CountsTheEntries) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n2 3 2\n";

  expect_bad_market(head + "1 1 1\n", {"a.mtx:3: the file ends after 1 of 2 entries"});
  expect_bad_market(head + "1 1 1\n1 2 1\n1 3 1\n", {"a.mtx:5: the file goes on after the last entry"});
  expect_bad_market("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
                    {"a.mtx:5: the file ends after 3 of 4 entries"});
  expect_bad_market("%%MatrixMarket matrix array real general\n1 1\n1\n2\n", {"a.mtx:4: the file goes on"});
}

}  // namespace
}  // namespace hearsay::io

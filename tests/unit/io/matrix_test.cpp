#include <gtest/gtest.h>

#include <hearsay/io/matrix.hpp>
#include <hearsay/io/npy.hpp>
#include <limits>

#include "expect_error.hpp"
#include "gzipped.hpp"
#include "npy_bytes.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

using test::expect_error;
using test::gzipped;
using Names = std::vector<std::string>;

const Block<double> two_by_two = (Block<double>(2, 2) << 1, 2, 3, 4).finished();
const std::string market = "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 3\n";

Block<double> doubles(const Data& data) { return std::get<Block<double>>(data.matrix); }

TEST(ReadData, ReadsTablesOfAnyExtensionPlainOrGzip) {
  const test::TempDir dir;

  EXPECT_EQ(doubles(read_data(dir.file("a.csv", "1,2\n3,4\n"))), two_by_two);
  EXPECT_EQ(doubles(read_data(dir.file("a.TSV", "1\t2\n3\t4\n"))), two_by_two);
  EXPECT_EQ(doubles(read_data(dir.file("a.txt.gz", gzipped("1 2\n3 4\n")))), two_by_two);
  EXPECT_EQ(doubles(read_data(dir.file("a.data", "1;2\n3;4\n"))), two_by_two);
  EXPECT_EQ(doubles(read_data(dir.file("noextension", "1,2\n3,4\n"))), two_by_two);
}

TEST(ReadData, PassesOnNamesAndLabels) {
  const test::TempDir dir;

  const Data data = read_data(dir.file("a.csv", "x,y,kind\n1,2,u\n3,4,v\n"), {.label_column = "last"});

  EXPECT_EQ(doubles(data), two_by_two);
  EXPECT_EQ(data.column_names, (Names{"x", "y"}));
  EXPECT_EQ(data.labels, (Names{"u", "v"}));
  EXPECT_EQ(data.label_name, "kind");
  EXPECT_FALSE(data.declared_symmetric);
}

TEST(ReadData, KnowsNpyAndMatrixMarketByExtensionOrByContent) {
  const test::TempDir dir;
  write_npy(dir / "a.npy", two_by_two);
  write_npy(dir / "a.bin", two_by_two);

  EXPECT_EQ(doubles(read_data(dir / "a.npy")), two_by_two);
  EXPECT_EQ(doubles(read_data(dir / "a.bin")), two_by_two);
  EXPECT_EQ(doubles(read_data(dir.file("b.gz", gzipped(test::slurp(dir / "a.npy"))))), two_by_two);
  for (const auto& path :
       {dir.file("a.mtx", market), dir.file("a.mtx.gz", gzipped(market)), dir.file("market", market)}) {
    const Data data = read_data(path);

    EXPECT_EQ(std::get<CsrMatrix<double>>(data.matrix).nonzeros(), 2);
    EXPECT_TRUE(data.declared_symmetric);
  }
}

TEST(ReadData, TurnsAColumnOfAnNpyFileIntoLabels) {
  const test::TempDir dir;
  write_npy(dir / "d.npy", (Block<double>(2, 3) << 1, 7, 2, 3, 8.5, 4).finished());
  write_npy(dir / "s.npy", (Block<float>(2, 2) << 1, 0, 2, 1).finished());

  const Data data = read_data(dir / "d.npy", {.label_column = "2"});
  const Data single = read_data(dir / "s.npy", {.label_column = "last"});

  EXPECT_EQ(doubles(data), two_by_two);
  EXPECT_EQ(data.labels, (Names{"7", "8.5"}));
  EXPECT_EQ(std::get<Block<float>>(single.matrix), (Block<float>(2, 1) << 1, 2).finished());
  EXPECT_EQ(single.labels, (Names{"0", "1"}));
}

TEST(ReadData, RefusesALabelColumnThatCannotBe) {
  const test::TempDir dir;
  write_npy(dir / "a.npy", two_by_two);
  write_npy(dir / "one.npy", two_by_two.leftCols(1));
  const auto read = [&](const std::filesystem::path& path, const char* label) {
    return [=] { read_data(path, {.label_column = label}); };
  };

  expect_error<InvalidArgument>(read(dir / "a.npy", "kind"), {"'kind'", "a.npy has no names; its columns are 1 to 2"});
  expect_error<InvalidArgument>(read(dir / "a.npy", "3"), {"label column 3", "a.npy has columns 1 to 2"});
  expect_error<DataError>(read(dir / "one.npy", "1"), {"one.npy: has a label column and no other"});
  expect_error<InvalidArgument>(read(dir.file("a.mtx", market), "1"), {"a.mtx is a Matrix Market file"});
}

TEST(ReadData, SaysThatTheContentBeliesTheExtension) {
  const test::TempDir dir;

  expect_error<DataError>([&] { read_data(dir.file("a.npy", "1,2\n")); }, {"a.npy: is not a NumPy .npy file"});
  expect_error<DataError>([&] { read_data(dir.file("a.mtx", "1,2\n")); }, {"a.mtx:1: is not a Matrix Market file"});
}

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

}  // namespace
}  // namespace hearsay::io

#include <gtest/gtest.h>

#include <hearsay/io/matrix.hpp>
#include <hearsay/io/npy.hpp>

#include "gzipped.hpp"
#include "npy_bytes.hpp"
#include "support/expect_error.hpp"
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

}  // namespace
}  // namespace hearsay::io

#include <gtest/gtest.h>

#include <hearsay/io/matrix.hpp>
#include <hearsay/io/npy.hpp>
#include <hearsay/io/rows.hpp>
#include <limits>

#include "gzipped.hpp"
#include "npy_bytes.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

using test::expect_error;
using test::gzipped;

// All rows, gathered from blocks of the given height; the blocks are views into a wider matrix.
Block<double> gather(RowSource<double>& source, Index height) {
  Block<double> all(0, source.cols()), wide(height, source.cols() + 3);
  for (;;) {
    const Index count = source.read(wide.leftCols(source.cols()));
    all.conservativeResize(all.rows() + count, Eigen::NoChange);
    all.bottomRows(count) = wide.leftCols(source.cols()).topRows(count);
    if (count < height) return all;
  }
}

TEST(Rows, AreThoseOfTheWholeFileWhateverTheBlock) {
  const test::TempDir dir;
  const Block<double> values = Block<double>::Random(1000, 7);
  write_table_csv(dir / "a.csv", values);
  write_table_csv(dir / "named.csv", values, {"a", "b", "c", "d", "e", "f", "g"});
  write_npy(dir / "a.npy", values);
  dir.file("a.csv.gz", gzipped(test::slurp(dir / "a.csv")));
  dir.file("a.npy.gz", gzipped(test::slurp(dir / "a.npy")));
  Block<double> beyond(2, 7);
  for (const char* name : {"a.csv", "named.csv", "a.npy", "a.csv.gz", "a.npy.gz"}) {
    const auto rows = open_rows(dir / name);
    ASSERT_EQ(rows->cols(), 7);
    for (const Index height : {1, 3, 250, 999, 1000, 1001}) {
      EXPECT_EQ(gather(*rows, height), values) << name << ' ' << height;
      EXPECT_EQ(rows->read(beyond), 0) << "the end is the end";
      rows->rewind();
    }
  }
}

TEST(Rows, StartAgainFromTheMiddle) {
  const test::TempDir dir;
  const auto rows = open_rows(dir.file("a.csv.gz", gzipped("x,y\n1,2\n3,4\n5,6\n")));
  Block<double> block(2, 2);

  ASSERT_EQ(rows->read(block), 2);
  rows->rewind();
  ASSERT_EQ(rows->read(block), 2);

  EXPECT_EQ(block, (Block<double>(2, 2) << 1, 2, 3, 4).finished());
}

TEST(Rows, SayWhatTheyKnowBeforeThePass) {
  const test::TempDir dir;
  const Block<double> values = Block<double>::Random(300, 4);
  write_npy(dir / "a.npy", values);
  write_table_csv(dir / "a.csv", values);
  const auto npy = open_rows(dir / "a.npy"), table = open_rows(dir / "a.csv");

  EXPECT_EQ(npy->rows(), 300);
  EXPECT_EQ(table->rows(), std::nullopt) << "nobody counted the lines";
  EXPECT_EQ(npy->bytes_per_pass(), test::slurp(dir / "a.npy").size());
  EXPECT_EQ(table->bytes_per_pass(), test::slurp(dir / "a.csv").size());
  EXPECT_EQ(npy->name(), (dir / "a.npy").string());
}

TEST(Rows, LeaveOutAsManyAsAskedFor) {
  const test::TempDir dir;
  const Block<double> values = Block<double>::Random(1000, 7);
  write_npy(dir / "a.npy", values);
  write_table_csv(dir / "a.csv", values);
  dir.file("b.npy.gz", gzipped(test::slurp(dir / "a.npy")));
  for (const char* name : {"a.npy", "a.csv", "b.npy.gz"})
    for (const Index count : {0, 1, 700, 1000}) {
      const auto rows = open_rows(dir / name);
      Block<double> first(3, 7);
      ASSERT_EQ(rows->skip(count), count) << name;
      EXPECT_EQ(gather(*rows, 64), values.bottomRows(1000 - count)) << name << ' ' << count;
      EXPECT_EQ(rows->skip(5), 0) << name << ": the end is the end";
      rows->rewind();
      ASSERT_EQ(rows->read(first), 3);
      EXPECT_EQ(first, values.topRows(3)) << name;
      EXPECT_EQ(rows->skip(2000), 997) << name;
    }
}

TEST(Rows, LeaveTheLabelColumnOut) {
  const test::TempDir dir;
  write_npy(dir / "a.npy", (Block<double>(2, 3) << 1, 9, 2, 3, 9, 4).finished());
  const Block<double> expected = (Block<double>(2, 2) << 1, 2, 3, 4).finished();

  const auto from_table = open_rows(dir.file("a.csv", "1,u,2\n3,v,4\n"), {.label_column = "2"});
  const auto from_npy = open_rows(dir / "a.npy", {.label_column = "2"});

  EXPECT_EQ(gather(*from_table, 5), expected);
  EXPECT_EQ(gather(*from_npy, 1), expected);
}

TEST(Rows, ConvertFloatsAndIntegers) {
  const test::TempDir dir;
  const Block<double> expected = (Block<double>(2, 2) << 1, 2, 3, 4).finished();
  write_npy(dir / "f4.npy", Block<float>(expected.cast<float>()));
  dir.file("i2.npy", test::npy_bytes(test::npy_dict(">i2", "(2, 2)"), test::raw<std::int16_t>({1, 2, 3, 4}, true)));

  EXPECT_EQ(gather(*open_rows(dir / "f4.npy"), 3), expected);
  EXPECT_EQ(gather(*open_rows(dir / "i2.npy"), 3), expected);
}

TEST(RowsError, NamesTheLineAsReadTableDoes) {
  const test::TempDir dir;
  std::string text = "x,y\n";
  for (int i = 0; i < 30'000; ++i) text += "1.25,2.5\n\n";
  const auto bad_cell = open_rows(dir.file("a.csv", text + "3,abc\n"));
  const auto ragged = open_rows(dir.file("b.csv.gz", gzipped(text + "3\n")));

  expect_error<DataError>([&] { gather(*bad_cell, 100); }, {"a.csv:60002:2: 'abc' is not a number"});
  expect_error<DataError>([&] { gather(*ragged, 100); }, {"b.csv.gz:60002:2: the row ends here"});
}

TEST(RowsError, NamesTheRowOfAnNpyFile) {
  const test::TempDir dir;
  Block<double> values = Block<double>::Ones(100, 3);
  values(57, 1) = std::numeric_limits<double>::quiet_NaN();
  write_npy(dir / "a.npy", values);

  expect_error<DataError>([&] { gather(*open_rows(dir / "a.npy"), 10); }, {"a.npy: row 58, column 2 is nan"});
}

TEST(RowsError, RefusesFilesCutShortOrTooLong) {
  const test::TempDir dir;
  write_npy(dir / "a.npy", Block<double>::Ones(100, 3));
  const std::string whole = test::slurp(dir / "a.npy"), packed = gzipped(whole);

  expect_error<DataError>([&] { gather(*open_rows(dir.file("b.npy", whole.substr(0, whole.size() - 8))), 10); },
                          {"b.npy: is truncated"});
  expect_error<DataError>([&] { gather(*open_rows(dir.file("c.npy", whole + "x")), 10); }, {"c.npy", "left over"});
  expect_error<DataError>([&] { gather(*open_rows(dir.file("d.npy.gz", packed.substr(0, packed.size() - 1))), 10); },
                          {"d.npy.gz: the gzip data are truncated"});
}

TEST(RowsError, RefusesFilesThatHaveNoRowsToHandOut) {
  const test::TempDir dir;
  const auto by_columns = test::npy_bytes(test::npy_dict("<f8", "(2, 2)", true), test::raw<double>({1, 2, 3, 4}));

  expect_error<DataError>([&] { open_rows(dir.file("f.npy", by_columns)); }, {"f.npy: is in Fortran order", "C order"});
  expect_error<InvalidArgument>([&] { open_rows(dir.file("a.mtx", "%%MatrixMarket")); }, {"a.mtx", "row by row"});
  expect_error<DataError>([&] { open_rows(dir / "absent.csv"); }, {"absent.csv: no such file"});
}

}  // namespace
}  // namespace hearsay::io

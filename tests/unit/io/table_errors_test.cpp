#include <gtest/gtest.h>

#include <hearsay/io/table.hpp>

#include "gzipped.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

using test::expect_error;

void expect_bad(std::string_view text, std::initializer_list<std::string> parts, const TableOptions& options = {}) {
  expect_error<DataError>([&] { parse_table(text, "t.csv", options); }, parts);
}

void expect_refused(std::string_view text, const TableOptions& options, std::initializer_list<std::string> parts) {
  expect_error<InvalidArgument>([&] { parse_table(text, "t.csv", options); }, parts);
}

TEST(TableError, NamesTheFileOnDisk) {
  const test::TempDir dir;
  const auto path = dir.file("t.csv.gz", test::gzipped("1,2\n3,abc\n"));

  expect_error<DataError>([&] { read_table(path); }, {path.string() + ":2:2: 'abc' is not a number"});
}

TEST(TableError, SaysWhereARowIsRagged) {
  expect_bad("1,2,3\n4,5,6\n7,8\n", {"t.csv:3:3: the row ends here, after 2 of the 3 columns of line 1"});
  expect_bad("1,2,3\n\n4,5,6,7\n", {"t.csv:3:4: the row has more than the 3 columns of line 1"});
  expect_bad("a,b\n1\n", {"t.csv:2:2"});
  expect_bad("1 2 3\n4 5\n", {"t.csv:2:3"});
  expect_bad("1 2 3\n4 5 6 7\n", {"t.csv:2:4"});
}

TEST(TableError, SaysWhereTextStandsForANumber) {
  expect_bad("1,2\n3,abc\n", {"t.csv:2:2: 'abc' is not a number"});
  expect_bad("1,2\n3,1.2.3\n", {"t.csv:2:2: '1.2.3' is not a number"});
  expect_bad("1,2\n0x10,4\n", {"t.csv:2:1: '0x10' is not a number"});
  expect_bad("1,2\n1e,4\n", {"t.csv:2:1: '1e' is not a number"});
  expect_bad("1,2\n+-3,4\n", {"t.csv:2:1: '+-3' is not a number"});
  expect_bad("1,2\n1 2,4\n", {"t.csv:2:1: '1 2' is not a number"});
  expect_bad("1 2\n3 4x\n", {"t.csv:2:2: '4x' is not a number"});
  expect_bad("1,5;2,5\n3,5;4,5\n", {"t.csv:1:", "is not a number"});
  expect_bad("a,b,kind\n1,2,setosa\n", {"t.csv:2:3: 'setosa' is not a number"});
}

TEST(TableError, LosesNoRowToAHeaderThatIsNone) {
  expect_bad("1,abc\n3,4\n", {"t.csv:1:2: 'abc' is not a number", "no header"});
  expect_bad("?,2\n3,4\n", {"t.csv:1:1: '?' is not a number"});
}

TEST(TableError, SaysWhereACellIsEmpty) {
  expect_bad("1,2,3\n4,,6\n", {"t.csv:2:2: the cell is empty"});
  expect_bad("1,2,\n4,5,\n", {"t.csv:1:3: the cell is empty"});
  expect_bad("1\t2\t3\n4\t\t6\n", {"t.csv:2:2: the cell is empty"});
  expect_bad("1,2\n3,\"\"\n", {"t.csv:2:2: the cell is empty"});
  expect_bad("1,x\n2,\n", {"t.csv:2:2: the label is empty"}, {.label_column = "2"});
}

TEST(TableError, SaysWhereTheFirstValueIsNotFinite) {
  expect_bad("a,b\n1,2\n3,NaN\nnan,4\n", {"t.csv:3:2: the value is NaN"});
  expect_bad("1,2\n-inf,4\n", {"t.csv:2:1: the value is infinite"});
  expect_bad("nan,nan\n1,2\n", {"t.csv:1:1: the value is NaN"});
  expect_bad("1,2\n1e999,4\n", {"t.csv:2:1", "too large"});
  expect_bad("1,2\n-1e99999999999999999999,4\n", {"t.csv:2:1", "too large"});
  expect_bad("1\n1" + std::string(400, '0') + "e-5\n", {"t.csv:2:1", "too large"});
}

TEST(TableError, SaysWhereQuotesAreBroken) {
  expect_bad("1,2\n\"3,4\n", {"t.csv:2:1: the quotes do not close"});
  expect_bad("\"a,b\n1,2\n", {"t.csv:1:1: the quotes do not close"});
  expect_bad("1,2\n\"3\"x,4\n", {"t.csv:2:1: the quotes do not close"});
  expect_bad("x,2\n\"y,4\n", {"t.csv:2:1: the quotes do not close"}, {.label_column = "1"});
}

TEST(TableError, SaysThatThereIsNothingToRead) {
  expect_bad("", {"t.csv: holds no numbers"});
  expect_bad("\n \n\r\n", {"t.csv: holds no numbers"});
  expect_bad("a,b\n", {"t.csv: holds a header and no rows"});
  expect_bad("x\ny\n", {"t.csv: has a label column and no other"}, {.label_column = "1"});
  expect_bad("kind\nx\n", {"t.csv: has a label column and no other"}, {.label_column = "kind"});
}

TEST(TableError, KnowsUtf16) {
  expect_bad(std::string_view("\xff\xfe"
                              "1\0,\0",
                              6),
             {"t.csv:1: this is UTF-16"});
}

TEST(TableError, ShowsNothingUnprintableAndNothingLong) {
  expect_bad(std::string_view("1,2\n3,a\0\x1b[2J\n", 14), {"'a\\x00\\x1b[2J' is not a number"});
  expect_bad("1,2\n3," + std::string(1000, 'x') + "\n", {"'" + std::string(40, 'x') + "...' is not a number"});
}

TEST(TableError, HelpsWithALabelColumnItCannotFind) {
  const std::string_view text = "length,width,species\n1,2,x\n";

  expect_refused(text, {.label_column = "speces"},
                 {"label column 'speces'", "t.csv", "did you mean 'species'?", "length, width, species"});
  expect_refused(text, {.label_column = "zzz"}, {"'zzz'", "its columns are length, width, species"});
  expect_refused(text, {.label_column = "4"}, {"label column 4: t.csv has columns 1 to 3"});
  expect_refused(text, {.label_column = "0"}, {"label column 0: t.csv has columns 1 to 3"});
  expect_refused(text, {.label_column = "-1"}, {"label column -1"});
  expect_refused("1,2\n3,4\n", {.label_column = "kind"}, {"'kind': t.csv has no names; its columns are 1 to 2"});
  expect_refused("a,a,b\n1,2,3\n", {.label_column = "a"}, {"'a': t.csv has more than one column of that name"});
}

TEST(TableError, RefusesADelimiterThatNumbersAreMadeOf) {
  for (const char delimiter : {'.', '-', '5', 'e', '"', '\n'})
    expect_refused("1,2\n", {.label_column = "", .delimiter = delimiter},
                   {"delimiter", "must not be part of a number"});
}

}  // namespace
}  // namespace hearsay::io

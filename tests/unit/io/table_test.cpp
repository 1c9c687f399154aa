#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <hearsay/io/table.hpp>
#include <limits>
#include <random>

#include "gzipped.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

using test::expect_error;
using Names = std::vector<std::string>;

const Block<double> table_of_six = (Block<double>(2, 3) << 1, 2, 3, 4, 5, 6).finished();

Block<double> values_of(std::string_view text, const TableOptions& options = {}) {
  return parse_table(text, "t.csv", options).values;
}

TEST(Table, FindsTheDelimiter) {
  EXPECT_EQ(values_of("1,2,3\n4,5,6\n"), table_of_six);
  EXPECT_EQ(values_of("1;2;3\n4;5;6\n"), table_of_six);
  EXPECT_EQ(values_of("1\t2\t3\n4\t5\t6\n"), table_of_six);
  EXPECT_EQ(values_of("1 2 3\n4 5 6\n"), table_of_six);
  EXPECT_EQ(values_of("  1   2 \t 3\n 4  5  6  \n"), table_of_six);
  EXPECT_EQ(values_of("1, 2, 3\n4, 5, 6\n"), table_of_six);
  EXPECT_EQ(values_of("1,\t2,\t3\n4,\t5,\t6\n"), table_of_six);
}

TEST(Table, TakesTheDelimiterItIsGiven) {
  EXPECT_EQ(values_of("1|2|3\n4|5|6\n", {.label_column = "", .delimiter = '|'}), table_of_six);
  EXPECT_EQ(values_of("1 2 3\n4\t5 6\n", {.label_column = "", .delimiter = ' '}), table_of_six);
}

TEST(Table, DoesNotMindHowLinesEnd) {
  EXPECT_EQ(values_of("1,2,3\n4,5,6"), table_of_six);
  EXPECT_EQ(values_of("1,2,3\r\n4,5,6\r\n"), table_of_six);
  EXPECT_EQ(values_of("\n1,2,3\n\n  \n4,5,6\n\n\n"), table_of_six);
  EXPECT_EQ(values_of("\xef\xbb\xbf"
                      "1,2,3\n4,5,6\n"),
            table_of_six);
}

TEST(Table, ReadsNumbersInEveryDress) {
  const Block<double> row = values_of(" +1.5 , -2e3,\"3\",.5,5.,1E-2, \" 7 \" ,+.5e+1\n");

  EXPECT_EQ(row, (Block<double>(1, 8) << 1.5, -2000, 3, 0.5, 5, 0.01, 7, 5).finished());
}

TEST(Table, RoundsWhatNoDoubleHoldsByItsExponent) {
  const Block<double> row = values_of("0.37e-9223372036854775808,0.37e-99999999999999999999,-1e-9223372036854775807\n");

  EXPECT_EQ(row, (Block<double>(1, 3) << 0.0, 0.0, 0.0).finished());
  EXPECT_THROW(values_of("1e9223372036854775807\n"), DataError);
}

TEST(Table, KeepsExtremeValues) {
  const Block<double> row = values_of("1e300,1e-300,5e-324,1e-400,-1e-400,1.7976931348623157e308,0e999\n");

  EXPECT_EQ(row(0), 1e300);
  EXPECT_EQ(row(1), 1e-300);
  EXPECT_EQ(row(2), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(row(3), 0.0);
  EXPECT_TRUE(std::signbit(row(4)));
  EXPECT_EQ(row(5), std::numeric_limits<double>::max());
  EXPECT_EQ(row(6), 0.0);
}

TEST(Table, RoundsEveryNumberAsTheStandardLibraryDoes) {
  std::mt19937_64 generator(3);
  std::string text;
  std::vector<double> expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t whole = generator() % 1'000'000'000, decimals = generator() >> (generator() % 60);
    const int exponent = static_cast<int>(generator() % 40) - 20;
    std::string cell = fmt::format("{}{}", i % 3 == 0 ? "-" : "", whole >> (generator() % 30));
    if (i % 2 == 0) cell += fmt::format(".{}", decimals);
    if (i % 5 == 0) cell += fmt::format("e{}", exponent);
    expected.push_back(std::strtod(cell.c_str(), nullptr));
    text += cell;
    text += '\n';
  }

  const Block<double> column = values_of(text);

  ASSERT_EQ(column.rows(), static_cast<Index>(expected.size()));
  for (Index i = 0; i < column.rows(); ++i) EXPECT_EQ(column(i), expected[static_cast<std::size_t>(i)]) << i;
}

TEST(Table, KnowsAHeaderWhenItSeesOne) {
  const Table table = parse_table("height, \"weight, kg\" ,\"say \"\"hi\"\"\"\n1,2,3\n4,5,6\n", "t.csv");

  EXPECT_EQ(table.values, table_of_six);
  EXPECT_EQ(table.column_names, (Names{"height", "weight, kg", "say \"hi\""}));
  EXPECT_TRUE(table.labels.empty());
}

TEST(Table, TellsNamesThatLookLikeNumbersByTheirQuotes) {
  EXPECT_EQ(parse_table("\"2019\",\"2020\"\n1,2\n", "t.csv").column_names, (Names{"2019", "2020"}));
  EXPECT_EQ(parse_table("\"2019\",\"2020\"\n\"1\",\"2\"\n", "t.csv").values.rows(), 2);
}

TEST(Table, ReadsASingleColumnWithOrWithoutAName) {
  EXPECT_EQ(values_of("first name\n1.5\n2.5\n").rows(), 2);
  EXPECT_EQ(values_of("1.5\n2.5\n3.5").rows(), 3);
  EXPECT_EQ(values_of("7").size(), 1);
}

TEST(Table, SplitsOffTheLabelColumnByNumberNameOrPlace) {
  const std::string_view text = "a,kind,b\n1,x,2\n3,\"y, or \"\"z\"\"\",4\n";
  for (const char* label : {"2", "kind"}) {
    const Table table = parse_table(text, "t.csv", {.label_column = label});

    EXPECT_EQ(table.values, (Block<double>(2, 2) << 1, 2, 3, 4).finished());
    EXPECT_EQ(table.column_names, (Names{"a", "b"}));
    EXPECT_EQ(table.labels, (Names{"x", "y, or \"z\""}));
    EXPECT_EQ(table.label_name, "kind");
  }
}

TEST(Table, SplitsOffTheLastColumnWithoutAHeader) {
  const Table table = parse_table("1,2,setosa\n3,4,virginica\n", "t.csv", {.label_column = "last"});

  EXPECT_EQ(table.values, (Block<double>(2, 2) << 1, 2, 3, 4).finished());
  EXPECT_EQ(table.labels, (Names{"setosa", "virginica"}));
  EXPECT_TRUE(table.column_names.empty());
  EXPECT_TRUE(table.label_name.empty());
}

TEST(Table, KeepsNumericLabelsAsTheyAreWritten) {
  const Table table = parse_table("0,1.5\n07,2.5\n", "t.csv", {.label_column = "1"});

  EXPECT_EQ(table.labels, (Names{"0", "07"}));
}

TEST(Table, AcceptsAHeaderOfNumbersWhenTheLabelIsNamed) {
  const Table table = parse_table("2019,2020,kind\n1,2,x\n", "t.csv", {.label_column = "kind"});

  EXPECT_EQ(table.column_names, (Names{"2019", "2020"}));
}

TEST(Table, ComesBackFromAFileExactly) {
  const test::TempDir dir;
  std::mt19937_64 generator(5);
  std::uniform_real_distribution<double> exponent(-300, 300);
  Block<double> values(97, 13);
  for (double& value : values.reshaped()) value = std::pow(10.0, exponent(generator)) * (generator() % 2 == 0 ? 1 : -1);
  values(3, 3) = 0.1;
  const Names names{"a", "b,c", "3", "d\"e", "f g", "", "7e1", "h;i", "j", "k", "l", "m", "n"};

  write_table_csv(dir / "named.csv", values, names);
  write_table_csv(dir / "bare.csv", values.leftCols(2));
  const Table named = read_table(dir / "named.csv");

  EXPECT_EQ(named.values, values);
  EXPECT_EQ(named.column_names, names);
  EXPECT_EQ(read_table(dir / "bare.csv").values, values.leftCols(2));
  EXPECT_EQ(read_table(dir.file("named.csv.gz", test::gzipped(test::slurp(dir / "named.csv")))).values, values);
}

TEST(Table, ReadsMoreThanItsBuffersHold) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += fmt::format("{},0.5,{}\n", i, -i);
  std::string wide = "1";
  for (int j = 1; j < 300'000; ++j) wide += ",1";

  const Block<double> values = values_of(text);

  ASSERT_EQ(values.rows(), 60'000);
  for (Index i = 0; i < values.rows(); ++i) ASSERT_EQ(values(i, 0), -values(i, 2));
  EXPECT_EQ(values_of(wide + "\n" + wide).sum(), 600'000);
}

TEST(TableCsv, IsNotWrittenWithNamesThatDoNotFit) {
  const test::TempDir dir;
  const auto path = dir.file("out.csv", "old");

  expect_error<InvalidArgument>(
      [&] {
        write_table_csv(path, table_of_six, {"a", "b"});
      },
      {"2 column names", "3 columns"});
  expect_error<InvalidArgument>([&] { write_table_csv(path, table_of_six, {"a", "b\n", "c"}); }, {"'b\\x0a'"});
  EXPECT_EQ(test::slurp(path), "old");
}

TEST(Table, TakesCellsThatHoldNothingWhereTheyMay) {
  for (const std::string_view cell :
       {"", "NA", "na", "N/A", "NaN", "nan", "null", "None", "#N/A", "?", ".", "\"\"", " NA "}) {
    const Table table = parse_table(fmt::format("a,b,c\n1,{},3\n4,5,6\n", cell), "t.csv", {.missing = true});
    EXPECT_TRUE(std::isnan(table.values(0, 1))) << cell;
    EXPECT_EQ(table.values(0, 2), 3) << cell;
    EXPECT_EQ(table.column_names, (Names{"a", "b", "c"}));
    expect_error<DataError>(
        [&] { parse_table(fmt::format("a,b,c\n1,{},3\n4,5,6\n", cell), "t.csv", {.missing_hint = "; a hint"}); },
        {"t.csv:2:2", "; a hint"});
  }
  for (const std::string_view cell : {"inf", "-inf", "1e999", "nothing", "NAN1", "--"})
    expect_error<DataError>([&] { values_of(fmt::format("1,{}\n2,3\n", cell), {.missing = true}); }, {"t.csv:1:2"});
}

TEST(Table, KeepsAFirstRowThatHoldsNothing) {
  const Table table = parse_table("NA,,?\n1,2,3\n", "t.csv", {.missing = true});

  EXPECT_EQ(table.values.rows(), 2);
  EXPECT_TRUE(table.column_names.empty());
  EXPECT_TRUE(table.values.row(0).array().isNaN().all());
}

}  // namespace
}  // namespace hearsay::io

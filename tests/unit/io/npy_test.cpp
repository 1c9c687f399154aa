#include <gtest/gtest.h>

#include <cstdint>
#include <hearsay/io/npy.hpp>
#include <limits>

#include "gzipped.hpp"
#include "npy_bytes.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

using test::expect_error;
using test::npy_bytes;
using test::npy_dict;
using test::raw;

const Block<double> two_by_three = (Block<double>(2, 3) << 1, 2, 3, 4, 5, 6).finished();

Block<double> npy_doubles(std::string_view bytes) { return std::get<Block<double>>(parse_npy(bytes, "a.npy")); }

void expect_bad_npy(std::string_view bytes, std::initializer_list<std::string> parts) {
  expect_error<DataError>([&] { parse_npy(bytes, "a.npy"); }, parts);
}

template <class T>
void expect_reads(const std::string& type) {
  const std::vector<T> by_rows{1, 2, 3, 4, 5, 6}, by_columns{1, 4, 2, 5, 3, 6};
  for (const bool swapped : {false, true}) {
    const std::string dtype = (sizeof(T) == 1 ? "|" : swapped ? ">" : "<") + type;

    EXPECT_EQ(npy_doubles(npy_bytes(npy_dict(dtype, "(2, 3)"), raw(by_rows, swapped))), two_by_three) << dtype;
    EXPECT_EQ(npy_doubles(npy_bytes(npy_dict(dtype, "(2, 3)", true), raw(by_columns, swapped))), two_by_three) << dtype;
  }
}

TEST(Npy, ReadsEveryIntegerTypeInBothOrders) {
  expect_reads<std::int8_t>("i1");
  expect_reads<std::int16_t>("i2");
  expect_reads<std::int32_t>("i4");
  expect_reads<std::int64_t>("i8");
  expect_reads<std::uint8_t>("u1");
  expect_reads<std::uint16_t>("u2");
  expect_reads<std::uint32_t>("u4");
  expect_reads<std::uint64_t>("u8");
}

TEST(Npy, ReadsDoublesInBothOrders) { expect_reads<double>("f8"); }

TEST(Npy, KeepsFloatsAsFloats) {
  const std::vector<float> by_columns{1, 4, 2, 5, 3, 6};
  for (const bool swapped : {false, true}) {
    const auto matrix =
        parse_npy(npy_bytes(npy_dict(swapped ? ">f4" : "<f4", "(2, 3)", true), raw(by_columns, swapped)), "a.npy");

    EXPECT_EQ(std::get<Block<float>>(matrix), two_by_three.cast<float>());
  }
}

TEST(Npy, KnowsSignsAndExtremesOfIntegers) {
  EXPECT_EQ(npy_doubles(npy_bytes(npy_dict("|i1", "(1, 2)"), raw<std::int8_t>({-128, 127})))(0, 0), -128.0);
  EXPECT_EQ(npy_doubles(npy_bytes(npy_dict("|u1", "(1, 2)"), raw<std::uint8_t>({255, 1})))(0, 0), 255.0);
  EXPECT_EQ(npy_doubles(npy_bytes(npy_dict("<u8", "(1, 1)"), raw<std::uint64_t>({~std::uint64_t{0}})))(0, 0), 0x1p64);
}

TEST(Npy, ReadsBooleansAsZeroAndOne) {
  EXPECT_EQ(npy_doubles(npy_bytes(npy_dict("|b1", "(1, 3)"), std::string_view("\1\0\1", 3))),
            (Block<double>(1, 3) << 1, 0, 1).finished());
}

TEST(Npy, ReadsOneDimensionAsOneColumn) {
  const Block<double> column = npy_doubles(npy_bytes(npy_dict("<f8", "(3,)"), raw<double>({1, 2, 3})));

  EXPECT_EQ(column, (Block<double>(3, 1) << 1, 2, 3).finished());
}

TEST(Npy, ReadsEveryVersionAndWayToWriteTheHeader) {
  const std::string data = raw<double>({1, 2, 3, 4, 5, 6});
  for (const int version : {1, 2, 3})
    EXPECT_EQ(npy_doubles(npy_bytes(npy_dict("<f8", "(2, 3)"), data, version)), two_by_three);

  EXPECT_EQ(npy_doubles(npy_bytes("{\"shape\":(2L,3L),\"fortran_order\":False,\"descr\":\"<f8\"}   ", data)),
            two_by_three);
}

TEST(Npy, ReadsFortranOrderWiderThanOnePanel) {
  Block<double> values(37, 53);
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = static_cast<double>(i);
  const Eigen::MatrixXd by_columns = values;
  const std::vector<double> numbers(by_columns.data(), by_columns.data() + by_columns.size());

  EXPECT_EQ(npy_doubles(npy_bytes(npy_dict("<f8", "(37, 53)", true), raw(numbers))), values);
}

TEST(Npy, ComesBackFromAFileExactly) {
  const test::TempDir dir;
  const Block<double> values = Block<double>::Random(401, 303);  // more than one piece
  const Block<float> singles = values.cast<float>();

  write_npy(dir / "d.npy", values);
  write_npy(dir / "s.npy", singles);
  write_npy(dir / "part.npy", values.middleCols(2, 5));

  EXPECT_EQ(std::get<Block<double>>(read_npy(dir / "d.npy")), values);
  EXPECT_EQ(std::get<Block<float>>(read_npy(dir / "s.npy")), singles);
  EXPECT_EQ(std::get<Block<double>>(read_npy(dir / "part.npy")), values.middleCols(2, 5));
  EXPECT_EQ(std::get<Block<double>>(read_npy(dir.file("d.npy.gz", test::gzipped(test::slurp(dir / "d.npy"))))), values);
  EXPECT_EQ((std::filesystem::file_size(dir / "d.npy") - 401 * 303 * 8) % 64, 0U);
}

TEST(NpyError, LeavesTheOldFileWhenTheNewOneCannotBeWritten) {
  const test::TempDir dir;

  expect_error<InvalidArgument>([&] { write_npy(dir / "no/a.npy", two_by_three); }, {"no/a.npy", "does not exist"});
}

TEST(NpyError, SaysThatAFileIsNoNpy) {
  expect_bad_npy("1,2,3\n4,5,6\n", {"a.npy: is not a NumPy .npy file"});
  expect_bad_npy("\x93NUM", {"a.npy: is not a NumPy .npy file"});
  expect_bad_npy(npy_bytes(npy_dict("<f8", "(1,)"), raw<double>({1}), 4), {"version 4"});
}

TEST(NpyError, NamesATypeItDoesNotRead) {
  for (const char* dtype : {"<c16", "<f2", "<f16", "|O", "<U5", "|S3", "<M8[ns]", "f8", "", "<f9"})
    expect_bad_npy(npy_bytes(npy_dict(dtype, "(1, 1)"), "12345678"), {"a.npy", "type '" + std::string(dtype) + "'"});
  expect_bad_npy(npy_bytes("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,), }", "12345678"),
                 {"structured"});
}

TEST(NpyError, RefusesShapesThatAreNoMatrix) {
  expect_bad_npy(npy_bytes(npy_dict("<f8", "()"), "12345678"), {"0 dimensions"});
  expect_bad_npy(npy_bytes(npy_dict("<f8", "(1, 1, 1)"), "12345678"), {"3 dimensions"});
  expect_bad_npy(npy_bytes(npy_dict("<f8", "(0, 5)"), ""), {"holds no numbers"});
}

TEST(NpyError, RefusesAHeaderThatIsMalformed) {
  for (const char* dict : {"", "{", "{}", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}",
                           "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x", "{'descr': '<f8",
                           "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}",
                           "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
                           "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
                           "{'descr': '<f8', 'fortran_order': False, 'shape': (1 1)}", "{'other': 1}", "[1]"})
    expect_bad_npy(npy_bytes(dict, "12345678"), {"a.npy: the .npy header is malformed"});
}

TEST(NpyError, RefusesAFileCutShortAnywhere) {
  const std::string whole = npy_bytes(npy_dict("<f8", "(2, 3)"), raw<double>({1, 2, 3, 4, 5, 6}));

  for (std::size_t size = 0; size < whole.size(); ++size) expect_bad_npy(whole.substr(0, size), {"a.npy"});
  expect_bad_npy(whole.substr(0, whole.size() - 1), {"truncated", "2 x 3 numbers (48 bytes)"});
  expect_bad_npy(whole + "x", {"left over"});
}

TEST(NpyError, RefusesPromisesNoFileOrMemoryCouldKeep) {
  for (const char* shape :
       {"(1000000000000000000,)", "(4294967296, 4294967296)", "(9223372036854775807, 9223372036854775807)",
        "(1000000, 1000000)", "(2305843009213693952, 1)"})
    expect_bad_npy(npy_bytes(npy_dict("<f8", shape), "12345678"), {"a.npy", "promises", "more than"});
}

TEST(NpyError, RefusesAPromiseOfAGzipFileBeforeTakingMemory) {
  const test::TempDir dir;
  const auto path = dir.file("a.npy.gz", test::gzipped(npy_bytes(npy_dict("<f8", "(1000000, 1000000)"), "12345678")));

  expect_error<DataError>([&] { read_npy(path); },
                          {"a.npy.gz", "promises 1000000 x 1000000", "more than the file holds"});
}

TEST(NpyError, SaysWhereTheFirstValueIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

  expect_bad_npy(npy_bytes(npy_dict("<f8", "(2, 3)"), raw<double>({1, 2, 3, 4, nan, inf})),
                 {"a.npy: row 2, column 2 is nan"});
  expect_bad_npy(npy_bytes(npy_dict("<f8", "(2, 3)", true), raw<double>({1, 2, 3, -inf, nan, 6})),
                 {"row 1, column 3 is nan"});
  expect_bad_npy(npy_bytes(npy_dict("<f4", "(3,)"), raw<float>({1, -std::numeric_limits<float>::infinity(), 3})),
                 {"row 2, column 1 is -inf"});
}

}  // namespace
}  // namespace hearsay::io

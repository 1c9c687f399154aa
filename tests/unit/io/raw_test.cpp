#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/io/matrix.hpp>
#include <hearsay/io/npy.hpp>
#include <hearsay/io/rows.hpp>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "io/lost_pages.hpp"
#include "io/mapped_file.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::random_block;

template <class S>
std::string bytes_of(const Block<S>& values) {
  return {reinterpret_cast<const char*>(values.data()), static_cast<std::size_t>(values.size()) * sizeof(S)};
}

fs::path written(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

template <class S>
Block<S> all_rows(RowSource<S>& rows, Index at_once) {
  Block<S> all(0, rows.cols()), block(at_once, rows.cols());
  rows.rewind();
  for (Index count = rows.read(block); count > 0; count = rows.read(block)) {
    const Index before = all.rows();
    all.conservativeResize(before + count, Eigen::NoChange);
    all.bottomRows(count) = block.topRows(count);
  }
  return all;
}

TEST(RawShape, IsRowsTimesColumnsOrColumns) {
  EXPECT_EQ(parse_raw_shape("1000x20").rows, 1000);
  EXPECT_EQ(parse_raw_shape("1000x20").columns, 20);
  EXPECT_EQ(parse_raw_shape("20").rows, 0);
  for (const char* bad :
       {"", "x", "0x3", "3x0", "3x", "x3", "-3x2", "3x2x1", "3 x 2", "a", "1e3x2", "99999999999999999999x2"})
    expect_error<InvalidArgument>([&] { (void)parse_raw_shape(bad); }, {"raw-shape = ", "ROWSxCOLUMNS"});
}

TEST(RawRows, AreReadInEveryTypeAndOrder) {
  const test::TempDir directory;
  const Block<double> values = (random_block(37, 5, 1) * 20).array().round();
  const Block<float> single = values.cast<float>();
  std::string swapped = bytes_of(single), small;
  for (std::size_t i = 0; i < swapped.size(); i += 4) std::reverse(swapped.begin() + i, swapped.begin() + i + 4);
  for (Index i = 0; i < values.size(); ++i) small += static_cast<char>(values.data()[i]);
  const std::pair<std::string, std::string> files[] = {
      {"f8", bytes_of(values)}, {"f4", bytes_of(single)}, {"<f4", bytes_of(single)}, {">f4", swapped}, {"i1", small}};
  for (const auto& [type, bytes] : files) {
    const fs::path path = written(directory.path() / "data.bin", "0123456" + bytes);
    for (const std::int64_t rows : {0, 37}) {
      const TableOptions options{.raw = RawLayout{.rows = rows, .columns = 5, .type = type, .skip = 7}};
      EXPECT_EQ(all_rows(*open_rows(path, options), 8), values) << type;
      StoredRows stored = open_rows_as_stored(path, options);
      EXPECT_EQ(std::holds_alternative<std::unique_ptr<RowSource<float>>>(stored), type.ends_with("f4")) << type;
      std::visit([&](auto& source) { EXPECT_EQ((all_rows(*source, 11).template cast<double>()), values) << type; },
                 stored);
      std::visit(
          [&](const auto& matrix) {
            if constexpr (requires { matrix.template cast<double>(); }) {
              EXPECT_EQ(Block<double>(matrix.template cast<double>()), values) << type;
            }
          },
          read_data(path, options).matrix);
    }
  }
}

TEST(RawRows, SkipWithoutReading) {
  const test::TempDir directory;
  const Block<double> values = random_block(100, 3, 2);
  const fs::path path = written(directory.path() / "data.bin", bytes_of(values));
  const auto rows = open_rows(path, {.raw = RawLayout{.columns = 3, .type = "f8"}});
  Block<double> block(4, 3);

  rows->rewind();
  EXPECT_EQ(rows->skip(90), 90);
  EXPECT_EQ(rows->read(block), 4);
  EXPECT_EQ(block, values.middleRows(90, 4));
  EXPECT_EQ(rows->skip(90), 6);
}

TEST(RawRows, ThatDoNotFitTheFileAreRefused) {
  const test::TempDir directory;
  const fs::path path = written(directory.path() / "data.bin", std::string(100, '\0'));
  const auto refuse = [&](const RawLayout& layout, std::initializer_list<std::string> saying) {
    expect_error<DataError>([&] { all_rows(*open_rows(path, {.raw = layout}), 10); }, saying);
    expect_error<DataError>([&] { (void)read_data(path, {.raw = layout}); }, saying);
    expect_error<DataError>([&] { (void)map_rows(path, {.raw = layout}); }, saying);
  };
  refuse({.rows = 9, .columns = 3}, {"data.bin", "9 x 3", "f4"});
  refuse({.columns = 3}, {"data.bin", "100 bytes", "no whole number of rows of 3"});
  refuse({.columns = 3, .skip = 101}, {"data.bin", "101 bytes that are to be skipped"});
  refuse({.columns = 3, .skip = 100}, {"data.bin", "0 bytes"});
  refuse({.rows = INT64_MAX / 2, .columns = INT64_MAX / 2}, {"data.bin"});
  expect_error<InvalidArgument>([&] { (void)open_rows(path, {.raw = RawLayout{.columns = 5, .type = "f2"}}); },
                                {"raw-type = f2", "f4"});
}

TEST(MappedRows, LieWhereTheFileLies) {
  const test::TempDir directory;
  const Block<double> values = random_block(50, 4, 3);
  const Block<float> single = values.cast<float>();
  write_npy(directory.path() / "double.npy", values);
  write_npy(directory.path() / "single.npy", single);
  written(directory.path() / "raw.bin", std::string(16, 'x') + bytes_of(single));

  const auto in_double = map_rows(directory.path() / "double.npy"),
             in_single = map_rows(directory.path() / "single.npy"),
             raw = map_rows(directory.path() / "raw.bin", {.raw = RawLayout{.columns = 4, .skip = 16}});

  EXPECT_EQ(std::get<BorrowedBlock<double>>(in_double->rows()), values);
  EXPECT_EQ(std::get<BorrowedBlock<float>>(in_single->rows()), single);
  EXPECT_EQ(std::get<BorrowedBlock<float>>(raw->rows()), single);
  in_single->require_whole();
}

TEST(MappedRows, AreNotOfFilesThatMustBeConverted) {
  const test::TempDir directory;
  written(directory.path() / "table.csv", "1,2\n3,4\n");
  written(directory.path() / "raw.bin", std::string(81, '\0'));
  write_npy(directory.path() / "data.npy", random_block(5, 4, 4));

  EXPECT_EQ(map_rows(directory.path() / "table.csv"), nullptr);
  EXPECT_EQ(map_rows(directory.path() / "raw.bin", {.raw = RawLayout{.columns = 5, .type = "f8", .skip = 1}}), nullptr);
  EXPECT_EQ(map_rows(directory.path() / "raw.bin", {.raw = RawLayout{.columns = 9, .type = "u1"}}), nullptr);
  EXPECT_EQ(map_rows(directory.path() / "data.npy", {.label_column = "last"}), nullptr);
}

TEST(MappedRows, AreCheckedAsTheyAreOpened) {
  const test::TempDir directory;
  Block<float> values = random_block<float>(3000, 40, 5);
  values(2500, 7) = std::numeric_limits<float>::quiet_NaN();
  write_npy(directory.path() / "data.npy", values);

  expect_error<DataError>([&] { (void)map_rows(directory.path() / "data.npy"); },
                          {"data.npy: row 2501, column 8 is nan"});
  EXPECT_NE(map_rows(directory.path() / "data.npy", {.missing = true}), nullptr);
}

// The pages behind the new end are gone: touching them must neither end the program nor go unnoticed.
TEST(MappedRows, OfAFileThatBecomesShorterReadAsZerosAndAreToldOf) {
  const test::TempDir directory;
  const fs::path path = directory.path() / "data.npy", other = directory.path() / "other.npy";
  write_npy(path, Block<double>::Ones(40000, 4));
  write_npy(other, Block<double>::Ones(40000, 4));
  const auto mapped = map_rows(path), whole = map_rows(other);
  const auto& rows = std::get<BorrowedBlock<double>>(mapped->rows());

  fs::resize_file(path, 100000);

  EXPECT_EQ(rows(0, 0), 1);
  EXPECT_EQ(rows(39999, 3), 0);
  EXPECT_LT(rows.sum(), 12500);
  expect_error<DataError>([&] { mapped->require_whole(); },
                          {"data.npy: became shorter", "1280128 bytes", "has 100000"});
  whole->require_whole();
  EXPECT_EQ(std::get<BorrowedBlock<double>>(whole->rows()).sum(), 160000);
}

TEST(MappedFile, ThatGrewAgainIsToldOfWhereWhatWasGoneWasRead) {
  const test::TempDir directory;
  const fs::path path = written(directory.path() / "data.bin", std::string(100000, 'x'));
  const MappedFile file(path);
  fs::resize_file(path, 10);
  EXPECT_EQ(file.bytes()[90000], 0);
  fs::resize_file(path, 100000);

  expect_error<DataError>([&] { file.require_whole(); }, {"became shorter"});
}

TEST(WatchedPages, AreSoMany) {
  std::vector<WatchedPages> watched;
  const std::string bytes(10, 'x');
  for (int i = 0; i < 64; ++i) watched.emplace_back(bytes.data(), bytes.size());
  expect_error<Error>([&] { watched.emplace_back(bytes.data(), bytes.size()); }, {"64 files"});
  watched.pop_back();
  watched.emplace_back(bytes.data(), bytes.size());
}

TEST(WatchedPagesDeathTest, LeaveOthersErrorsToOthers) {
  const test::TempDir directory;
  const fs::path path = written(directory.path() / "data.bin", std::string(100000, 'x'));
#ifdef __SANITIZE_ADDRESS__
  const testing::ExitedWithCode ended(1);  // AddressSanitizer hears the signal before the system does
  const char* const said = "AddressSanitizer: BUS";
#else
  const testing::KilledBySignal ended(SIGBUS);
  const char* const said = "";
#endif
  EXPECT_EXIT(
      {
        const MappedFile file(path);
        std::raise(SIGBUS);
      },
      ended, said);
}

}  // namespace
}  // namespace hearsay::io

#include <gtest/gtest.h>

#include <hearsay/io/matrix.hpp>
#include <hearsay/io/npy.hpp>
#include <hearsay/io/shards.hpp>

#include "gzipped.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

using test::expect_error;
using test::gzipped;
using test::random_block;

Block<double> rows_of(const Block<double>& data, const std::vector<Index>& rows) { return data(rows, Eigen::all); }

Index rows_kept(const Shards& shards) {
  Index rows = 0;
  for (const auto& block : shards.rows) rows += block.rows();
  return rows;
}

TEST(ShardFiles, AreThoseOfADirectoryByName) {
  const test::TempDir dir;
  for (const char* name : {"b.csv", "a.npy", "c.csv.gz", ".hidden", "below/d.csv"}) dir.file(name, "1\n");

  EXPECT_EQ(shard_files(dir.path()),
            (std::vector<std::filesystem::path>{dir / "a.npy", dir / "b.csv", dir / "c.csv.gz"}));
}

TEST(ShardFiles, MustBeThere) {
  const test::TempDir dir;

  expect_error<DataError>([&] { shard_files(dir.path()); }, {dir.path().string(), "has no files"});
  expect_error<DataError>([&] { shard_files(dir / "missing"); }, {"missing", "cannot be listed"});
}

TEST(ReadShards, OpensTheFilesOfLocalAgentsAlone) {
  const test::TempDir dir;
  const Block<double> one = random_block(5, 3, 1), two = random_block(7, 3, 2);
  const Block<float> single = two.cast<float>();
  write_table_csv(dir / "0.csv", one);
  write_npy(dir / "2.npy", single);
  const std::vector<std::filesystem::path> files = {dir / "0.csv", dir / "there is no such file", dir / "2.npy"};
  const std::vector<Index> local = {0, 2};

  const Shards shards = read_shards(files, local);

  EXPECT_EQ(shards.agents, 3);
  EXPECT_EQ(shards.local, local);
  ASSERT_EQ(shards.rows.size(), 2U);
  EXPECT_EQ(shards.rows[0], one);
  EXPECT_EQ(shards.rows[1], single.cast<double>());
  EXPECT_EQ(shards.names[1], (dir / "2.npy").string());
}

TEST(ReadShards, RefusesAgentsWithoutAFileAndSparseMatrices) {
  const test::TempDir dir;
  const std::vector<std::filesystem::path> files = {
      dir.file("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")};

  expect_error<InvalidArgument>([&] { read_shards(files, std::vector<Index>{1}); }, {"agent 1", "1 files"});
  expect_error<DataError>([&] { read_shards(files, std::vector<Index>{0}); }, {"a.mtx", "sparse"});
}

TEST(ReadSplit, KeepsTheRowsOfLocalAgentsAlone) {
  const test::TempDir dir;
  const Block<double> data = random_block(1000, 4, 3);
  write_table_csv(dir / "a.csv", data);
  write_npy(dir / "a.npy", data);
  dir.file("a.csv.gz", gzipped(test::slurp(dir / "a.csv")));
  const Split split = even_split(1000, 7, 5);

  for (const char* name : {"a.csv", "a.npy", "a.csv.gz"})
    for (const std::vector<Index>& local : {std::vector<Index>{}, {3}, {0, 6}, {0, 1, 2, 3, 4, 5, 6}}) {
      const Shards shards = read_split(dir / name, split, local);

      EXPECT_EQ(shards.agents, 7);
      ASSERT_EQ(shards.rows.size(), local.size());
      Index expected = 0;
      for (std::size_t i = 0; i < local.size(); ++i) {
        EXPECT_EQ(shards.rows[i], rows_of(data, split[static_cast<std::size_t>(local[i])])) << name;
        expected += static_cast<Index>(split[static_cast<std::size_t>(local[i])].size());
      }
      EXPECT_EQ(rows_kept(shards), expected);
    }
}

TEST(ReadSplit, GivesAnAgentWithoutRowsItsColumns) {
  const test::TempDir dir;
  const Split split = {{0, 1}, {}, {2}};

  const Shards shards = read_split(dir.file("a.csv", "1,2\n3,4\n5,6\n"), split, std::vector<Index>{1});

  EXPECT_EQ(shards.rows[0].rows(), 0);
  EXPECT_EQ(shards.rows[0].cols(), 2);
}

TEST(ReadSplit, AsksThatEveryRowIsDealtOutOnce) {
  const test::TempDir dir;
  const auto file = dir.file("a.csv", "1,2\n3,4\n5,6\n");
  const auto read = [&](const Split& split) { return [&, split] { read_split(file, split, std::vector<Index>{0}); }; };

  expect_error<DataError>(read({{0, 1, 3}, {2}}), {"a.csv", "has 3 rows", "names row 3"});
  expect_error<DataError>(read({{0, 1}, {1, 2}}), {"a.csv", "row 1", "twice"});
  expect_error<DataError>(read({{0, 2}, {}}), {"a.csv", "row 1", "to no agent"});
  expect_error<InvalidArgument>([&] { read_split(file, {}, std::vector<Index>{0}); }, {"agent 0"});
}

TEST(CountRows, CountsThoseOfTheFile) {
  const test::TempDir dir;
  const Block<double> data = random_block(777, 3, 1);
  write_npy(dir / "a.npy", data);
  write_table_csv(dir / "a.csv", data, {"x", "y", "z"});

  EXPECT_EQ(count_rows(dir / "a.npy"), 777);
  EXPECT_EQ(count_rows(dir / "a.csv"), 777);
}

TEST(ReadLabels, AreThoseOfTheWholeReading) {
  const test::TempDir dir;
  dir.file("a.csv", "x,kind,y\n1,red,2\n3,blue,4\n5,red,6\n");
  write_npy(dir / "a.npy", (Block<double>(3, 3) << 1, 7, 2, 3, 8, 4, 5, 7, 6).finished());

  for (const auto& [name, column] : {std::pair{"a.csv", "kind"}, {"a.npy", "2"}}) {
    const TableOptions options{.label_column = column};
    EXPECT_EQ(read_labels(dir / name, options), read_data(dir / name, options).labels) << name;
  }
  EXPECT_THROW(read_labels(dir / "a.csv", {}), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::io

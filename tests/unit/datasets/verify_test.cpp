#include <gtest/gtest.h>

#include <hearsay/datasets.hpp>
#include <hearsay/error.hpp>
#include <hearsay/io/file.hpp>

#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

using test::TempDir;

Dataset one_file(DatasetFile file) {
  return {.name = "one", .description = "", .homepage = "", .files = {std::move(file)}};
}

Dataset small_edge_list() { return one_file({.path = "graph.txt", .facts = EdgeListFacts{.nodes = 3, .lines = 4}}); }

FileReport verify_edge_list(const std::string& content) {
  const TempDir directory;
  directory.file("graph.txt", content);
  return verify(small_edge_list(), directory.path()).at(0);
}

TEST(Verify, TellsValidDamagedAndMissingApart) {
  const TempDir directory;
  directory.file("good", "content");
  directory.file("bad", "contents");
  const Dataset dataset{.name = "three",
                        .description = "",
                        .homepage = "",
                        .files = {{.path = "good", .sha256 = sha256_hex("content")},
                                  {.path = "bad", .sha256 = sha256_hex("content")},
                                  {.path = "none", .sha256 = sha256_hex("content")}}};

  const auto reports = verify(dataset, directory.path());

  ASSERT_EQ(reports.size(), 3u);
  EXPECT_EQ(reports[0].state, FileState::valid);
  EXPECT_EQ(reports[0].detail, "");
  EXPECT_EQ(reports[1].state, FileState::damaged);
  EXPECT_NE(reports[1].detail.find(sha256_hex("contents")), std::string::npos) << reports[1].detail;
  EXPECT_EQ(reports[2].state, FileState::missing);
  EXPECT_EQ(reports[2].path, directory.path() / "none");
}

TEST(Verify, CallsADirectoryInTheFilesPlaceDamaged) {
  const TempDir directory;
  directory.file("graph.txt/inside", "x");

  EXPECT_EQ(verify(small_edge_list(), directory.path()).at(0).state, FileState::damaged);
}

TEST(Verify, CallsATruncatedGzipDamaged) {
  const TempDir directory;
  directory.file("graph.txt", std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b", 11));

  EXPECT_EQ(verify(small_edge_list(), directory.path()).at(0).state, FileState::damaged);
}

TEST(Verify, KnowsAnEdgeListWithoutDigestByItsCounts) {
  EXPECT_EQ(verify_edge_list("# Nodes: 3 Edges: 4\n0 1\n1 0\n1 2\n2 2\n").state, FileState::valid);
}

TEST(Verify, WantsTheCountsOfAnEdgeListStatedAtItsHead) {
  const auto report = verify_edge_list("# Nodes: 3 Edges: 5\n0 1\n1 0\n1 2\n2 2\n");

  EXPECT_EQ(report.state, FileState::damaged);
  EXPECT_EQ(report.detail, "no comment at its head says \"Nodes: 3 Edges: 4\"");
}

TEST(Verify, CountsTheEdgesOfAnEdgeList) {
  const auto report = verify_edge_list("# Nodes: 3 Edges: 4\n0 1\n1 0\n1 2\n");

  EXPECT_EQ(report.state, FileState::damaged);
  EXPECT_EQ(report.detail, "has 3 nodes and 3 edges, not 3 and 4");
  EXPECT_EQ(verify_edge_list("# Nodes: 3 Edges: 4\n0 1\n1 x\n").state, FileState::damaged);
}

TEST(RequireIntact, AsksForADigestAndForTheContentThatHasIt) {
  const TempDir directory;
  directory.file("pinned", "content");
  directory.file("trusted", "content");
  const Dataset pinned = one_file({.path = "pinned", .sha256 = sha256_hex("content")});
  const Dataset trusted = one_file({.path = "trusted"});

  EXPECT_NO_THROW(require_intact(pinned, directory.path()));
  EXPECT_THROW(require_intact(trusted, directory.path()), DataError);
  directory.file("trusted.sha256", sha256_hex("content") + "\n");
  EXPECT_NO_THROW(require_intact(trusted, directory.path()));
  directory.file("pinned", "contents");
  directory.file("trusted", "contents");
  EXPECT_THROW(require_intact(pinned, directory.path()), DataError);
  EXPECT_THROW(require_intact(trusted, directory.path()), DataError);
}

}  // namespace
}  // namespace hearsay::io

// The data sets that the library carries, with no directory of data anywhere.
#include <gtest/gtest.h>

#include <hearsay/datasets.hpp>
#include <hearsay/io/built_in.hpp>
#include <hearsay/io/file.hpp>
#include <hearsay/io/rows.hpp>

#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

namespace fs = std::filesystem;

TEST(BuiltIn, AreDigitsAndTheHeart) {
  EXPECT_TRUE(is_built_in(find_dataset("digits")));
  EXPECT_TRUE(is_built_in(find_dataset("fed-heart-disease")));
  EXPECT_FALSE(is_built_in(find_dataset("ego-facebook")));
  EXPECT_FALSE(is_built_in(find_dataset("amazon0302")));
}

TEST(BuiltIn, HaveTheDigestsOfTheTable) {
  for (const char* const name : {"digits", "fed-heart-disease"}) {
    EXPECT_NO_THROW(require_intact(find_dataset(name), built_in_directory())) << name;
    for (const FileReport& report : verify(find_dataset(name), built_in_directory()))
      EXPECT_EQ(report.state, FileState::valid) << report.path << ": " << report.detail;
  }
}

TEST(BuiltIn, AreLoadedLikeOthers) {
  const LabelledTable digits = load_digits(built_in_directory());
  const FederatedTable heart = load_fed_heart_disease(built_in_directory());

  EXPECT_EQ(digits.values.rows(), 1797);
  EXPECT_EQ(digits.values.cols(), 64);
  EXPECT_EQ(digits.labels.size(), 1797u);
  ASSERT_EQ(heart.tables.size(), 4u);
  EXPECT_EQ(heart.tables[0].rows() + heart.tables[1].rows() + heart.tables[2].rows() + heart.tables[3].rows(), 486);
}

TEST(BuiltIn, AreWrittenWithNoAddressAsked) {
  const test::TempDir target;
  Dataset digits = find_dataset("digits");
  digits.files[0].urls.clear();

  EXPECT_EQ(fetch(digits, target.path()).size(), 1u);
  EXPECT_EQ(sha256_file(target.path() / "digits.csv.gz"), sha256_file(built_in_directory() / "digits.csv.gz"));
}

TEST(BuiltIn, AreReadTwiceByAStream) {
  const auto rows = open_rows(built_in_directory() / "digits.csv.gz", {.label_column = "last"});
  Block<double> first(5, 64), again(5, 64);

  ASSERT_EQ(rows->read(first), 5);
  rows->rewind();
  ASSERT_EQ(rows->read(again), 5);

  EXPECT_EQ(first, again);
  EXPECT_EQ(first(0, 2), 5);  // the first image: 0 0 5 13 9 1 ...
}

TEST(BuiltIn, HideNoOtherFile) {
  const test::TempDir directory;
  directory.file("built-in:/digits.csv.gz", "mine");

  EXPECT_EQ(read_whole(directory.path() / "built-in:/digits.csv.gz"), "mine");
  EXPECT_FALSE(built_in_file("built-in:/nothing.csv"));
  EXPECT_FALSE(built_in_file("digits.csv.gz"));
  EXPECT_FALSE(built_in_file(""));
}

}  // namespace
}  // namespace hearsay::io

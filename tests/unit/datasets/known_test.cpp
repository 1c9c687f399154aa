#include <gtest/gtest.h>

#include <algorithm>
#include <hearsay/datasets.hpp>
#include <hearsay/error.hpp>
#include <set>

#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

namespace fs = std::filesystem;

std::string message_for(std::string_view name) {
  try {
    (void)find_dataset(name);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "found";
}

TEST(Datasets, AreTheFourTheExperimentsUse) {
  std::vector<std::string> names;
  for (const Dataset& dataset : datasets()) names.push_back(dataset.name);

  EXPECT_EQ(names, (std::vector<std::string>{"digits", "fed-heart-disease", "ego-facebook", "amazon0302"}));
}

TEST(Datasets, HaveFilesThatCanBeHadAndVerified) {
  std::set<fs::path> seen;
  for (const Dataset& dataset : datasets()) {
    EXPECT_FALSE(dataset.description.empty()) << dataset.name;
    EXPECT_FALSE(dataset.files.empty()) << dataset.name;
    for (const DatasetFile& file : dataset.files) {
      EXPECT_TRUE(file.path.is_relative() && seen.insert(file.path).second) << file.path;
      EXPECT_TRUE(!file.urls.empty() || file.content) << file.path;
      EXPECT_NE(file.sha256.empty(), !file.facts) << file.path;
      EXPECT_TRUE(
          std::all_of(file.urls.begin(), file.urls.end(), [](auto& url) { return url.starts_with("https://"); }));
    }
  }
}

TEST(Datasets, SayHowAFileIsVerified) {
  EXPECT_TRUE(verified_by(find_dataset("digits").files[0]).starts_with("sha256 6ebb3d2f"));
  EXPECT_EQ(verified_by(find_dataset("amazon0302").files[0]), "262111 nodes and 1234877 edges; no digest is published");
}

TEST(FindDataset, IgnoresCase) {
  EXPECT_EQ(find_dataset("digits").name, "digits");
  EXPECT_EQ(find_dataset("Amazon0302").name, "amazon0302");
}

TEST(FindDataset, SuggestsTheNearestName) {
  EXPECT_NE(message_for("digit").find("did you mean digits?"), std::string::npos) << message_for("digit");
  EXPECT_NE(message_for("diigts").find("did you mean digits?"), std::string::npos);
  EXPECT_NE(message_for("facebook").find("did you mean ego-facebook?"), std::string::npos);
  EXPECT_NE(message_for("heart").find("did you mean fed-heart-disease?"), std::string::npos);
}

TEST(FindDataset, ListsTheNamesWhenNoneIsNear) {
  const std::string message = message_for("mnist-of-the-year-2000");

  EXPECT_EQ(message.find("did you mean"), std::string::npos) << message;
  EXPECT_NE(message.find("digits, fed-heart-disease, ego-facebook, amazon0302"), std::string::npos) << message;
  EXPECT_NE(message_for(""), "found");
}

TEST(DataDirectory, PrefersTheVariableOfItsOwn) {
  EXPECT_EQ(data_directory("/data", "/cache", "/users/me"), fs::path("/data"));
  EXPECT_EQ(data_directory(nullptr, "/cache", "/users/me"), fs::path("/cache/hearsay"));
  EXPECT_EQ(data_directory(nullptr, nullptr, "/users/me"), fs::path("/users/me/.cache/hearsay"));
}

TEST(DataDirectory, TakesAnEmptyVariableForNone) {
  EXPECT_EQ(data_directory("", "", "/users/me"), fs::path("/users/me/.cache/hearsay"));
  EXPECT_THROW((void)data_directory("", nullptr, ""), InvalidArgument);
}

TEST(Locate, TellsWhichFilesAreMissing) {
  const test::TempDir directory;
  directory.file("heart/processed.va.data", "x");

  const auto location = locate(find_dataset("fed-heart-disease"), directory.path());

  EXPECT_EQ(location.paths.size(), 5u);
  EXPECT_EQ(location.missing.size(), 4u);
  EXPECT_EQ(location.paths[3], directory.path() / "heart/processed.va.data");
  EXPECT_EQ(std::count(location.missing.begin(), location.missing.end(), location.paths[3]), 0);
}

}  // namespace
}  // namespace hearsay::io

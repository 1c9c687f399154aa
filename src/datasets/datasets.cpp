#include "hearsay/datasets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "datasets/verify.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/built_in.hpp"
#include "io/heart_split.hpp"

namespace hearsay::io {
namespace {

namespace fs = std::filesystem;

// A file of which the library has the bytes; `urls` say where they came from.
DatasetFile carried(fs::path path, std::vector<std::string> urls, std::string_view sha256) {
  return {.path = path, .urls = std::move(urls), .sha256 = std::string(sha256), .content = [path] {
            return std::string(built_in_file(built_in_directory() / path).value());
          }};
}

DatasetFile heart_center(std::string_view center, std::string_view sha256) {
  const std::string file = fmt::format("processed.{}.data", center);
  return carried(fs::path("heart") / file,
                 {"https://archive.ics.uci.edu/ml/machine-learning-databases/heart-disease/" + file}, sha256);
}

std::vector<Dataset> known_datasets() {
  const std::string digits_in_repository = "/sklearn/datasets/data/digits.csv.gz";
  return {
      {.name = "digits",
       .description = "1797 handwritten digits of 8 x 8 pixels, with their labels (UCI optdigits, test part)",
       .homepage = "https://archive.ics.uci.edu/dataset/80",
       .files = {carried("digits.csv.gz",
                         {"https://raw.githubusercontent.com/scikit-learn/scikit-learn/1.5.0" + digits_in_repository,
                          "https://raw.githubusercontent.com/scikit-learn/scikit-learn/main" + digits_in_repository},
                         "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8")}},
      {.name = "fed-heart-disease",
       .description = "heart disease at four centers, 486 train rows of 13 features (UCI, with FLamby's split)",
       .homepage = "https://archive.ics.uci.edu/dataset/45",
       .files = {heart_center("cleveland", "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8"),
                 heart_center("hungarian", "d1ad108f785768cd3d7e82dc522e6f5a61eea93cccfb3a46ee8076f73fc3d796"),
                 heart_center("switzerland", "834a405ccf5b66ab4056bb77794adc8df0b7125186454c0a1d002d33c6c3b314"),
                 heart_center("va", "e7c93d8d0d2acdadfa4c5e8de768e2191e7f618b952e29623f1f0d5949ff6b8f"),
                 {.path = fs::path("heart") / "split.csv",
                  .sha256 = "b94328bb747c8662cb28a62a9955fe31da7344e81a1aaf173ec37ee0a5b5bca5",
                  .content = heart_split_csv}}},
      {.name = "ego-facebook",
       .description = "friendships around ten people: 4,039 nodes, 88,234 edges (SNAP)",
       .homepage = "https://snap.stanford.edu/data/ego-Facebook.html",
       .files = {{.path = "facebook_combined.txt.gz",
                  .urls = {"https://snap.stanford.edu/data/facebook_combined.txt.gz"},
                  .sha256 = "f41c026ed8af3cc3359f1ca5573d0605fb09ae0eefa34544b820fd8c6e2ef296"}}},
      {.name = "amazon0302",
       .description = "products bought together, March 2003: 262,111 nodes, 1,234,877 directed edges (SNAP)",
       .homepage = "https://snap.stanford.edu/data/amazon0302.html",
       .files = {{.path = "amazon0302.txt.gz",
                  .urls = {"https://snap.stanford.edu/data/amazon0302.txt.gz"},
                  .facts = EdgeListFacts{.nodes = 262111, .lines = 1234877}}}},
  };
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// Levenshtein's distance: how many letters to insert, drop or replace.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

// A part of the name is a better hint than any count of letters.
std::size_t strangeness(const std::string& given, const std::string& name) {
  const bool part = !given.empty() && name.find(given) != std::string::npos;
  return part ? 0 : edit_distance(given, name);
}

bool is_set(const char* value) { return value != nullptr && *value != '\0'; }

}  // namespace

const std::vector<Dataset>& datasets() {
  static const std::vector<Dataset> known = known_datasets();
  return known;
}

const Dataset& find_dataset(std::string_view name) {
  const std::string wanted = lower(name);
  const auto& known = datasets();
  const auto nearest = std::min_element(known.begin(), known.end(), [&](const Dataset& a, const Dataset& b) {
    return strangeness(wanted, a.name) < strangeness(wanted, b.name);
  });
  if (nearest->name == wanted) return *nearest;

  std::vector<std::string> names;
  for (const Dataset& dataset : known) names.push_back(dataset.name);
  const bool close = strangeness(wanted, nearest->name) <= nearest->name.size() / 2;
  throw InvalidArgument(fmt::format("data set = {}: unknown; {}there are {}", name,
                                    close ? fmt::format("did you mean {}? ", nearest->name) : "",
                                    fmt::join(names, ", ")));
}

fs::path data_directory(const char* hearsay_data, const char* xdg_cache_home, const char* home) {
  if (is_set(hearsay_data)) return hearsay_data;
  if (is_set(xdg_cache_home)) return fs::path(xdg_cache_home) / "hearsay";
  require(is_set(home), "no directory for data: set HEARSAY_DATA, XDG_CACHE_HOME or HOME");
  return fs::path(home) / ".cache" / "hearsay";
}

bool is_built_in(const Dataset& dataset) { return locate(dataset, built_in_directory()).missing.empty(); }

DatasetLocation locate(const Dataset& dataset, const fs::path& directory) {
  DatasetLocation location;
  for (const DatasetFile& file : dataset.files) {
    location.paths.push_back(directory / file.path);
    if (!can_be_seen(location.paths.back())) location.missing.push_back(location.paths.back());
  }
  return location;
}

}  // namespace hearsay::io

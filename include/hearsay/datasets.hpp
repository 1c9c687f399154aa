// The public data sets the examples and experiments use: what they are, where they come from, where they lie.
//
// The library carries digits and fed-heart-disease itself: they lie in built_in_directory(), which the functions below
// take as they take any other. A directory on a disk holds digits.csv.gz, facebook_combined.txt.gz, amazon0302.txt.gz
// and heart/. Content is known by the SHA-256 of its decompressed bytes, so that a file compressed again, or not at
// all, is still the same data.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "hearsay/graph.hpp"

namespace hearsay::io {

/// What an edge list is known by when nobody publishes a digest: its counts, which its comments must state as well.
struct EdgeListFacts {
  std::int64_t nodes = 0;
  std::int64_t lines = 0;  ///< directed edges, loops and repetitions included
};

struct DatasetFile {
  std::filesystem::path path;               ///< below the data directory
  std::vector<std::string> urls = {};       ///< tried in this order; https, http or file
  std::string sha256 = {};                  ///< of the decompressed content; empty: known by its facts alone
  std::optional<EdgeListFacts> facts = {};  ///< checked when there is no digest
  std::function<std::string()> content =
      nullptr;  ///< of a file that the library carries or derives: no address is asked
};

struct Dataset {
  std::string name;
  std::string description;  ///< one line
  std::string homepage;
  std::vector<DatasetFile> files;
};

/// digits, fed-heart-disease, ego-facebook, amazon0302.
HEARSAY_API const std::vector<Dataset>& datasets();

/// Upper and lower case are the same. Throws InvalidArgument, which names the nearest match, for an unknown name.
HEARSAY_API const Dataset& find_dataset(std::string_view name);

/// How a file is verified, for people: "sha256 6ebb..." or "262111 nodes and 1234877 edges; no digest is published".
HEARSAY_API std::string verified_by(const DatasetFile& file);

/// $HEARSAY_DATA, else $XDG_CACHE_HOME/hearsay, else $HOME/.cache/hearsay. The caller passes the three values (null or
/// empty: not set). Throws InvalidArgument when none is set.
HEARSAY_API std::filesystem::path data_directory(const char* hearsay_data, const char* xdg_cache_home,
                                                 const char* home);

/// Whether the library carries every file of it.
HEARSAY_API bool is_built_in(const Dataset& dataset);

struct DatasetLocation {
  std::vector<std::filesystem::path> paths;    ///< of every file, there or not
  std::vector<std::filesystem::path> missing;  ///< those that are not
};
HEARSAY_API DatasetLocation locate(const Dataset& dataset, const std::filesystem::path& directory);

enum class FileState { valid, missing, damaged };

struct FileReport {
  std::filesystem::path path;
  FileState state;
  std::string detail;  ///< what is wrong; empty when valid
};

/// Reads every file and compares it with what is known of it.
HEARSAY_API std::vector<FileReport> verify(const Dataset& dataset, const std::filesystem::path& directory);

/// A digest that somebody trusts, for a file of which none is published, is kept beside it under this name.
HEARSAY_API std::filesystem::path trusted_digest_file(const std::filesystem::path& path);

/// Throws DataError, naming the file, what was found and what was expected, unless every file is there and has its
/// SHA-256: the one in the table, or else the one trusted here. A file of which neither exists is refused.
HEARSAY_API void require_intact(const Dataset& dataset, const std::filesystem::path& directory);

struct DownloadProgress {
  std::string_view url;
  std::int64_t bytes_received;
  std::int64_t bytes_expected;  ///< zero while the server has not said
};

/// Called now and then during a download; false stops it. May be empty.
using Progress = std::function<bool(const DownloadProgress&)>;

inline constexpr std::size_t longest_download = std::size_t{256} << 20;  ///< far above any data set here
inline constexpr long connect_seconds = 30;
inline constexpr long stall_seconds = 60;  ///< without a byte
inline constexpr long most_redirects = 10;

struct FetchLimits {
  std::chrono::seconds each_file = std::chrono::hours(1);  ///< from the first to the last byte
};

/// Brings the files that are missing or damaged, and returns their paths: none when all is well already. Each file
/// appears complete and verified or not at all; files that arrived before a failure stay. Throws CommunicationError
/// when a server cannot be reached, refuses, sends something else, takes too long, or the caller stops; InvalidArgument
/// when the directory is not writable.
HEARSAY_API std::vector<std::filesystem::path> fetch(const Dataset& dataset, const std::filesystem::path& directory,
                                                     const Progress& progress = {}, const FetchLimits& limits = {});

/// One table per center, with the same columns.
struct FederatedTable {
  std::vector<std::string> centers;
  std::vector<std::string> features;
  std::vector<Block<double>> tables;  ///< rows x features, standardised by each center on its own
};

/// The train rows of FLamby's Fed-Heart-Disease: four centers, 13 features. Like the other loaders, throws DataError
/// for files that are missing or malformed.
HEARSAY_API FederatedTable load_fed_heart_disease(const std::filesystem::path& directory);

struct LabelledTable {
  Block<double> values;
  std::vector<std::int32_t> labels;
};

/// 1797 images of 8 x 8 pixels between 0 and 16, and the digit each shows.
HEARSAY_API LabelledTable load_digits(const std::filesystem::path& directory);

HEARSAY_API Graph load_ego_facebook(const std::filesystem::path& directory);
HEARSAY_API Graph load_amazon0302(const std::filesystem::path& directory);

}  // namespace hearsay::io

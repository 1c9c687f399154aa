#include <fmt/format.h>
#include <fmt/ranges.h>

#include "datasets/download.hpp"
#include "datasets/verify.hpp"
#include "hearsay/datasets.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"

namespace hearsay::io {
namespace {

namespace fs = std::filesystem;

// What is wrong with the bytes an address gave; empty when nothing is.
std::string fault_of_answer(const DatasetFile& file, const std::string& bytes, const std::string& url) try {
  return fault_of(file, decompress(bytes, url));
} catch (const DataError& error) {
  return error.what();
}

// The bytes of a file, compressed or not as they came.
std::string obtain(const DatasetFile& file, const Progress& progress, const FetchLimits& limits) {
  if (file.content) return file.content();
  require(!file.urls.empty(), fmt::format("{}: there is no address to get it from", file.path.string()));
  require(
      !file.sha256.empty(),
      fmt::format("{}: no SHA-256 of it is published, so what arrives cannot be told from something else; give the one "
                  "you trust (`sha256`)",
                  file.path.string()));
  std::vector<std::string> failures;
  for (const std::string& url : file.urls) {
    try {
      std::string bytes = download(url, progress, limits);
      const std::string fault = fault_of_answer(file, bytes, url);
      if (fault.empty()) return bytes;
      failures.push_back(fmt::format("{}: not the file expected: {}", url, fault));
    } catch (const DownloadStopped&) {
      throw;
    } catch (const CommunicationError& error) {
      failures.push_back(error.what());
    }
  }
  throw CommunicationError(fmt::format("{}", fmt::join(failures, "; ")));
}

void make_directory(const fs::path& directory) {
  if (directory.empty()) return;  // the current one
  std::error_code error;
  fs::create_directories(directory, error);
  require(!error, fmt::format("{}: cannot be made: {}", directory.string(), error.message()));
}

}  // namespace

std::vector<fs::path> fetch(const Dataset& dataset, const fs::path& directory, const Progress& progress,
                            const FetchLimits& limits) {
  const std::vector<FileReport> reports = verify(dataset, directory);
  std::vector<fs::path> written;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].state == FileState::valid) continue;
    const fs::path& target = reports[i].path;
    make_directory(target.parent_path());
    AtomicFile output(target);  // before the download, so that a closed directory is found out first
    output.write(obtain(dataset.files[i], progress, limits));
    output.commit();
    written.push_back(target);
  }
  return written;
}

}  // namespace hearsay::io

#include "io/file_kind.hpp"

#include <algorithm>
#include <cctype>

#include "io/npy_format.hpp"

namespace hearsay::io {
namespace {

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return extension;
}

}  // namespace

FileKind kind_of(const InputFile& file) {
  const std::filesystem::path path = file.name();
  std::string extension = lower_extension(path);
  if (extension == ".gz") extension = lower_extension(path.stem());
  if (extension == ".npy") return FileKind::npy;
  if (extension == ".mtx") return FileKind::matrix_market;
  for (const char* known : {".csv", ".tsv", ".txt", ".data"})
    if (extension == known) return FileKind::table;
  if (file.head().starts_with(npy_magic)) return FileKind::npy;
  if (file.head().starts_with("%%MatrixMarket")) return FileKind::matrix_market;
  return FileKind::table;
}

}  // namespace hearsay::io

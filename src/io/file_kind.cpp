#include "io/file_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "hearsay/error.hpp"
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

std::optional<FileKind> kind_by_name(const std::filesystem::path& path) {
  std::string extension = lower_extension(path);
  if (extension == ".gz") extension = lower_extension(path.stem());
  if (extension == ".npy") return FileKind::npy;
  if (extension == ".npz") return FileKind::npz;
  if (extension == ".mtx") return FileKind::matrix_market;
  if (extension == ".bed") return FileKind::bed;
  for (const char* known : {".h5ad", ".h5", ".hdf5"})
    if (extension == known) return FileKind::hdf5;
  for (const char* known : {".csv", ".tsv", ".txt", ".data"})
    if (extension == known) return FileKind::table;
  return std::nullopt;
}

FileKind kind_of(const InputFile& file) {
  if (const auto known = kind_by_name(file.name())) return *known;
  if (file.head().starts_with(npy_magic)) return FileKind::npy;
  if (file.head().starts_with("%%MatrixMarket")) return FileKind::matrix_market;
  if (file.head().starts_with(bed_magic)) return FileKind::bed;
  if (file.head().starts_with(hdf5_magic)) return FileKind::hdf5;
  if (file.head().starts_with(zip_magic)) return FileKind::npz;
  return FileKind::table;
}

void refuse_bed(const InputFile& file) {
  throw InvalidArgument(
      fmt::format("{}: holds genotypes (PLINK), which only hearsay pca takes, and not as a stream", file.name()));
}

void refuse_dataset(const InputFile& file, std::string_view dataset) {
  if (!dataset.empty())
    throw InvalidArgument(
        fmt::format("dataset = {}: {} holds one matrix; only HDF5 and .npz take a name", dataset, file.name()));
}

}  // namespace hearsay::io

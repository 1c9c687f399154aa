// Which parser a file is for.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "hearsay/io/file.hpp"

namespace hearsay::io {

enum class FileKind { table, npy, matrix_market, bed, hdf5, npz };

/// Of PLINK's .bed: two bytes, and the third for SNP by SNP. No text begins so.
inline constexpr std::string_view bed_magic = "\x6c\x1b\x01";

inline constexpr std::string_view hdf5_magic = "\x89HDF\r\n\x1a\n";

/// Of a .zip, which .npz is. No text begins so.
inline constexpr std::string_view zip_magic = "PK\x03\x04";

/// By the extension alone, .gz set aside; nothing where it is none of ours.
std::optional<FileKind> kind_by_name(const std::filesystem::path& path);

/// By the extension, .gz set aside; by the first bytes where the extension is not one of ours.
FileKind kind_of(const InputFile& file);

/// For readers of tables.
[[noreturn]] void refuse_bed(const InputFile& file);

/// Throws InvalidArgument where a matrix was named of a file that holds one only.
void refuse_dataset(const InputFile& file, std::string_view dataset);

}  // namespace hearsay::io

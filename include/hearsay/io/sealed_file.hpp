// Bytes as a file: written beside, synced and renamed into place, with a line that says what they are and a checksum
// over all of it. The checksum tells damage and no more: whoever can write the file can make one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hearsay/export.hpp"

namespace hearsay::io {

/// `kind` is the file's first line, without its end: "hearsay agent states 1".
HEARSAY_API void write_sealed(const std::filesystem::path& path, std::string_view kind, std::string_view bytes);

/// The bytes. Throws DataError for a file that is none of this kind, is damaged or cut short.
HEARSAY_API std::string read_sealed(const std::filesystem::path& path, std::string_view kind);
HEARSAY_API std::string parse_sealed(std::string_view file, const std::string& name, std::string_view kind);

}  // namespace hearsay::io

// Files that the library carries itself. They lie in a directory of their own, which is on no disk, and every reader of
// hearsay::io takes their paths as it takes those of other files.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "hearsay/export.hpp"

namespace hearsay::io {

/// "built-in:". A file on a disk that happens to be called like one below it is reached as "./built-in:/...".
HEARSAY_API std::filesystem::path built_in_directory();

/// The bytes of such a file as they are stored; nothing for any other path.
HEARSAY_API std::optional<std::string_view> built_in_file(const std::filesystem::path& path);

}  // namespace hearsay::io

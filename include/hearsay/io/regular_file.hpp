// What a name stands for, asked before it is opened: opening a pipe waits for somebody to write, and a device need not
// end.
#pragma once

#include <filesystem>

#include "hearsay/export.hpp"

namespace hearsay::io {

/// Throws DataError where there is something of that name, and it is no regular file nor a link to one.
HEARSAY_API void require_regular_file(const std::filesystem::path& path);

/// Whether there is a directory of that name. One that cannot be looked up, being too long or a link to itself, is
/// none.
HEARSAY_API bool is_directory(const std::filesystem::path& path) noexcept;

}  // namespace hearsay::io

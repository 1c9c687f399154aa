// Which parser a file is for.
#pragma once

#include "hearsay/io/file.hpp"

namespace hearsay::io {

enum class FileKind { table, npy, matrix_market };

/// By the extension, .gz set aside; by the first bytes where the extension is not one of ours.
FileKind kind_of(const InputFile& file);

}  // namespace hearsay::io

// Files of numbers and nothing else, read as a .npy file whose header somebody else remembers.
#pragma once

#include "hearsay/io/table.hpp"
#include "io/npy_format.hpp"

namespace hearsay::io {

/// What a .npy header would say. `stored` is the length of a plain file, 0 where it is not known. Throws
/// InvalidArgument for a layout that is none, DataError where the file does not hold it.
NpyHeader raw_header(const RawLayout& layout, const ByteSource& source, std::uint64_t stored);

}  // namespace hearsay::io

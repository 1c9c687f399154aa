// Where a parser's bytes come from: a file or a string, it cannot tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/memory.hpp"

namespace hearsay::io {

/// Fills the front of the span and says how many bytes; fewer than asked for only at the end.
using Pull = std::function<std::size_t(std::span<char>)>;

struct ByteSource {
  std::string name;     ///< what messages begin with
  std::uint64_t bound;  ///< no more bytes than this can come: promises are checked against it before memory is taken
  Pull pull;
};

/// Borrows the file.
HEARSAY_API ByteSource source_of(InputFile& file);

/// Borrows the bytes.
ByteSource source_of(std::string_view bytes, std::string_view name);

/// All that is left to pull, which must be at most `most` bytes. `expected` is only a hint.
std::string drain(const ByteSource& source, std::uint64_t expected, std::uint64_t most);

/// No line of a text file may be longer, and no table wider: both in proportion to the memory that may be used.
std::uint64_t longest_line();
Index most_columns();

/// Asks for large pages behind a block about to be filled: filling it is then bound by the file and not by page faults.
void expect_to_fill(const void* memory, std::size_t bytes);

}  // namespace hearsay::io

// How much memory the process may use, and refusals that come before memory runs out rather than after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hearsay/export.hpp"

namespace hearsay {

/// In bytes: what set_memory_limit() was told; else nine tenths of the least of what the machine has, what the control
/// groups of the process allow (version 1 or 2) and its resource limits.
HEARSAY_API std::uint64_t memory_limit();

/// For the whole process; 0 goes back to what the machine allows.
HEARSAY_API void set_memory_limit(std::uint64_t bytes);

/// What the process holds now, in bytes; 0 where the system does not say.
HEARSAY_API std::uint64_t memory_in_use();

/// Throws DataError, with both numbers and how to raise the limit, unless `count` items of `bytes_each` fit beside what
/// is in use. `name` is whose they are: a file, or a thing the message begins with.
HEARSAY_API void require_memory(std::uint64_t count, std::size_t bytes_each, std::string_view name);

/// A number of bytes as an option spells it: 500000000, 500M or 1.5G, where K, M, G and T stand for powers of a
/// thousand. Throws InvalidArgument.
HEARSAY_API std::uint64_t parse_bytes(std::string_view name, std::string_view text, std::uint64_t least);

}  // namespace hearsay

// A solve in progress, as a file: written beside, synced and renamed into place, with a checksum over all of it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hearsay/export.hpp"
#include "hearsay/power.hpp"

namespace hearsay::io {

/// `configuration` describes the problem and the options; resuming under another one is refused.
template <class S>
HEARSAY_API void write_checkpoint(const std::filesystem::path& path, const PowerState<S>& state,
                                  std::string_view configuration);

/// Throws DataError for a file that is damaged, or whose shapes and numbers are those of no solve, and InvalidArgument
/// for one of another configuration or number type. The solver then holds the state against its own problem.
template <class S>
HEARSAY_API PowerState<S> read_checkpoint(const std::filesystem::path& path, std::string_view configuration);
template <class S>
HEARSAY_API PowerState<S> parse_checkpoint(std::string_view bytes, const std::string& name,
                                           std::string_view configuration);

}  // namespace hearsay::io

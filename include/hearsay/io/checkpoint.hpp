// A solve in progress, as a file: written beside, synced and renamed into place, with a checksum over all of it.
#pragma once

#include <filesystem>
#include <string_view>

#include "hearsay/power.hpp"

namespace hearsay::io {

/// `configuration` describes the problem and the options; resuming under another one is refused.
template <class S>
void write_checkpoint(const std::filesystem::path& path, const PowerState<S>& state, std::string_view configuration);

/// Throws DataError for a damaged file and InvalidArgument for one of another configuration or number type.
template <class S>
PowerState<S> read_checkpoint(const std::filesystem::path& path, std::string_view configuration);

}  // namespace hearsay::io

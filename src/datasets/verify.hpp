// Whether bytes are the ones a data set promises.
#pragma once

#include <string>
#include <string_view>

#include "hearsay/datasets.hpp"

namespace hearsay::io {

/// Whether a file is there, on a disk or built in; what cannot be looked at is not.
bool can_be_seen(const std::filesystem::path& path);

/// What is wrong with the decompressed content of a file; empty when nothing is.
std::string fault_of(const DatasetFile& file, std::string_view content);

}  // namespace hearsay::io

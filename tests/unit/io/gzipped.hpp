// Gzip made for the tests by zlib itself.
#pragma once

#include <string>
#include <string_view>

namespace hearsay::test {

/// One gzip member holding `content`.
std::string gzipped(std::string_view content);

}  // namespace hearsay::test

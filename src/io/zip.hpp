// The members of a .zip, as NumPy writes them: stored or deflated, beyond 4 GB too, in one file, not encrypted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.hpp"

namespace hearsay::io {

struct ZipMember {
  std::string name = {};
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t stored_bytes = 0, bytes = 0;  ///< as they lie there, and when they are unpacked
  std::uint64_t header = 0;                   ///< where its own header begins
};

/// From the directory at the end. Throws DataError unless it is one, every member lies inside of the file and none
/// promises more than deflate can mean (gzip.hpp).
std::vector<ZipMember> zip_members(std::string_view file, std::string_view name);

/// The bytes of a member; borrows those of the file. Errors begin with "name: member". What ends early, goes on, is
/// corrupt or has another checksum throws DataError as it is pulled.
ByteSource source_of(std::string_view file, const ZipMember& member, std::string_view name);

}  // namespace hearsay::io

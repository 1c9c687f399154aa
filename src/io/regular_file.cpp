#include "hearsay/io/regular_file.hpp"

#include <fmt/format.h>

#include <system_error>

#include "hearsay/error.hpp"

namespace hearsay::io {
namespace {

const char* kind_of(std::filesystem::file_type type) {
  switch (type) {
    case std::filesystem::file_type::directory:
      return "a directory";
    case std::filesystem::file_type::fifo:
      return "a pipe";
    case std::filesystem::file_type::character:
    case std::filesystem::file_type::block:
      return "a device";
    case std::filesystem::file_type::socket:
      return "a socket";
    default:
      return "something else";
  }
}

}  // namespace

void require_regular_file(const std::filesystem::path& path) {
  std::error_code unknown;
  const auto type = std::filesystem::status(path, unknown).type();
  if (unknown || type == std::filesystem::file_type::not_found) return;  // whoever opens it says why it cannot
  if (type != std::filesystem::file_type::regular)
    throw DataError(fmt::format("{}: is {}: must be a regular file", path.string(), kind_of(type)));
}

bool is_directory(const std::filesystem::path& path) noexcept {
  std::error_code unknown;
  return std::filesystem::is_directory(path, unknown) && !unknown;
}

}  // namespace hearsay::io

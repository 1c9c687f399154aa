#include "hearsay/io/sealed_file.hpp"

#include <fmt/format.h>

#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/regular_file.hpp"

namespace hearsay::io {
namespace {

constexpr std::size_t seal_length = 64;  // of a SHA-256 in hexadecimal

}  // namespace

void write_sealed(const std::filesystem::path& path, std::string_view kind, std::string_view bytes) {
  const std::string body = fmt::format("{}\n{}", kind, bytes);
  AtomicFile file(path);
  file.write(body);
  file.write(sha256_hex(body));
  file.commit();
}

std::string parse_sealed(std::string_view file, const std::string& name, std::string_view kind) {
  const std::string first = fmt::format("{}\n", kind);
  if (!file.starts_with(first) || file.size() < first.size() + seal_length)
    throw DataError(fmt::format("{}: must begin with the line \"{}\" and be whole", name, kind));
  const std::string_view body = file.substr(0, file.size() - seal_length);
  if (sha256_hex(body) != file.substr(body.size()))
    throw DataError(fmt::format("{}: the checksum does not match; the file is damaged or cut short", name));
  return std::string(body.substr(first.size()));
}

std::string read_sealed(const std::filesystem::path& path, std::string_view kind) {
  require_regular_file(path);
  if (!InputFile(path, Content::as_stored).head().starts_with(kind))  // before all of it is read, whatever it is
    throw DataError(fmt::format("{}: must begin with the line \"{}\"", path.string(), kind));
  return parse_sealed(read_whole(path), path.string(), kind);
}

}  // namespace hearsay::io

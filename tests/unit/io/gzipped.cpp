#include "gzipped.hpp"

#include <zlib.h>

#include <stdexcept>

namespace hearsay::test {

std::string gzipped(std::string_view content) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16, memory_level = 8;
  if (deflateInit2(&stream, 6, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2");
  std::string packed(deflateBound(&stream, content.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int verdict = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (verdict != Z_STREAM_END) throw std::runtime_error("deflate");
  return packed;
}

}  // namespace hearsay::test

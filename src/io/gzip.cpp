#include "io/gzip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>

#include "hearsay/error.hpp"

namespace hearsay::io {

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

GzipReader::GzipReader(std::string name, Pull compressed)
    : name_(std::move(name)), compressed_(std::move(compressed)), input_(1 << 17) {
  constexpr int gzip_only = 15 + 16;  // the largest window, and a gzip header required: see inflateInit2 in zlib.h
  if (inflateInit2(&stream_, gzip_only) != Z_OK) throw std::bad_alloc();
}

GzipReader::~GzipReader() { inflateEnd(&stream_); }

void GzipReader::restart() {
  inflateReset(&stream_);
  stream_.avail_in = 0;
  inside_member_ = true;
  finished_ = false;
}

void GzipReader::refill() {
  stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
  stream_.avail_in = static_cast<uInt>(compressed_(input_));
}

std::size_t GzipReader::read(std::span<char> out) {
  std::size_t filled = 0;
  while (filled < out.size() && !finished_) {
    if (stream_.avail_in == 0) refill();
    if (stream_.avail_in == 0) {
      if (inside_member_) throw DataError(fmt::format("{}: the gzip data are truncated", name_));
      finished_ = true;
      break;
    }
    inside_member_ = true;
    const std::size_t room = std::min<std::size_t>(out.size() - filled, std::numeric_limits<uInt>::max());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
    stream_.avail_out = static_cast<uInt>(room);
    const int verdict = inflate(&stream_, Z_NO_FLUSH);
    filled += room - stream_.avail_out;
    if (verdict == Z_STREAM_END) {  // another member may follow
      inflateReset(&stream_);
      inside_member_ = false;
    } else if (verdict != Z_OK && verdict != Z_BUF_ERROR) {
      throw DataError(fmt::format("{}: the gzip data are corrupt ({})", name_,
                                  stream_.msg != nullptr ? stream_.msg : zError(verdict)));
    }
  }
  return filled;
}

}  // namespace hearsay::io

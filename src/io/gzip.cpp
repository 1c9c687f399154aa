#include "io/gzip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>

#include "hearsay/error.hpp"
#include "linalg/memory_limit.hpp"

namespace hearsay::io {

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::uint64_t most_inflated(std::uint64_t compressed_bytes) {
  constexpr std::uint64_t ratio = 200, always = std::uint64_t{64} << 20;
  std::uint64_t most = 0;
  if (__builtin_mul_overflow(compressed_bytes, ratio, &most)) return std::numeric_limits<std::uint64_t>::max();
  return std::max(most, always);
}

GzipReader::GzipReader(std::string name, Pull compressed, std::uint64_t compressed_bytes)
    : name_(std::move(name)), compressed_bytes_(compressed_bytes), compressed_(std::move(compressed)), input_(1 << 17) {
  constexpr int gzip_only = 15 + 16;  // the largest window, and a gzip header required: see inflateInit2 in zlib.h
  if (inflateInit2(&stream_, gzip_only) != Z_OK) throw std::bad_alloc();
}

GzipReader::~GzipReader() { inflateEnd(&stream_); }

void GzipReader::restart() {
  inflateReset(&stream_);
  stream_.avail_in = 0;
  inside_member_ = true;
  finished_ = false;
  taken_ = made_ = 0;
}

void GzipReader::refill() {
  stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
  stream_.avail_in = static_cast<uInt>(compressed_(input_));
  taken_ += stream_.avail_in;
}

void GzipReader::require_no_bomb() const {
  const std::uint64_t compressed = compressed_bytes_ > 0 ? compressed_bytes_ : taken_;
  if (made_ <= most_inflated(compressed)) return;
  throw DataError(
      fmt::format("{}: {} of gzip data inflate to more than {}, the most that so much may hold; inflate it with gunzip "
                  "first if it is meant",
                  name_, detail::readable_bytes(compressed), detail::readable_bytes(most_inflated(compressed))));
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
    constexpr std::size_t at_once = std::size_t{1} << 24;
    const std::size_t room = std::min<std::size_t>(out.size() - filled, at_once);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
    stream_.avail_out = static_cast<uInt>(room);
    const int verdict = inflate(&stream_, Z_NO_FLUSH);
    filled += room - stream_.avail_out;
    made_ += room - stream_.avail_out;
    require_no_bomb();
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

// Inflates a stream of gzip members.
#pragma once

#include <zlib.h>

#include <span>
#include <string>
#include <vector>

#include "io/byte_source.hpp"

namespace hearsay::io {

bool is_gzip(std::string_view bytes);

/// What a gzip file of so many bytes may hold: deflate can make 1032 bytes of one, and numbers that are meant do not.
std::uint64_t most_inflated(std::uint64_t compressed_bytes);

class GzipReader {
 public:
  /// `compressed_bytes`: all there are; 0 where nobody knows.
  GzipReader(std::string name, Pull compressed, std::uint64_t compressed_bytes);
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;
  ~GzipReader();

  std::size_t read(std::span<char> out);

  /// To be called when the compressed bytes have been taken back to their start.
  void restart();

 private:
  void refill();
  void require_no_bomb() const;

  std::string name_;
  std::uint64_t compressed_bytes_;
  std::uint64_t taken_ = 0, made_ = 0;  // bytes since the start
  Pull compressed_;
  std::vector<char> input_;
  z_stream stream_{};
  bool inside_member_ = true;  // the end of the input is then a truncation
  bool finished_ = false;
};

}  // namespace hearsay::io

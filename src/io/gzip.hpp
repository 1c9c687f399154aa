// Inflates a stream of gzip members.
#pragma once

#include <zlib.h>

#include <span>
#include <string>
#include <vector>

#include "io/byte_source.hpp"

namespace hearsay::io {

bool is_gzip(std::string_view bytes);

class GzipReader {
 public:
  GzipReader(std::string name, Pull compressed);
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;
  ~GzipReader();

  std::size_t read(std::span<char> out);

  /// To be called when the compressed bytes have been taken back to their start.
  void restart();

 private:
  void refill();

  std::string name_;
  Pull compressed_;
  std::vector<char> input_;
  z_stream stream_{};
  bool inside_member_ = true;  // the end of the input is then a truncation
  bool finished_ = false;
};

}  // namespace hearsay::io

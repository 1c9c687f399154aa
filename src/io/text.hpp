// Numbers, fields and lines of text, and messages that say where in a file something is wrong. What is marked
// HEARSAY_API, hearsay::datasets asks for too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "io/byte_source.hpp"

namespace hearsay::io {

/// Throws DataError "name:line:column: what"; a column of 0 is left out.
[[noreturn]] HEARSAY_API void fail_at(std::string_view name, Index line, Index column, std::string_view what);

/// A piece of a file as a message may show it: in quotes, clipped, nothing unprintable.
HEARSAY_API std::string shown(std::string_view piece);

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
std::string_view trimmed(std::string_view text);

/// Reads a decimal number at `first` and returns where it ends, or nullptr where none begins. Correctly rounded,
/// whatever the locale; too large becomes infinite, too small zero; `nan` and `inf` are numbers here.
const char* scan_number(const char* first, const char* last, double& value);

/// Whether the whole of `text` is a number, and which.
HEARSAY_API bool to_number(std::string_view text, double& value);
HEARSAY_API bool to_integer(std::string_view text, std::int64_t& value);

/// Cuts the next field off the front of `rest`, at blanks and at `separator`; empty at the end.
HEARSAY_API std::string_view next_field(std::string_view& rest, char separator = ' ');

/// Lines without their ends (LF or CRLF) and without a leading UTF-8 mark.
class HEARSAY_API LineReader {
 public:
  explicit LineReader(ByteSource source);

  /// False at the end. The view holds until the next call.
  bool next(std::string_view& line);

  /// The same, leaving out lines of blanks alone.
  bool next_filled(std::string_view& line);

  Index number() const { return number_; }  ///< of the last line handed out, from 1
  const std::string& name() const { return source_.name; }
  std::uint64_t bound() const { return source_.bound; }

  /// To be called when the source has been taken back to its start.
  void restart();

 private:
  bool refill();

  ByteSource source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what is buffered and not handed out
  bool source_ended_ = false;
  Index number_ = 0;
};

}  // namespace hearsay::io

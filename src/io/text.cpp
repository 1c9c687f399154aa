#include "io/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include "hearsay/error.hpp"
#include "linalg/memory_limit.hpp"

namespace hearsay::io {
namespace {

// from_chars tells only that a number is out of range; its decimal exponent tells on which side.
bool is_huge(std::string_view number) {
  const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, mark);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t leading = digits.find_first_of("123456789");
  std::int64_t exponent = 0;
  const bool beyond_int64 = mark < number.size() && !to_integer(number.substr(mark + 1), exponent);
  if (beyond_int64) return number[mark + 1] != '-';
  return exponent > static_cast<std::int64_t>(leading) - static_cast<std::int64_t>(point);
}

// Decimals of a few characters, which most tables are made of: an integer below 2^53 divided by a small power of ten is
// rounded once, so this is the number from_chars gives (Clinger 1990), in half the time. Returns nullptr for all
// others.
const char* scan_short_decimal(const char* first, const char* last, double& value) {
  constexpr std::ptrdiff_t longest = 10;
  constexpr std::array<double, longest> power_of_ten{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
  const char* const stop = last - first > longest ? first + longest : last;
  const bool negative = first != last && *first == '-';
  const char* p = first + (negative ? 1 : 0);
  std::uint64_t digits = 0;
  const auto read_digits = [&] {
    const char* const begin = p;
    for (; p != stop && *p >= '0' && *p <= '9'; ++p) digits = 10 * digits + static_cast<std::uint64_t>(*p - '0');
    return p - begin;
  };
  const std::ptrdiff_t whole = read_digits();
  if (whole == 0) return nullptr;
  std::ptrdiff_t decimals = 0;
  if (p != stop && *p == '.') {
    ++p;
    decimals = read_digits();
  }
  const bool may_go_on = p == stop ? stop != last : *p == 'e' || *p == 'E';
  if (may_go_on) return nullptr;
  const double magnitude = static_cast<double>(digits) / power_of_ten[static_cast<std::size_t>(decimals)];
  value = negative ? -magnitude : magnitude;
  return p;
}

}  // namespace

void fail_at(std::string_view name, Index line, Index column, std::string_view what) {
  if (column == 0) throw DataError(fmt::format("{}:{}: {}", name, line, what));
  throw DataError(fmt::format("{}:{}:{}: {}", name, line, column, what));
}

std::string shown(std::string_view piece) {
  constexpr std::size_t longest = 40;
  std::string text = "'";
  for (const char c : piece.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", byte);
    else
      text += c;
  }
  return text + (piece.size() > longest ? "...'" : "'");
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

const char* scan_number(const char* first, const char* last, double& value) {
  if (first != last && *first == '+') {
    ++first;
    if (first != last && *first == '-') return nullptr;
  }
  if (const char* const end = scan_short_decimal(first, last, value)) return end;
  const auto [end, error] = std::from_chars(first, last, value);
  if (error == std::errc::invalid_argument) return nullptr;
  if (error == std::errc::result_out_of_range) {
    value = is_huge({first, end}) ? std::numeric_limits<double>::infinity() : 0.0;
    if (*first == '-') value = -value;
  }
  return end;
}

bool to_number(std::string_view text, double& value) {
  return scan_number(text.data(), text.data() + text.size(), value) == text.data() + text.size() && !text.empty();
}

bool to_integer(std::string_view text, std::int64_t& value) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string_view next_field(std::string_view& rest, char separator) {
  const auto separates = [separator](char c) { return is_blank(c) || c == separator; };
  const auto* const begin = std::find_if_not(rest.begin(), rest.end(), separates);
  const auto* const end = std::find_if(begin, rest.end(), separates);
  rest = std::string_view(end, static_cast<std::size_t>(rest.end() - end));
  return {begin, static_cast<std::size_t>(end - begin)};
}

LineReader::LineReader(ByteSource source)
    : source_(std::move(source)), buffer_(1 + std::min<std::uint64_t>(source_.bound, (1 << 18) - 1)) {}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = begin_;
  for (;;) {
    const void* const found = std::memchr(buffer_.data() + searched, '\n', end_ - searched);
    if (found != nullptr) {
      const auto stop = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
      line = {buffer_.data() + begin_, stop - begin_};
      begin_ = stop + 1;
      break;
    }
    const std::size_t pending = end_ - begin_;
    if (!refill()) {
      if (pending == 0) return false;
      line = {buffer_.data() + begin_, pending};
      begin_ = end_;
      break;
    }
    searched = begin_ + pending;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (++number_ == 1) {
    if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    if (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff"))
      fail_at(name(), 1, 0, "this is UTF-16 text; save the file as UTF-8");
  }
  return true;
}

bool LineReader::next_filled(std::string_view& line) {
  while (next(line))
    if (!trimmed(line).empty()) return true;
  return false;
}

void LineReader::restart() {
  begin_ = end_ = 0;
  source_ended_ = false;
  number_ = 0;
}

// Moves the unfinished line to the front and reads on behind it; false when nothing more comes.
bool LineReader::refill() {
  if (source_ended_) return false;
  std::copy(buffer_.data() + begin_, buffer_.data() + end_, buffer_.data());
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {
    if (end_ >= longest_line())
      fail_at(name(), number_ + 1, 0,
              fmt::format("the line is longer than {}, a 64th of the memory that may be used (`memory`)",
                          detail::readable_bytes(longest_line())));
    require_memory(2 * buffer_.size(), 1, name());
    buffer_.resize(2 * buffer_.size());
  }
  const std::size_t room = buffer_.size() - end_;
  const std::size_t count = source_.pull({buffer_.data() + end_, room});
  source_ended_ = count < room;
  end_ += count;
  return count > 0;
}

}  // namespace hearsay::io

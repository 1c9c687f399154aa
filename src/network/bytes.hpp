// Numbers and text as bytes, for messages: little endian, whatever machine wrote them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/error.hpp"

namespace hearsay::detail {

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// From this machine's order of bytes to that of messages, or back.
template <Plain T>
void turn_bytes(T* numbers, std::size_t count) {
  if constexpr (std::endian::native == std::endian::big)
    for (std::size_t i = 0; i < count; ++i) {
      auto* bytes = reinterpret_cast<char*>(numbers + i);
      std::reverse(bytes, bytes + sizeof(T));
    }
}

class ByteWriter {
 public:
  template <Plain T>
  void put(T value) {
    turn_bytes(&value, 1);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }

  void put(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes_.append(text);
  }

  void put(const Block<double>& block) {
    put(static_cast<std::int64_t>(block.rows()));
    put(static_cast<std::int64_t>(block.cols()));
    const std::size_t before = bytes_.size();
    bytes_.append(reinterpret_cast<const char*>(block.data()), static_cast<std::size_t>(block.size()) * sizeof(double));
    turn_bytes(reinterpret_cast<double*>(bytes_.data() + before), static_cast<std::size_t>(block.size()));
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Borrows the bytes, which may come from a peer that is not what it should be. Throws CommunicationError where they
/// end too early, or hold what cannot be; `whose` bytes they are, for its message.
class ByteReader {
 public:
  /// Rows or columns of a block that has no numbers: it takes no bytes, and who copies it may count them one by one.
  static constexpr std::int64_t most_of_nothing = std::int64_t{1} << 24;

  explicit ByteReader(std::string_view bytes, const char* whose = "a message between ranks")
      : bytes_(bytes), whose_(whose) {}

  template <Plain T>
  T get() {
    T value;
    std::memcpy(&value, cut(sizeof(T)).data(), sizeof(T));
    turn_bytes(&value, 1);
    return value;
  }

  /// One of an enumeration's values, from 0 to the last.
  template <class E>
  requires std::is_enum_v<E> E choice(E last) {
    using Number = std::underlying_type_t<E>;
    const auto value = get<Number>();
    if (!(value >= 0 && value <= static_cast<Number>(last))) fail("a choice that does not exist");
    return static_cast<E>(value);
  }

  bool flag() {
    const auto value = get<unsigned char>();
    if (value > 1) fail("a flag that is neither set nor clear");
    return value == 1;
  }

  /// How many things follow, of which each takes so many bytes at least.
  std::size_t count(std::size_t least_bytes) {
    const auto things = get<std::uint64_t>();
    if (things > bytes_.size() / least_bytes) fail("more things than it has bytes for");
    return static_cast<std::size_t>(things);
  }

  std::string text() { return std::string(cut(get<std::uint64_t>())); }

  Block<double> block() {
    const auto rows = get<std::int64_t>(), cols = get<std::int64_t>();
    const auto room = static_cast<std::int64_t>(bytes_.size() / sizeof(double));
    if (!(rows >= 0 && cols >= 0 && (cols == 0 || rows <= room / cols))) fail("a block that it has no bytes for");
    if (std::max(rows, cols) > most_of_nothing && std::min(rows, cols) == 0) fail("a block of too many empty rows");
    Block<double> block(rows, cols);
    const auto size = static_cast<std::size_t>(block.size()) * sizeof(double);
    if (size > 0) std::memcpy(block.data(), cut(size).data(), size);
    turn_bytes(block.data(), static_cast<std::size_t>(block.size()));
    return block;
  }

  bool at_end() const { return bytes_.empty(); }

  void require_end() const {
    if (!at_end()) fail("more than was asked for");
  }

 private:
  [[noreturn]] void fail(const char* what) const { throw CommunicationError(std::string(whose_) + " holds " + what); }

  std::string_view cut(std::size_t count) {
    if (count > bytes_.size()) throw CommunicationError(std::string(whose_) + " ends too early");
    const std::string_view front = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return front;
  }

  std::string_view bytes_;
  const char* whose_;
};

}  // namespace hearsay::detail

// Numbers and text as bytes, for messages between ranks that run the same program.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/error.hpp"

namespace hearsay::detail {

class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T)); }

  void put(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes_.append(text);
  }

  void put(const Block<double>& block) {
    put(static_cast<std::int64_t>(block.rows()));
    put(static_cast<std::int64_t>(block.cols()));
    bytes_.append(reinterpret_cast<const char*>(block.data()), static_cast<std::size_t>(block.size()) * sizeof(double));
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Borrows the bytes. Throws CommunicationError where they end too early.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T get() {
    T value;
    std::memcpy(&value, cut(sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::string text() { return std::string(cut(get<std::uint64_t>())); }

  Block<double> block() {
    const auto rows = get<std::int64_t>(), cols = get<std::int64_t>();
    Block<double> block(rows, cols);
    const auto size = static_cast<std::size_t>(block.size()) * sizeof(double);
    if (size > 0) std::memcpy(block.data(), cut(size).data(), size);
    return block;
  }

  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view cut(std::size_t count) {
    if (count > bytes_.size()) throw CommunicationError("a message between ranks ends too early");
    const std::string_view front = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return front;
  }

  std::string_view bytes_;
};

}  // namespace hearsay::detail

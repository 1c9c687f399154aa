// Numbers in messages, the least significant byte first. Whoever calls these has looked at the lengths.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hearsay::protocol {

inline constexpr bool swaps_bytes = std::endian::native == std::endian::big;

template <class T>
void store(std::span<std::byte> bytes, std::size_t place, T value) {
  std::byte* to = bytes.data() + place;
  std::memcpy(to, &value, sizeof(T));
  if constexpr (swaps_bytes) std::reverse(to, to + sizeof(T));
}

template <class T>
T load(std::span<const std::byte> bytes, std::size_t place) {
  std::byte own[sizeof(T)];
  std::memcpy(own, bytes.data() + place, sizeof(T));
  if constexpr (swaps_bytes) std::reverse(own, own + sizeof(T));
  T value;
  std::memcpy(&value, own, sizeof(T));
  return value;
}

/// Turns numbers of so many bytes each from this machine's order to that of messages, or back.
inline void to_or_from_little_endian(std::span<std::byte> numbers, std::size_t bytes_each) {
  if constexpr (swaps_bytes)
    for (std::size_t place = 0; place + bytes_each <= numbers.size(); place += bytes_each)
      std::reverse(numbers.begin() + static_cast<std::ptrdiff_t>(place),
                   numbers.begin() + static_cast<std::ptrdiff_t>(place + bytes_each));
}

}  // namespace hearsay::protocol

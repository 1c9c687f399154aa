// What every target promises: bytes are parsed, or refused with an Error; anything else is a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <hearsay/error.hpp>
#include <string_view>

namespace hearsay::fuzz {

template <class Parse>
int run(const std::uint8_t* data, std::size_t size, Parse&& parse) {
  try {
    parse(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const Error&) {
  }
  return 0;
}

/// Ends the run where a parser let something through that it promises not to.
inline void check(bool promise_kept) {
  if (!promise_kept) __builtin_trap();
}

}  // namespace hearsay::fuzz

// Work memory that is kept between calls, one buffer per thread and purpose, so that hot loops do not allocate.
#pragma once

#include <cstddef>

namespace hearsay::detail {

enum class ScratchUse { packed, partial_sums, centred_rows, products, stacked };

/// Of one thread, and given back when it ends. Has no destructor: the C library ends the program where it cannot find
/// memory to remember one.
struct ScratchBuffer {
  void* memory = nullptr;
  std::size_t bytes = 0;
  ScratchBuffer* next = nullptr;  ///< of the same thread
  bool known = false;             ///< to the end of its thread
};

/// Throws std::bad_alloc, and the buffer stays as it was. What was in it may be lost.
void grow(ScratchBuffer& buffer, std::size_t bytes);

template <class S, ScratchUse use>
S* scratch(std::ptrdiff_t count) {
  constinit thread_local ScratchBuffer buffer;
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(S);
  if (bytes > buffer.bytes) grow(buffer, bytes);
  return static_cast<S*>(buffer.memory);
}

}  // namespace hearsay::detail

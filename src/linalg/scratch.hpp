// Work memory that is kept between calls, one buffer per thread and purpose, so that hot loops do not allocate.
#pragma once

#include <cstddef>
#include <vector>

namespace hearsay::detail {

enum class ScratchUse { packed, partial_sums, centred_rows, products, stacked };

template <class S, ScratchUse use>
S* scratch(std::ptrdiff_t count) {
  thread_local std::vector<S> buffer;
  if (static_cast<std::ptrdiff_t>(buffer.size()) < count) buffer.resize(static_cast<std::size_t>(count));
  return buffer.data();
}

}  // namespace hearsay::detail

#include "linalg/large_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "hearsay/memory.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace hearsay::detail {

void require_memory_of_block(Index rows, Index cols, std::size_t bytes_each) {
  constexpr Index never_a_matter = Index{1} << 20;
  if (rows <= never_a_matter / std::max<Index>(cols, 1)) return;
  require_memory(static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols), bytes_each,
                 fmt::format("a block of {} x {} numbers", rows, cols));
}

void prefer_large_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t large = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (begin + large - 1) / large * large, last = (begin + bytes) / large * large;
  // An advice: nothing depends on its being taken.
  if (last > first) static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE));
#endif
}

}  // namespace hearsay::detail

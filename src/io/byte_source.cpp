#include "io/byte_source.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "hearsay/error.hpp"
#include "linalg/memory_limit.hpp"

namespace hearsay::io {

ByteSource source_of(InputFile& file) {
  return {.name = file.name(), .bound = file.content_bound(), .pull = [&file](std::span<char> out) {
            return file.read(out);
          }};
}

ByteSource source_of(std::string_view bytes, std::string_view name) {
  return {.name = std::string(name), .bound = bytes.size(), .pull = [rest = bytes](std::span<char> out) mutable {
            const std::size_t count = std::min(out.size(), rest.size());
            std::copy_n(rest.data(), count, out.data());
            rest.remove_prefix(count);
            return count;
          }};
}

std::string drain(const ByteSource& source, std::uint64_t expected, std::uint64_t most) {
  constexpr std::size_t step = 1 << 20;
  const auto require_fewer = [&](std::uint64_t bytes) {
    if (bytes > most)
      throw DataError(fmt::format("{}: holds more than {}, the most that such a file may", source.name,
                                  detail::readable_bytes(most)));
  };
  require_memory(expected, 1, source.name);
  std::string content;
  content.resize(static_cast<std::size_t>(std::max<std::uint64_t>(std::min(expected, most), 64)));
  std::size_t filled = 0;
  for (;;) {
    filled += source.pull(std::span(content).subspan(filled));
    if (filled < content.size()) break;
    require_fewer(filled);
    const std::size_t more = std::max(std::min(filled, step), filled / 2);
    require_memory(filled + more, 1, source.name);  // the old content stays until the new one has it
    content.resize(filled + more);
  }
  require_fewer(filled);
  content.resize(filled);
  return content;
}

std::uint64_t longest_line() { return std::max<std::uint64_t>(memory_limit() / 64, 1 << 20); }

Index most_columns() { return static_cast<Index>(std::max<std::uint64_t>(memory_limit() / 4096, 1024)); }

void expect_to_fill(const void* memory, std::size_t bytes) {
  constexpr std::size_t worth_it = 1 << 23;
  if (bytes < worth_it) return;
  // The whole of the mapping: advice on a part would split it, and realloc could then no longer move it without a copy.
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes + page - 1) / page * page;
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // may be refused: it is only advice
}

}  // namespace hearsay::io

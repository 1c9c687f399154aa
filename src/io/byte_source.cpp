#include "io/byte_source.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "hearsay/error.hpp"

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

std::string drain(const ByteSource& source, std::uint64_t expected) {
  constexpr std::size_t step = 1 << 20;
  std::string content;
  content.resize(static_cast<std::size_t>(std::max<std::uint64_t>(expected, 64)));
  std::size_t filled = 0;
  for (;;) {
    filled += source.pull(std::span(content).subspan(filled));
    if (filled < content.size()) break;
    require_memory(filled + step, 1, source.name);
    content.resize(filled + std::max(std::min(filled, step), filled / 2));
  }
  content.resize(filled);
  return content;
}

void require_memory(std::uint64_t count, std::size_t bytes_each, std::string_view name) {
  static const std::uint64_t physical =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (count > physical / bytes_each)
    throw DataError(fmt::format("{}: needs {:.1f} GB of memory, this machine has {:.1f} GB", name,
                                static_cast<double>(count) * static_cast<double>(bytes_each) * 1e-9,
                                static_cast<double>(physical) * 1e-9));
}

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

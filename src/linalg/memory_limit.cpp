#include "linalg/memory_limit.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <fstream>
#include <iterator>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"

namespace hearsay {

namespace {

namespace fs = std::filesystem;

std::atomic<std::uint64_t> told{0};

// Nothing, where the system does not say.
std::string content_of(const fs::path& path) try {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
} catch (const std::ios_base::failure&) {
  return {};
}

// "max", or a number and the end of a line; anything else is no limit.
std::uint64_t limit_in(const fs::path& path) {
  const std::string text = content_of(path);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() && value > 0 ? value : detail::no_memory_limit;
}

// Of the group and of every one above it, up to the root.
std::uint64_t least_upwards(const fs::path& root, std::string_view group, const char* file) {
  std::uint64_t least = limit_in(root / file);
  fs::path path = root;
  for (const fs::path& part : fs::path(group).relative_path()) {
    if (part == "..") break;  // of another namespace: nothing below the root is ours
    path /= part;
    least = std::min(least, limit_in(path / file));
  }
  return least;
}

std::uint64_t resource_limit(int resource) {
  struct rlimit limit {};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return detail::no_memory_limit;
  return limit.rlim_cur;
}

// Nine tenths of what there is: the rest is for what is not counted here.
std::uint64_t machine_limit() {
  const auto physical =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t all =
      std::min({physical, detail::control_group_limit(content_of("/proc/self/cgroup"), "/sys/fs/cgroup"),
                resource_limit(RLIMIT_AS), resource_limit(RLIMIT_DATA)});
  return all / 10 * 9;
}

}  // namespace

std::string detail::readable_bytes(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) return fmt::format("{:.1f} GB", value * 1e-9);
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", value * 1e-6);
  if (bytes >= 1'000) return fmt::format("{:.1f} kB", value * 1e-3);
  return fmt::format("{} bytes", bytes);
}

// A line is "number:controllers:path"; version 2 has number 0 and no controllers.
std::uint64_t detail::control_group_limit(std::string_view text, const fs::path& root) {
  std::uint64_t least = no_memory_limit;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view group = line.substr(second + 1);
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    if (controllers == ",,")
      for (const fs::path& mounted : {root, root / "unified"})
        least = std::min(least, least_upwards(mounted, group, "memory.max"));
    else if (controllers.find(",memory,") != controllers.npos)
      least = std::min(least, least_upwards(root / "memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

std::uint64_t memory_limit() {
  static const std::uint64_t machine = machine_limit();
  const std::uint64_t bytes = told.load(std::memory_order_relaxed);
  return bytes > 0 ? bytes : machine;
}

void set_memory_limit(std::uint64_t bytes) { told.store(bytes, std::memory_order_relaxed); }

std::uint64_t memory_in_use() {
  const std::string text = content_of("/proc/self/statm");  // pages: in all, resident, ...
  const std::size_t blank = std::min(text.find(' '), text.size());
  std::uint64_t pages = 0;
  if (blank < text.size()) std::from_chars(text.data() + blank + 1, text.data() + text.size(), pages);
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void require_memory(std::uint64_t count, std::size_t bytes_each, std::string_view name) {
  const std::uint64_t limit = memory_limit();
  std::uint64_t needed = 0;
  if (__builtin_mul_overflow(count, std::uint64_t{bytes_each}, &needed)) needed = detail::no_memory_limit;
  if (needed <= limit / 64) return;  // asked for often, and small: not worth a look at the system
  const std::uint64_t used = needed < limit ? memory_in_use() : 0;
  if (needed <= limit && used <= limit - needed) return;
  throw DataError(fmt::format(
      "{}: needs {} of memory{}, and the limit (`memory`) is {}", name, detail::readable_bytes(needed),
      used > 0 ? fmt::format(" beside {} in use", detail::readable_bytes(used)) : "", detail::readable_bytes(limit)));
}

}  // namespace hearsay

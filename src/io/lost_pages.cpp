#include "io/lost_pages.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "hearsay/error.hpp"

namespace hearsay::io {

namespace {

// A handler may look at atomics without locks and call the system, and nothing else.
struct Range {
  std::atomic<std::uintptr_t> begin = 0, end = 0;
  std::atomic<bool> lost = false;
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

constexpr std::size_t most_ranges = 64;
std::array<Range, most_ranges> ranges;
std::mutex ranges_mutex;
int watched = 0;
struct sigaction before {};
std::uintptr_t page_bytes = 4096;

// From the page that is gone to the end of the file everything is: one call puts zeros there.
bool put_zeros(std::uintptr_t address) {
  for (Range& range : ranges) {
    const std::uintptr_t begin = range.begin.load(), end = range.end.load();
    if (begin == 0 || address < begin || address >= end) continue;
    const std::uintptr_t page = address / page_bytes * page_bytes;
    const std::uintptr_t bytes = (end - page + page_bytes - 1) / page_bytes * page_bytes;
    void* const put =
        ::mmap(reinterpret_cast<void*>(page), bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    range.lost.store(true);
    return put != MAP_FAILED;
  }
  return false;
}

// Of others' addresses: the handler before ours is put back, and the access is made again. A signal that somebody sent
// is of no address.
void on_bus_error(int, siginfo_t* info, void*) {
  const bool sent = info->si_code <= 0;
  if (!sent && put_zeros(reinterpret_cast<std::uintptr_t>(info->si_addr))) return;
  ::sigaction(SIGBUS, &before, nullptr);
  if (sent) ::raise(SIGBUS);
}

void begin_watching() {
  if (watched++ > 0) return;
  page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction ours {};
  ours.sa_sigaction = on_bus_error;
  ours.sa_flags = SA_SIGINFO;
  ::sigemptyset(&ours.sa_mask);
  ::sigaction(SIGBUS, &ours, &before);
}

// Not where somebody else has put a handler of their own in the meantime.
void end_watching() {
  if (--watched > 0) return;
  struct sigaction now {};
  if (::sigaction(SIGBUS, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_bus_error)
    ::sigaction(SIGBUS, &before, nullptr);
}

}  // namespace

WatchedPages::WatchedPages(const void* begin, std::size_t bytes) {
  const std::lock_guard lock(ranges_mutex);
  for (std::size_t i = 0; i < ranges.size() && place_ < 0; ++i)
    if (ranges[i].begin.load() == 0) place_ = static_cast<int>(i);
  if (place_ < 0) throw Error(fmt::format("more than {} files are mapped at once", most_ranges));
  Range& range = ranges[static_cast<std::size_t>(place_)];
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  range.lost.store(false);
  range.end.store(first + bytes);
  range.begin.store(first);
  begin_watching();
}

WatchedPages::WatchedPages(WatchedPages&& other) noexcept : place_(std::exchange(other.place_, -1)) {}

WatchedPages& WatchedPages::operator=(WatchedPages&& other) noexcept {
  std::swap(place_, other.place_);
  return *this;
}

WatchedPages::~WatchedPages() {
  if (place_ < 0) return;
  const std::lock_guard lock(ranges_mutex);
  ranges[static_cast<std::size_t>(place_)].begin.store(0);
  end_watching();
}

bool WatchedPages::lost() const { return place_ >= 0 && ranges[static_cast<std::size_t>(place_)].lost.load(); }

}  // namespace hearsay::io

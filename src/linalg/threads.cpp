#include "hearsay/threads.hpp"

#include <fmt/format.h>

#include <atomic>

#include "hearsay/error.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace hearsay {

namespace {

int default_threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

std::atomic<int> chosen{0};
thread_local bool alone = false;

}  // namespace

int threads() {
  if (alone) return 1;
  const int count = chosen.load(std::memory_order_relaxed);
  return count > 0 ? count : default_threads();
}

void set_threads(int count) {
  require(count >= 1 && count <= 4096, fmt::format("threads = {}: must lie in [1, 4096]", count));
  chosen.store(count, std::memory_order_relaxed);
}

OneThread::OneThread(bool wanted) : before_(alone) { alone = alone || wanted; }
OneThread::~OneThread() { alone = before_; }

}  // namespace hearsay

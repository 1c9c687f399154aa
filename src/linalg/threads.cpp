#include "hearsay/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "hearsay/error.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace hearsay {

namespace {

// OMP_NUM_THREADS may ask for more threads than a process can have, and OpenMP has no way to say so but to crash.
int default_threads() {
#ifdef _OPENMP
  return std::min(omp_get_max_threads(), std::max(64, 2 * omp_get_num_procs()));
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

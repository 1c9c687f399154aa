// Loaded before a program: its wall clock is HEARSAY_CLOCK_AHEAD seconds ahead, and what it waits for by that clock
// comes in time all the same, as on a machine whose clock is wrong.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>
#include <ctime>

namespace {

time_t ahead() {
  static const time_t seconds = [] {
    const char* text = std::getenv("HEARSAY_CLOCK_AHEAD");
    return text != nullptr ? static_cast<time_t>(std::atoll(text)) : 0;
  }();
  return seconds;
}

bool is_wall(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) {
  static auto* const real = next<int(clockid_t, timespec*)>("clock_gettime");
  const int result = real(clock, now);
  if (result == 0 && is_wall(clock)) now->tv_sec += ahead();
  return result;
}

int gettimeofday(timeval* now, void*) {
  timespec precise{};
  const int result = clock_gettime(CLOCK_REALTIME, &precise);
  *now = {precise.tv_sec, precise.tv_nsec / 1000};
  return result;
}

time_t time(time_t* out) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

// Waits until a point of the wall clock, which the kernel's own reads otherwise.
long syscall(long number, ...) {
  static auto* const real = next<long(long, ...)>("syscall");
  std::va_list list;
  va_start(list, number);
  long words[6];
  for (long& word : words) word = va_arg(list, long);
  va_end(list);
  timespec until{};
  if (number == SYS_futex && (words[1] & FUTEX_CLOCK_REALTIME) != 0 && words[3] != 0) {
    until = *reinterpret_cast<const timespec*>(words[3]);
    until.tv_sec -= ahead();
    words[3] = reinterpret_cast<long>(&until);
  }
  return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
}

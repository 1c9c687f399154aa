// How many threads the library may use. Results never depend on it: every reduction has a fixed order.
#pragma once

#include "hearsay/export.hpp"

namespace hearsay {

/// At least 1; the default is what OpenMP would use, or 1 in a build without it.
HEARSAY_API int threads();

/// Sets it for the whole process; throws InvalidArgument below 1.
HEARSAY_API void set_threads(int count);

/// While it lives, calls from this thread use no other: waking one can take longer than a small solve.
class HEARSAY_API OneThread {
 public:
  explicit OneThread(bool wanted = true);
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  bool before_;
};

}  // namespace hearsay

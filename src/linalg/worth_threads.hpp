// Whether a loop is worth more than one thread.
#pragma once

#include "hearsay/threads.hpp"

namespace hearsay::detail {

/// Threads for a loop of so many multiply-adds: one, where waking the others costs more than they save. A number that
/// is only moved, compared or gathered counts as two multiply-adds, one that is worked on as ten.
inline int worth_threads(double multiply_adds) {
  constexpr double least = 2e5;  // some 50 us, a few times what a parallel region takes to begin and end
  return multiply_adds < least ? 1 : threads();
}

}  // namespace hearsay::detail

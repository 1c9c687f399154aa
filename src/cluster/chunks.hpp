// A fixed division of the points, so that sums do not depend on the number of threads: each chunk is summed by one
// thread, and the chunks' sums are added in order by the caller.
#pragma once

#include <algorithm>

#include "hearsay/block.hpp"
#include "hearsay/threads.hpp"

namespace hearsay::detail {

struct Chunks {
  Index points;
  Index size = std::max<Index>(1024, (points + 63) / 64);

  Index count() const { return (points + size - 1) / size; }
  Index first(Index chunk) const { return chunk * size; }
  Index last(Index chunk) const { return std::min(points, (chunk + 1) * size); }

  /// Calls body(chunk) for each, in parallel; the body must not throw.
  template <class Body>
  void for_each(Body body) const {
    const Index chunks = count();
    [[maybe_unused]] const auto team = static_cast<int>(std::min<Index>(threads(), chunks));
#pragma omp parallel for schedule(dynamic) num_threads(team)
    for (Index chunk = 0; chunk < chunks; ++chunk) body(chunk);
  }
};

}  // namespace hearsay::detail

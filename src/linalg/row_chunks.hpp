// A tall block, a cache's worth of rows at a time.
#pragma once

#include <algorithm>

#include "hearsay/block.hpp"
#include "linalg/worth_threads.hpp"

namespace hearsay::detail {

/// work(first, rows) for all rows of d, on all threads where `work_a_row` multiply-adds a row make that pay.
template <class Work>
void by_row_chunks(Index d, [[maybe_unused]] Index work_a_row, const Work& work) {
  constexpr Index chunk_rows = 512;
  const Index chunks = (d + chunk_rows - 1) / chunk_rows;
#pragma omp parallel for schedule(static) num_threads(worth_threads(double(d) * double(work_a_row)))
  for (Index c = 0; c < chunks; ++c) work(c * chunk_rows, std::min(chunk_rows, d - c * chunk_rows));
}

}  // namespace hearsay::detail

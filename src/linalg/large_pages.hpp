// Large pages for large blocks: a sparse product visits rows of X at random, and pages of 4 KiB make every visit a miss
// of the address cache.
#pragma once

#include "hearsay/block.hpp"

namespace hearsay::detail {

/// Asks the system, where it can be asked, to back these bytes with large pages; best before they are first written.
void prefer_large_pages(void* data, std::size_t bytes);

/// Throws DataError where a block of so many numbers does not fit into the memory that may be used.
void require_memory_of_block(Index rows, Index cols, std::size_t bytes_each);

/// block becomes rows x cols, its content undefined.
template <class S>
void resize_large(Block<S>& block, Index rows, Index cols) {
  if (block.rows() == rows && block.cols() == cols) return;
  require_memory_of_block(rows, cols, sizeof(S));
  block.resize(rows, cols);
  prefer_large_pages(block.data(), static_cast<std::size_t>(block.size()) * sizeof(S));
}

}  // namespace hearsay::detail

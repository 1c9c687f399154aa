#pragma once

#include <hearsay/random.hpp>

namespace hearsay::test {

/// Independent N(0, 1) entries.
template <class S = double>
Block<S> random_block(Index rows, Index cols, std::uint64_t seed) {
  Block<S> block(rows, cols);
  fill_normal<S>({.seed = seed, .stream = Stream::test}, block);
  return block;
}

}  // namespace hearsay::test

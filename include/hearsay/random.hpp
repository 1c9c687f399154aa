// Counter-based random numbers: entry (row, column) of a block depends on its key and its place and on nothing else,
// neither on how many threads fill it nor on how many columns stand beside it. A block with one more column therefore
// has the same first columns.
#pragma once

#include <cstdint>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

/// What a block of random numbers is for; keeps the streams of one seed apart.
enum class Stream : std::uint32_t {
  start_block = 1,
  noise = 2,
  clustering = 3,
  graph = 4,
  test = 5,
  replacement = 6,
  faults = 7,
  probe = 8,
  verification = 9,
  turn = 10,
  row_order = 11
};

struct RandomKey {
  std::uint64_t seed = 0;
  Stream stream = Stream::start_block;
  std::uint32_t agent = 0;
  std::uint32_t iteration = 0;
};

/// Four random words for one counter: Philox4x32-10 (Salmon et al., 2011).
struct RandomWords {
  std::uint32_t word[4];
};
HEARSAY_API RandomWords random_words(const RandomKey& key, std::uint64_t row, std::uint32_t column);

/// Uniform in (0, 1), from 53 random bits.
HEARSAY_API double random_uniform(const RandomKey& key, std::uint64_t row, std::uint32_t column = 0);

/// Independent N(0, 1) entries.
template <class S>
HEARSAY_API void fill_normal(const RandomKey& key, BlockView<S> out);

/// d x p with orthonormal columns, uniformly distributed: the Q factor of a normal block.
template <class S>
HEARSAY_API Block<S> random_orthonormal(Index d, Index p, const RandomKey& key);

}  // namespace hearsay

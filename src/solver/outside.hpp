// New columns for a Krylov space: orthonormal, and orthogonal to all that is there already.
//
//   Y = P a + Q B + (what is lost)      P  what is there, in blocks | Q  orthonormal, P'Q = 0 to rounding
//
// Where little of Y is new, most of what is left of it is rounding, and rounding may lie in P for ever: eigenvectors
// that are coordinates keep their zeros. So a direction counts only as long as it outlives being made orthogonal; the
// others are dropped, random columns take their place with zero rows in B, and what was dropped is counted as lost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "hearsay/block.hpp"

namespace hearsay::detail {

template <class S>
class Outside {
 public:
  /// `cosine` is what may be left between a new column and P, as far as rounding allows. Random columns are of this
  /// seed.
  Outside(Index d, std::uint64_t seed, S cosine)
      : d_(d), seed_(seed), cosine_(std::max(cosine, S(50) * std::numeric_limits<S>::epsilon())) {}

  /// P, block by block
  using There = std::vector<ConstBlockView<S>>;

  /// Y <- Q and B, where three-term products have left little of Y along P. `size` is that of the product: what is
  /// rounding beside it is not new. Y has no more columns than there is space. What is lost.
  double take(const There& there, Block<S>& Y, Small<S>& B, double size);

  /// Columns drawn at random, Omega = P along + Q R: Q, and along and R.
  struct Drawn {
    Block<S> Q;
    Small<S> along, R;
  };
  Drawn draw(const There& there, Index columns);

  /// Y <- Y - P h for the columns of one block
  void subtract(ConstBlockView<S> P, const Small<S>& h, Block<S>& Y);

 private:
  Small<S> along(const There& there, ConstBlockView<S> Y) const;
  void subtract_all(const There& there, const Small<S>& h, Block<S>& Y);
  double keep_what_lasts(const There& there, Block<S>& Y, Small<S>& B, double least);
  void fill_up(const There& there, Block<S>& Y, Small<S>& B, Index columns);

  Index d_;
  std::uint64_t seed_;
  S cosine_;
  std::uint32_t draws_ = 0;
  bool cleaned_ = false;  // what lay along P was taken out of the last block, not out of the one before
  Block<S> part_;
};

}  // namespace hearsay::detail

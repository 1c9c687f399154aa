// Rows of a data matrix handed over block by block, as often as asked: a file bigger than memory, a socket, a
// generator.
#pragma once

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

template <class S>
class HEARSAY_API RowSource {
 public:
  virtual ~RowSource() = default;

  virtual Index cols() const = 0;

  /// Back to the first row. Every pass yields the same rows in the same order.
  virtual void rewind() = 0;

  /// Fills the first rows of `out` (out.cols() == cols()) and says how many; fewer than out.rows() only at the end.
  virtual Index read(BlockView<S> out) = 0;
};

}  // namespace hearsay

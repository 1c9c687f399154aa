// Rows of a data matrix handed over block by block, as often as asked: a file bigger than memory, a socket, a
// generator.
//
// Four members are a source: cols(), rewind() and read(), and a destructor. The others have answers that are right of
// every source; who knows better says it, and passes are then planned and rows left out without being decoded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

template <class S>
class HEARSAY_API RowSource {
 public:
  virtual ~RowSource() = default;

  virtual Index cols() const = 0;

  /// How many rows a pass yields, where that is known before the first one.
  virtual std::optional<Index> rows() const { return std::nullopt; }

  /// What a pass reads, in bytes, from where the rows are kept; 0 where that is not known.
  virtual std::uint64_t bytes_per_pass() const { return 0; }

  /// What messages begin with: the name of a file.
  virtual std::string name() const { return "stream"; }

  /// Back to the first row. Every pass yields the same rows in the same order.
  virtual void rewind() = 0;

  /// Fills the first rows of `out` (out.cols() == cols()) and says how many; fewer than out.rows() only at the end.
  /// Calls come one at a time, but not always from the same thread: the next rows are read while others are multiplied.
  virtual Index read(BlockView<S> out) = 0;

  /// Leaves out the next rows and says how many; fewer than `count` only at the end.
  virtual Index skip(Index count);
};

/// Rows of which few entries are not zero, handed over without the zeros too. read(), read_sparse() and skip() all go
/// on where the last of them ended.
class HEARSAY_API SparseRowSource : public RowSource<double> {
 public:
  /// The next rows, in place of what `out` held, and how many; fewer than `count` only at the end.
  virtual Index read_sparse(Index count, CsrMatrix<double>& out) = 0;

  /// Stored entries of all rows: from these it is settled how many rows are read at once.
  virtual std::int64_t entries() const = 0;

  Index read(BlockView<double> out) override;

 private:
  CsrMatrix<double> some_;
};

template <class S>
Index RowSource<S>::skip(Index count) {
  constexpr Index at_once = 256;
  Block<S> rows(std::min(std::max<Index>(count, 0), at_once), cols());
  Index skipped = 0;
  while (skipped < count) {
    const Index wanted = std::min(at_once, count - skipped), found = read(rows.topRows(wanted));
    skipped += found;
    if (found < wanted) break;
  }
  return skipped;
}

}  // namespace hearsay

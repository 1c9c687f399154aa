// The rows of some lanes alone, where several read one source together: part i of n has the lanes i, i + n, i + 2n ...
// Its leaves, dealt to so many lanes as it has, come to lie in the lanes that they would lie in if it read them all.
#pragma once

#include <algorithm>
#include <optional>

#include "hearsay/row_source.hpp"
#include "operators/leaves.hpp"

namespace hearsay::detail {

/// Of those that read together.
struct ReadingPart {
  Index part = 0, parts = 1;

  bool alone() const { return parts == 1; }
  Index lanes(const Leaves& leaves) const { return part >= leaves.lanes ? 0 : (leaves.lanes - 1 - part) / parts + 1; }
  bool has(Index leaf, const Leaves& leaves) const { return leaf % leaves.lanes % parts == part; }
};

/// Which rows come next: walks over the leaves of a source from its beginning.
class LaneWalk {
 public:
  LaneWalk(const Leaves& leaves, const ReadingPart& part) : leaves_(leaves), part_(part) {}

  void restart() { row_ = 0; }
  void advance(Index rows) { row_ += rows; }

  /// Rows to be left out before those of this part.
  Index to_skip() const {
    Index first = row_;
    while (!part_.has(first / leaves_.rows, leaves_)) first = (first / leaves_.rows + 1) * leaves_.rows;
    return first - row_;
  }
  /// Rows of this part from here on that follow each other.
  Index to_read() const { return leaves_.rows - row_ % leaves_.rows; }

  /// Of so many.
  Index own(Index rows) const {
    Index count = 0;
    for (Index first = 0; first < rows; first += leaves_.rows)
      if (part_.has(first / leaves_.rows, leaves_)) count += std::min(leaves_.rows, rows - first);
    return count;
  }

 private:
  const Leaves leaves_;
  const ReadingPart part_;
  Index row_ = 0;
};

/// read(done, wanted) reads so many rows behind the first `done`, and says how many there were.
template <class S, class Read>
Index read_own(RowSource<S>& source, LaneWalk& walk, Index wanted, const Read& read) {
  Index done = 0;
  while (done < wanted) {
    const Index skip = walk.to_skip(), skipped = skip > 0 ? source.skip(skip) : 0;
    walk.advance(skipped);
    if (skipped < skip) break;
    const Index piece = std::min(walk.to_read(), wanted - done), count = read(done, piece);
    walk.advance(count);
    done += count;
    if (count < piece) break;
  }
  return done;
}

/// The part must have a lane.
template <class S>
class LaneRows final : public RowSource<S> {
 public:
  LaneRows(RowSource<S>& source, const Leaves& leaves, const ReadingPart& part)
      : source_(source), walk_(leaves, part) {}

  Index cols() const override { return source_.cols(); }
  std::optional<Index> rows() const override {
    const std::optional<Index> all = source_.rows();
    return all ? std::optional<Index>(walk_.own(*all)) : std::nullopt;
  }
  std::string name() const override { return source_.name(); }
  void rewind() override {
    source_.rewind();
    walk_.restart();
  }
  Index read(BlockView<S> out) override {
    return read_own(source_, walk_, out.rows(),
                    [&](Index done, Index wanted) { return source_.read(out.middleRows(done, wanted)); });
  }

 private:
  RowSource<S>& source_;
  LaneWalk walk_;
};

class SparseLaneRows final : public SparseRowSource {
 public:
  SparseLaneRows(SparseRowSource& source, const Leaves& leaves, const ReadingPart& part)
      : source_(source), walk_(leaves, part) {}

  Index cols() const override { return source_.cols(); }
  std::int64_t entries() const override { return source_.entries(); }
  std::optional<Index> rows() const override {
    const std::optional<Index> all = source_.rows();
    return all ? std::optional<Index>(walk_.own(*all)) : std::nullopt;
  }
  std::string name() const override { return source_.name(); }
  void rewind() override {
    source_.rewind();
    walk_.restart();
  }
  Index read_sparse(Index count, CsrMatrix<double>& out) override;

 private:
  SparseRowSource& source_;
  LaneWalk walk_;
  CsrMatrix<double> piece_;
};

}  // namespace hearsay::detail

// One reading of all rows, in leaves: so many rows that are added up together, first. Leaf i belongs to lane i mod L,
// a lane adds up its leaves in their order, and in the end the lanes are added up in theirs. Leaves and lanes depend on
// the shape of the rows alone, so the sum has the same bits however many rows are read at once and whoever adds them
// up.
#pragma once

#include <algorithm>

#include "linalg/worth_threads.hpp"
#include "operators/leaves.hpp"
#include "operators/read_ahead.hpp"

namespace hearsay::detail {

/// Rows of a buffer: whole leaves, of one for each lane at least where nobody asked for fewer.
inline Index buffered_rows(Index asked, const Leaves& leaves, Index row_bytes, std::optional<Index> all) {
  constexpr Index bytes = Index{4} << 20;
  if (asked == 0) asked = std::max(leaves.lanes * leaves.rows, bytes / std::max<Index>(row_bytes, 1));
  if (all) asked = std::min(asked, std::max<Index>(*all, 1));
  return (asked + leaves.rows - 1) / leaves.rows * leaves.rows;
}

/// A shift from which a sum of squares loses few digits: the mean of some of the first rows. It is taken about the
/// first of them, so that a constant column is shifted to zero.
template <class S>
Vector<double> provisional_mean(const BorrowedBlock<S>& rows, Index most) {
  const Index count = std::min(rows.rows(), most);
  const Vector<double> first = rows.row(0).transpose().template cast<double>();
  Vector<double> sum = Vector<double>::Zero(rows.cols());
  for (Index i = 1; i < count; ++i) sum += rows.row(i).transpose().template cast<double>() - first;
  return first + sum / static_cast<double>(count);
}

/// From the first row of `reader` to the end: before(rows) sees the first buffer, of one leaf at least; visit(lane,
/// rows) every leaf, those of different lanes at once; after(count) is told of each buffer. Says how many rows there
/// were.
template <class S, class Before, class Visit, class After>
Index visit_leaves(ReadAhead<S>& reader, const Leaves& leaves, const Before& before, const Visit& visit,
                   const After& after) {
  reader.rewind();
  Index begun = 0, count = 0;  // leaves, rows
  for (;;) {
    const BorrowedBlock<S> rows = reader.next();
    if (rows.rows() == 0) return count;
    if (count == 0) before(rows);
    const Index here = (rows.rows() + leaves.rows - 1) / leaves.rows;
#pragma omp parallel for schedule(static, 1) \
    num_threads(worth_threads(10.0 * double(rows.rows()) * double(rows.cols())))
    for (Index lane = 0; lane < leaves.lanes; ++lane)
      for (Index leaf = (lane + leaves.lanes - begun % leaves.lanes) % leaves.lanes; leaf < here;
           leaf += leaves.lanes) {
        const Index first = leaf * leaves.rows;
        visit(lane,
              BorrowedBlock<S>(rows.data() + first * rows.outerStride(), std::min(leaves.rows, rows.rows() - first),
                               rows.cols(), Eigen::OuterStride<>(rows.outerStride())));
      }
    begun += here;
    count += rows.rows();
    after(count);
  }
}

}  // namespace hearsay::detail

#include <algorithm>

#include "hearsay/row_source.hpp"
#include "operators/lane_rows.hpp"

namespace hearsay {

Index SparseRowSource::read(BlockView<double> out) {
  constexpr Index at_once = 1024;
  Index done = 0;
  while (done < out.rows()) {
    const Index wanted = std::min(at_once, out.rows() - done), count = read_sparse(wanted, some_);
    for (Index i = 0; i < count; ++i) {
      auto row = out.row(done + i);
      row.setZero();
      for (auto e = some_.row_start[static_cast<std::size_t>(i)]; e < some_.row_start[static_cast<std::size_t>(i) + 1];
           ++e)
        row(some_.columns[static_cast<std::size_t>(e)]) = some_.values[static_cast<std::size_t>(e)];
    }
    done += count;
    if (count < wanted) break;
  }
  return done;
}

namespace detail {

Index SparseLaneRows::read_sparse(Index count, CsrMatrix<double>& out) {
  out.cols = cols();
  out.row_start.assign(1, 0);
  out.columns.clear();
  out.values.clear();
  out.rows = read_own<double>(source_, walk_, count, [&](Index, Index wanted) {
    const Index found = source_.read_sparse(wanted, piece_);
    const std::int64_t before = out.row_start.back();
    for (Index i = 1; i <= found; ++i) out.row_start.push_back(before + piece_.row_start[static_cast<std::size_t>(i)]);
    out.columns.insert(out.columns.end(), piece_.columns.begin(), piece_.columns.end());
    out.values.insert(out.values.end(), piece_.values.begin(), piece_.values.end());
    return found;
  });
  return out.rows;
}

}  // namespace detail

}  // namespace hearsay

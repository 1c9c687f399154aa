// Walking along the stored entries of a sparse matrix.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "hearsay/csr.hpp"

namespace hearsay::detail {

/// visit(j, value) for the entries of row i, by ascending j. Matrix is CsrMatrix<double>, const or not.
template <class Matrix, class Visit>
void each_in_row(Matrix& W, Index i, const Visit& visit) {
  const auto row = static_cast<std::size_t>(i);
  for (auto e = static_cast<std::size_t>(W.row_start[row]); e < static_cast<std::size_t>(W.row_start[row + 1]); ++e)
    visit(Index{W.columns[e]}, W.values[e]);
}

/// visit(i, j, value) for every entry, row by row.
template <class Matrix, class Visit>
void each_entry(Matrix& W, const Visit& visit) {
  for (Index i = 0; i < W.rows; ++i) each_in_row(W, i, [&](Index j, auto& value) { visit(i, j, value); });
}

/// Who has an entry in row i but i itself, ascending.
inline std::vector<Index> neighbours_of(const CsrMatrix<double>& W, Index i) {
  std::vector<Index> neighbours;
  each_in_row(W, i, [&](Index j, double) {
    if (j != i) neighbours.push_back(j);
  });
  return neighbours;
}

/// The entry in row i and column j, or null.
inline const double* find_entry(const CsrMatrix<double>& W, Index i, Index j) {
  const auto row = static_cast<std::size_t>(i);
  const auto begin = W.columns.begin() + W.row_start[row], end = W.columns.begin() + W.row_start[row + 1];
  const auto place = std::lower_bound(begin, end, static_cast<std::int32_t>(j));
  return place != end && *place == j ? &W.values[static_cast<std::size_t>(place - W.columns.begin())] : nullptr;
}

/// Adds an entry to the last row, and ends that row.
inline void append(CsrMatrix<double>& W, Index j, double value) {
  W.columns.push_back(static_cast<std::int32_t>(j));
  W.values.push_back(value);
}
inline void end_row(CsrMatrix<double>& W) { W.row_start.push_back(W.nonzeros()); }

}  // namespace hearsay::detail

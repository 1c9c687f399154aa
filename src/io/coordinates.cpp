#include "io/coordinates.hpp"

#include <algorithm>
#include <tuple>

namespace hearsay::io {

CsrMatrix<double> compress(std::vector<Coordinate> entries, Index rows, Index cols) {
  const auto before = [](const Coordinate& a, const Coordinate& b) {
    return std::tie(a.row, a.column) < std::tie(b.row, b.column);
  };
  if (!std::is_sorted(entries.begin(), entries.end(), before)) std::stable_sort(entries.begin(), entries.end(), before);

  CsrMatrix<double> A{.rows = rows, .cols = cols, .row_start = {}, .columns = {}, .values = {}};
  A.row_start.assign(static_cast<std::size_t>(rows) + 1, 0);
  A.columns.reserve(entries.size());
  A.values.reserve(entries.size());
  const Coordinate* previous = nullptr;
  for (const Coordinate& entry : entries) {
    if (previous != nullptr && previous->row == entry.row && previous->column == entry.column) {
      A.values.back() += entry.value;
    } else {
      A.columns.push_back(entry.column);
      A.values.push_back(entry.value);
      ++A.row_start[static_cast<std::size_t>(entry.row) + 1];
    }
    previous = &entry;
  }
  for (std::size_t i = 1; i < A.row_start.size(); ++i) A.row_start[i] += A.row_start[i - 1];
  return A;
}

}  // namespace hearsay::io

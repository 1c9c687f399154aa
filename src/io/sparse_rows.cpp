#include "io/sparse_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "hearsay/error.hpp"

namespace hearsay::io {
namespace {

template <class S>
Index row_of_entry(const CsrMatrix<S>& A, std::size_t entry) {
  const auto after = std::upper_bound(A.row_start.begin(), A.row_start.end(), static_cast<std::int64_t>(entry));
  return after - A.row_start.begin() - 1;
}

template <class S>
bool rise(const CsrMatrix<S>& A, std::size_t begin, std::size_t end) {
  for (std::size_t e = begin + 1; e < end; ++e)
    if (A.columns[e] <= A.columns[e - 1]) return false;
  return true;
}

}  // namespace

void require_offsets(std::span<const std::int64_t> offsets, Index first, std::int64_t entries, std::string_view where) {
  if (first == 0 && offsets.front() != 0)
    throw DataError(fmt::format("{}: number 1 is {}: offsets of rows begin with 0", where, offsets.front()));
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const auto number = first + static_cast<Index>(i) + 1;
    if (i > 0 && offsets[i] < offsets[i - 1])
      throw DataError(fmt::format("{}: number {} is {}, after {}: offsets of rows must not fall", where, number,
                                  offsets[i], offsets[i - 1]));
    if (offsets[i] < 0 || offsets[i] > entries)
      throw DataError(
          fmt::format("{}: number {} is {}: the matrix has {} entries", where, number, offsets[i], entries));
  }
}

template <class S>
void require_entries(const CsrMatrix<S>& A, Index first, std::int64_t entry, const SparsePlaces& places,
                     const NpyMissing& missing) {
  std::int32_t least = 0, most = 0;
  for (const std::int32_t column : A.columns) least = std::min(least, column), most = std::max(most, column);
  if (least < 0 || most >= A.cols)
    for (std::size_t e = 0; e < A.columns.size(); ++e)
      if (A.columns[e] < 0 || A.columns[e] >= A.cols)
        throw DataError(fmt::format("{}: number {}, of row {}, is {}: columns go from 0 to {}", places.columns,
                                    entry + static_cast<std::int64_t>(e) + 1, first + row_of_entry(A, e) + 1,
                                    A.columns[e], A.cols - 1));
  const Eigen::Map<const Eigen::ArrayX<S>> x(A.values.data(), static_cast<Index>(A.values.size()));
  if ((x * S(0)).sum() == S(0)) return;
  for (std::size_t e = 0; e < A.values.size(); ++e)
    if (std::isinf(A.values[e]) || (std::isnan(A.values[e]) && !missing.allowed))
      throw DataError(fmt::format("{}: row {}, column {} is {}{}", places.values, first + row_of_entry(A, e) + 1,
                                  A.columns[e] + 1, A.values[e], std::isnan(A.values[e]) ? missing.hint : ""));
}

template <class S>
void tidy_rows(CsrMatrix<S>& A, std::string_view where) {
  std::vector<std::pair<std::int32_t, S>> row;
  std::size_t begin = 0, kept = 0;  // of the row as it was; entries so far as they are now
  for (std::size_t i = 1; i < A.row_start.size(); ++i) {
    const auto end = static_cast<std::size_t>(A.row_start[i]);
    if (kept == begin && rise(A, begin, end)) {
      begin = kept = end;
      continue;
    }
    row.clear();
    for (std::size_t e = begin; e < end; ++e) row.emplace_back(A.columns[e], A.values[e]);
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::size_t row_begin = kept;
    for (const auto& [column, value] : row) {
      if (kept > row_begin && A.columns[kept - 1] == column) {
        A.values[kept - 1] += value;
        if (std::isinf(A.values[kept - 1]))
          throw DataError(fmt::format("{}: entries given for the same place add up to infinity", where));
      } else {
        A.columns[kept] = column;
        A.values[kept++] = value;
      }
    }
    A.row_start[i] = static_cast<std::int64_t>(kept);
    begin = end;
  }
  A.columns.resize(kept);
  A.values.resize(kept);
}

template void require_entries(const CsrMatrix<float>&, Index, std::int64_t, const SparsePlaces&, const NpyMissing&);
template void require_entries(const CsrMatrix<double>&, Index, std::int64_t, const SparsePlaces&, const NpyMissing&);
template void tidy_rows(CsrMatrix<float>&, std::string_view);
template void tidy_rows(CsrMatrix<double>&, std::string_view);

}  // namespace hearsay::io

// The rules of compressed sparse rows, for readers of files in which somebody else wrote them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "hearsay/csr.hpp"
#include "io/npy_format.hpp"

namespace hearsay::io {

/// Where the three arrays of a matrix come from, as messages name them.
struct SparsePlaces {
  std::string_view offsets, columns, values;
};

/// Offsets number `first` and following: the very first is 0, none is less than the one before, none beyond `entries`.
void require_offsets(std::span<const std::int64_t> offsets, Index first, std::int64_t entries, std::string_view where);

/// That every column is one of A's and every value finite, or missing where it may be. Row 0 of A is row `first` of the
/// file, and its first entry number `entry` there.
template <class S>
void require_entries(const CsrMatrix<S>& A, Index first, std::int64_t entry, const SparsePlaces& places,
                     const NpyMissing& missing);

/// Columns ascending and distinct within each row: sorted where they are not, entries of one place added up. Throws
/// DataError where that is infinite.
template <class S>
void tidy_rows(CsrMatrix<S>& A, std::string_view where);

}  // namespace hearsay::io

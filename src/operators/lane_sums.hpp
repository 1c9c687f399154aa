// The sum of outer products of rows that pass by, lane by lane (row_pass.hpp), by one process or by several that share
// the lanes.
#pragma once

#include <vector>

#include "hearsay/reading.hpp"
#include "linalg/gram_sum.hpp"
#include "operators/covariance_direct.hpp"
#include "operators/lane_rows.hpp"

namespace hearsay::detail {

struct LaneSums {
  std::vector<GramSum> lanes = {};
  Vector<double> shift = {};  ///< of every row before it was multiplied
  Vector<double> terms = {};  ///< of sparse rows: the most entries that a column has in a leaf. Empty: as many as rows
};

/// The mean of so many rows is the shift of dense ones.
inline constexpr Index rows_for_provisional_mean = 64;

/// Sums of whole matrices: eight of them up to 700 columns, four up to 4,000, by which time they are half a gigabyte.
Leaves leaves_of_sums(Index columns);
Leaves leaves_of_sparse_sums(Index columns);

/// What is subtracted from every row before it is multiplied: the mean of the first rows; of sparse ones, of those
/// columns alone that have an entry in half of these, so that the others keep their zeros. It goes to the beginning.
template <class S>
Vector<double> first_shift(RowSource<S>& source, Index most);
Vector<double> first_shift(SparseRowSource& source);
Vector<double> sparse_shift(const CsrView<double>& rows);

/// Reads all rows of the part once. Without a shift that is given it is found in the first rows, or is zero.
template <class S>
LaneSums sum_lanes(RowSource<S>& source, bool center, const ReadingOptions& reading, const ReadingPart& part = {},
                   const Vector<double>* shift = nullptr);
LaneSums sum_lanes(SparseRowSource& source, bool center, const ReadingOptions& reading, const ReadingPart& part = {},
                   const Vector<double>* shift = nullptr);

/// The covariance of what all lanes have summed up, added in their order. `source` is for messages.
FormedCovariance covariance_of_lanes(LaneSums sums, const Leaves& leaves, bool center, const std::string& source);

/// Bytes that a reading of sparse rows takes, in sums and buffers.
std::uint64_t bytes_to_form_sparse_covariance(Index columns, Index rows, std::int64_t entries);
/// Rows that are read at once, so that they stay in cache: whole groups that products add up.
Index sparse_rows_at_once(const SparseRowSource& source, const ReadingOptions& reading);

}  // namespace hearsay::detail

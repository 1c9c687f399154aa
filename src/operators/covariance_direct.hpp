// Mean and covariance of dense rows together, in one reading of them.
#pragma once

#include <cstdint>
#include <optional>

#include "hearsay/block.hpp"
#include "hearsay/reading.hpp"
#include "linalg/gram_sum.hpp"

namespace hearsay::detail {

struct FormedCovariance {
  Block<double> matrix = {};
  Vector<double> mean = {};  ///< zero when not centring
  double divisor = 1;
  double rounding = 0;  ///< the most that forming it may have changed, as a Frobenius norm
  Index passes = 1;     ///< readings of the rows
  Index samples = 0;
};

/// Nothing where an entry is not finite, or so large or small that squares of it are none: who looks at every number on
/// its own may say more.
template <class S>
std::optional<FormedCovariance> form_covariance(const BorrowedBlock<S>& data, bool center);

/// The same of rows that pass by: the same bits for any number of threads and of rows that are read at once. DataError
/// where the rows have an entry of that kind, or there are none.
template <class S>
FormedCovariance form_covariance(RowSource<S>& source, bool center, const ReadingOptions& reading);
FormedCovariance form_covariance(SparseRowSource& source, bool center, const ReadingOptions& reading);

/// Squares that are those of ordinary numbers, all of them.
bool is_ordinary(const GramSum& sum);
/// Of sums about `shift`, of at most so many terms one after the other in each column.
FormedCovariance covariance_of(GramSum sum, Vector<double> shift, bool center, const Vector<double>& terms);

/// Of the memory that takes, in bytes, what grows with the columns, and with their square.
std::uint64_t bytes_to_form_covariance(Index columns, Index stored_bytes);

}  // namespace hearsay::detail

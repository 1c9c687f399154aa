// The sum of outer products of rows that come a block at a time, in double precision whatever the rows are stored in,
// and the sum of the rows beside it.
//
//   G += (rows - 1 shift')'(rows - 1 shift'),   s += (rows - 1 shift')'1      the upper triangle of G alone
//
// A row is read once: it is shifted on its way into the packing of the multiply kernel, which reads both factors there.
// From a shift near the mean, mean and covariance follow at the end without cancellation, in one pass over the rows.
#pragma once

#include <utility>

#include "hearsay/block.hpp"

namespace hearsay::detail {

class GramSum {
 public:
  explicit GramSum(Index columns) : G_(Block<double>::Zero(columns, columns)), sums_(Vector<double>::Zero(columns)) {}

  GramSum(Block<double> upper, Vector<double> sums, Index rows)
      : G_(std::move(upper)), sums_(std::move(sums)), rows_(rows) {}

  /// The shift has as many numbers as a row.
  template <class S>
  void add(const BorrowedBlock<S>& rows, const double* shift);

  /// What was summed up elsewhere, about the same shift.
  void add(const GramSum& other);

  Index rows() const { return rows_; }
  const Block<double>& upper() const { return G_; }
  Block<double> take_upper() && { return std::move(G_); }
  const Vector<double>& sums() const { return sums_; }
  /// Its memory, full of zeros.
  std::pair<Block<double>, Vector<double>> cleared() && {
    G_.setZero();
    sums_.setZero();
    return {std::move(G_), std::move(sums_)};
  }

 private:
  Block<double> G_;
  Vector<double> sums_;
  Index rows_ = 0;
};

/// Rows that are multiplied together: the terms of a sum between two additions to G.
inline constexpr Index gram_rows = 256;

/// Of many rows at once, in parallel and in sums whose number and order depend on the shape alone.
template <class S>
GramSum gram_of(const BorrowedBlock<S>& rows, const double* shift);

/// Terms that are added one after the other for an entry of gram_of(), by which rounding grows.
Index gram_terms(Index rows, Index columns);

}  // namespace hearsay::detail

// Mean, scatter and extent of every column, from one reading of the rows: what standardizing, weights and missing
// entries must know. A NaN is a missing entry and counts for nothing; so does a row of weight zero.
//
//   within a block of rows   two passes in cache, corrected (Chan, Golub and LeVeque, 1983)
//   from block to block      their pairwise update, so that a common offset cancels nothing
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

class HEARSAY_API ColumnMoments {
 public:
  explicit ColumnMoments(Index columns);

  /// Rows in their order, and a weight for each of them, or none where all count alike.
  template <class S>
  void add(const BorrowedBlock<S>& rows, std::span<const double> weights = {});
  /// What somebody else saw of the rows that follow.
  void add(const ColumnMoments& later);

  Index columns() const { return mean.size(); }

  // Of the entries of each column that are there.
  Vector<double> weight, mean;
  Vector<double> scatter;  ///< the weighted sum of squares about the mean
  Vector<double> least, most;

  double total_weight = 0;  ///< of all rows
  Index rows = 0;           ///< whose weight is not zero
  Index missing = 0;        ///< entries, in these rows
  Index rows_missing = 0;   ///< rows that have any
  Index rows_empty = 0;     ///< rows that have nothing else

 private:
  template <class S>
  void add_block(const BorrowedBlock<S>& rows, std::span<const double> weights);
  template <class S>
  void add_values(const Eigen::Ref<const Eigen::Matrix<S, 1, Eigen::Dynamic>>& row, double w);
};

/// What is made of a row x before it is multiplied: (x - mean) factor, entry by entry, where a missing one counts as
/// `fill`.
template <class S>
struct ColumnRule {
  Vector<S> mean;                    ///< zero when not centring
  Vector<S> fill;                    ///< of the entries that are there
  Vector<S> factor;                  ///< one, or one over the standard deviation; zero where a column is constant
  Vector<S> scale = {};              ///< the standard deviations, one where a column is constant; empty: not divided
  std::vector<Index> constant = {};  ///< columns that have no deviation to be divided by
};

struct ColumnWishes {
  bool center = true;
  bool standardize = false;
  bool missing_as_mean = false;                    ///< otherwise a missing entry is refused
  bool weighted = false;                           ///< rows have weights, which count them
  std::span<const std::string> column_names = {};  ///< for messages
};

/// The divisor of the covariance: total weight less one where the mean was taken from the data (at least 1 where the
/// weights are numbers of rows). Throws InvalidArgument for weights that leave nothing.
HEARSAY_API double covariance_divisor(const ColumnMoments& moments, const ColumnWishes& wishes);

/// Throws DataError for entries that are not finite, missing ones among them unless they are wished for, for columns of
/// which nothing is there, and for variances beyond the range of numbers.
template <class S>
HEARSAY_API ColumnRule<S> column_rule(const ColumnMoments& moments, const ColumnWishes& wishes);

/// Throws InvalidArgument unless there are as many weights as rows, all finite and none negative.
HEARSAY_API void require_weights(std::span<const double> weights, Index rows);

/// "column 3 (age)", from 0 here and from 1 there.
HEARSAY_API std::string column_name(Index column, std::span<const std::string> names);

/// "column 3 (age), column 7 (sex) and 12 more".
HEARSAY_API std::string column_list(std::span<const Index> columns, std::span<const std::string> names);

}  // namespace hearsay

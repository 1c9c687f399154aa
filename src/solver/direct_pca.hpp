// PCA of dense rows by the direct way, in two steps: all variances, and then as many components as are wanted. So a
// rank that depends on the variances takes one reading of the rows and one matrix.
//   m >= d   the covariance, formed with the mean in one reading
//   m < d    the matrix of samples by samples, whose eigenvectors lead back to the features
#pragma once

#include <memory>
#include <optional>

#include "hearsay/operators/covariance.hpp"
#include "hearsay/pca.hpp"
#include "solver/direct.hpp"

namespace hearsay::detail {

/// Borrows the rows.
template <class S>
class DirectPca {
 public:
  /// Whether the direct way is open, and the cheapest by what is known.
  static bool suits(const BorrowedBlock<S>& data, const PcaOptions<S>& options, const Hooks<S>& hooks);

  /// Whether it may say more than what was found in single precision, which rounding ended. An accuracy that was asked
  /// for and is beyond single precision is told so: `options` are those of the caller, with no wish in them.
  static bool settles(const PowerResult<S>& found, const BorrowedBlock<S>& data, const PcaOptions<S>& options,
                      const Hooks<S>& hooks);

  /// Whether it is open where all variances are wanted to begin with, so that no other way is cheaper.
  static bool finds_all_variances(const BorrowedBlock<S>& data, const PcaOptions<S>& options, const Hooks<S>& hooks);

  /// Forms the matrix. Nothing where entries are not finite, or their squares are out of range: others say more.
  static std::optional<DirectPca> of(const BorrowedBlock<S>& data, const PcaOptions<S>& options);

  /// All there are, descending, in a unit of their own: zeros that only the other side would have are left out.
  const Vector<double>& variances();
  double total_variance() const { return matrix_.matrix.trace(); }

  PcaResult<S> components(const PcaOptions<S>& options, const Hooks<S>& hooks) const;

 private:
  explicit DirectPca(const BorrowedBlock<S>& data) : data_(data) {}

  BorrowedBlock<S> data_;
  FormedMatrix matrix_;
  Vector<double> mean_;
  double divisor_ = 1;
  std::unique_ptr<const DenseCovariance<S>> features_;  // where m < d
};

/// As pca() would tell it.
template <class S>
PcaResult<S> pca_of(const DirectPca<S>& formed, const PcaOptions<S>& options, const Hooks<S>& hooks);

}  // namespace hearsay::detail

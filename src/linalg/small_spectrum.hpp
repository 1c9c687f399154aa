// The eigenvalues of a small symmetric matrix, and as many rows of its eigenvectors, or as many of these, as somebody
// needs.
//   Q'HQ = T tridiagonal (Householder),   G_1 ... G_r  the plane rotations that turn T to Theta,   U = Q G_1' ... G_r'
// The rotations are kept and applied afterwards: forwards to rows of Q, or backwards to unit vectors. Every row or
// vector is on its own, so that a few cost little, and many go through cache a strip at a time.
#pragma once

#include <vector>

#include "hearsay/block.hpp"
#include "linalg/tridiagonal.hpp"

namespace hearsay::detail {

template <class S>
class SmallSpectrum {
 public:
  SmallSpectrum() = default;

  /// Of the symmetric part of H.
  explicit SmallSpectrum(const Small<S>& H);

  /// Descending.
  const Vector<S>& values() const { return values_; }

  /// The last rows of U, whose columns are the eigenvectors in the order of the values.
  Small<S> last_rows(Index count) const;

  /// U.
  Small<S> vectors() const { return vectors(0, values_.size()); }

  /// So many columns of U.
  Small<S> vectors(Index first, Index count) const;

  /// M U, for a few rows M.
  Small<S> times_vectors(const Small<S>& M) const;

 private:
  void diagonalise(Vector<S>& diagonal, Vector<S>& off_diagonal);
  void qr_step(Index first, Index last, Vector<S>& diagonal, Vector<S>& off_diagonal);
  int threads_for(Index lanes) const;

  Tridiagonal<S> tridiagonal_;
  std::vector<std::ptrdiff_t> chains_;  ///< first plane and number of the rotations of each QR step
  std::vector<S> rotations_;            ///< cosine and sine of each
  std::vector<Index> order_;            ///< where the i-th largest value stands
  Vector<S> values_;
};

}  // namespace hearsay::detail

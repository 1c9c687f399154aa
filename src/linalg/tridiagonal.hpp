// A symmetric matrix as Q T Q' with T tridiagonal, by Householder reflections (Golub and Van Loan, section 8.3.1).
//   Q = H_0 H_1 ... H_{n-3},   H_j = I - tau_j v_j v_j',   v_j zero up to its entry j + 1, which is one
// A step updates what is left of the matrix and multiplies it by the next reflection's vector in one pass. Reflections
// are applied by blocks: H_j ... H_{j+b-1} = I - V T V' (Schreiber and Van Loan 1989).
#pragma once

#include <vector>

#include "hearsay/block.hpp"

namespace hearsay::detail {

template <class S>
class Tridiagonal {
 public:
  Tridiagonal() = default;

  /// Of a symmetric matrix, both of whose triangles are read.
  explicit Tridiagonal(Block<S> A);

  const Vector<S>& diagonal() const { return diagonal_; }
  const Vector<S>& off_diagonal() const { return off_diagonal_; }  ///< n - 1 of them, and room for one more

  /// Numbers that lie side by side in a strip: n rows of so many columns.
  static Index strip_width();

  /// X <- Q X, of a strip.
  void apply(S* strip) const { reflect(strip, false); }
  /// X <- Q' X.
  void apply_transposed(S* strip) const { reflect(strip, true); }

 private:
  void reduce();
  S reflection(Index j);
  void find_factors();
  void reflect(S* strip, bool transposed) const;

  Block<S> reflections_;  // v_j in row j
  Vector<S> diagonal_, off_diagonal_, tau_;
  std::vector<Small<S>> factors_;  // T of each block
};

}  // namespace hearsay::detail

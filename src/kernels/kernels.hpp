// The narrow set of loops that touch every number. Raw pointers and strides only, so that the same source can be
// compiled once per instruction set and chosen at run time; nothing in here allocates, and no result depends on
// alignment.
#pragma once

#include <cstdint>

namespace hearsay::kernels {

using Size = std::ptrdiff_t;

/// Packed columns come in tiles of this many.
template <class S>
constexpr Size tile_columns() {
  return 128 / static_cast<Size>(sizeof(S));
}

inline constexpr Size round_up(Size n, Size multiple) { return (n + multiple - 1) / multiple * multiple; }

/// Rows that rotate() takes at once.
template <class S>
constexpr Size rotated_rows() {
  return 256 / static_cast<Size>(sizeof(S));
}

template <class S>
struct Table {
  /// Y(m x p) <- A X or, when accumulating, Y + A X. Entry (i, j) of A is A[i * row_stride + j * column_stride].
  /// X is packed: a tile holds tile_columns() columns of all packed_rows rows, row by row; the n rows from X_packed on
  /// are used.
  void (*multiply)(Size m, Size n, Size p, const S* A, Size row_stride, Size column_stride, const S* X_packed,
                   Size packed_rows, S* Y, Size ldy, bool accumulate);

  /// The packing multiply() expects: n x p with leading dimension ldx into n * round_up(p, tile_columns()) numbers.
  void (*pack)(Size n, Size p, const S* X, Size ldx, S* X_packed);

  /// The same for few columns, at most narrow_columns: A has contiguous rows and X comes transposed, p rows of n
  /// numbers.
  void (*multiply_narrow)(Size m, Size n, Size p, const S* A, Size lda, const S* X_t, Size ldx, S* Y, Size ldy,
                          bool accumulate);
  Size narrow_columns;

  /// Rows [first, last) of Y <- scale_row * (values . X) + shift X - beta Z, a CSR product and a step; values ==
  /// nullptr means all one; row_scale, column_scale and Z may be null.
  void (*csr_multiply)(Size first, Size last, Size p, const std::int64_t* row_start, const std::int32_t* columns,
                       const S* values, const S* row_scale, const S* column_scale, S shift, const S* X, Size ldx,
                       S beta, const S* Z, Size ldz, S* Y, Size ldy);

  /// out <- Z R^{-1}, R upper triangular p x p, row-major, non-singular; rows of Z independent. out may be Z.
  void (*solve_right)(Size m, Size p, const S* R, const S* Z, Size ldz, S* out, Size ldo);

  /// Y <- Y - shift X - beta Z.
  void (*subtract)(Size m, Size p, S shift, const S* X, Size ldx, S beta, const S* Z, Size ldz, S* Y, Size ldy);

  /// Turns the columns of a column-major strip of rotated_rows() rows: each chain is a first column j and a number of
  /// rotations (c, s), the i-th of which takes columns a = j + i and b = a + 1 to c a + s b and c b - s a.
  void (*rotate)(Size chains, const Size* first_and_count, const S* rotations, S* strip);

  /// The same strip from the right: the chains and their rotations, last ones first, each turned back, so that columns
  /// a and b go to c a - s b and s a + c b. `rotations` ends at the last one.
  void (*rotate_back)(Size chains, const Size* first_and_count, const S* rotations_end, S* strip);

  /// A <- A - v w' - w v', m x m with contiguous rows, and y <- A x, in one pass.
  void (*update_and_multiply)(Size m, S* A, Size lda, const S* v, const S* w, const S* x, S* y);

  /// Rows less a shift of p numbers into the packing of multiply(), and their sums, column by column, added to `sums`.
  void (*pack_shifted)(Size n, Size p, const S* X, Size ldx, const double* shift, double* X_packed, double* sums);

  /// Whether every entry is finite.
  bool (*all_finite)(Size m, Size p, const S* X, Size ldx);

  const char* name;
};

/// The best table this processor can run; the choice is made once.
template <class S>
const Table<S>& table();

}  // namespace hearsay::kernels

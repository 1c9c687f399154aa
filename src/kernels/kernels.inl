// The loops themselves. Included once per instruction set with HEARSAY_KERNEL_NAME set and the matching compiler flags.
// Everything here has internal linkage: a function with AVX-512 in it must never be the one the linker keeps for
// another translation unit, so no header with inline functions of its own may be used below.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/kernels.hpp"

namespace hearsay::kernels {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
constexpr Size rows_at_once = 8;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
constexpr Size rows_at_once = 3;
#else
constexpr int vector_bytes = 16;
constexpr Size rows_at_once = 1;
#endif

template <class S>
struct Simd {
  typedef S Vec __attribute__((vector_size(vector_bytes)));
  static constexpr Size lanes = vector_bytes / static_cast<Size>(sizeof(S));
  static constexpr Size per_tile = 128 / vector_bytes;  // vectors in a tile
};

template <class S>
inline typename Simd<S>::Vec load(const S* from) {
  typename Simd<S>::Vec v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <class S>
inline void store(S* to, typename Simd<S>::Vec v) {
  std::memcpy(to, &v, sizeof v);
}

// MR rows of Y, V vectors of one tile of columns: MR * V accumulators live in registers for the whole sweep over n.
template <class S, Size MR, Size V>
inline void micro(Size n, Size columns, const S* A, Size row_stride, Size column_stride, const S* X, S* Y, Size ldy,
                  bool accumulate) {
  constexpr Size tile = 128 / static_cast<Size>(sizeof(S));
  typename Simd<S>::Vec sum[MR][V] = {};
  for (Size j = 0; j < n; ++j) {
    typename Simd<S>::Vec x[V];
    for (Size v = 0; v < V; ++v) x[v] = load(X + j * tile + v * Simd<S>::lanes);
    for (Size i = 0; i < MR; ++i) {
      const S a = A[i * row_stride + j * column_stride];
      for (Size v = 0; v < V; ++v) sum[i][v] += a * x[v];
    }
  }
  for (Size i = 0; i < MR; ++i) {
    S row[V * Simd<S>::lanes];
    for (Size v = 0; v < V; ++v) store(row + v * Simd<S>::lanes, sum[i][v]);
    S* y = Y + i * ldy;
    if (accumulate) {
      for (Size c = 0; c < columns; ++c) y[c] += row[c];
    } else {
      for (Size c = 0; c < columns; ++c) y[c] = row[c];
    }
  }
}

template <class S, Size V>
void multiply_tile(Size m, Size n, Size columns, const S* A, Size row_stride, Size column_stride, const S* X, S* Y,
                   Size ldy, bool accumulate) {
  Size i = 0;
  for (; i + rows_at_once <= m; i += rows_at_once)
    micro<S, rows_at_once, V>(n, columns, A + i * row_stride, row_stride, column_stride, X, Y + i * ldy, ldy,
                              accumulate);
  for (; i < m; ++i)
    micro<S, 1, V>(n, columns, A + i * row_stride, row_stride, column_stride, X, Y + i * ldy, ldy, accumulate);
}

template <class S, Size V>
void multiply_tile_up_to(Size needed, Size m, Size n, Size columns, const S* A, Size row_stride, Size column_stride,
                         const S* X, S* Y, Size ldy, bool accumulate) {
  if constexpr (V > 1) {
    if (needed < V)
      return multiply_tile_up_to<S, V - 1>(needed, m, n, columns, A, row_stride, column_stride, X, Y, ldy, accumulate);
  }
  multiply_tile<S, V>(m, n, columns, A, row_stride, column_stride, X, Y, ldy, accumulate);
}

template <class S>
void multiply(Size m, Size n, Size p, const S* A, Size row_stride, Size column_stride, const S* X, Size packed_rows,
              S* Y, Size ldy, bool accumulate) {
  constexpr Size tile = 128 / static_cast<Size>(sizeof(S));
  for (Size c = 0; c < p; c += tile) {
    const Size columns = p - c < tile ? p - c : tile;
    const Size needed = (columns + Simd<S>::lanes - 1) / Simd<S>::lanes;
    multiply_tile_up_to<S, Simd<S>::per_tile>(needed, m, n, columns, A, row_stride, column_stride, X + c * packed_rows,
                                              Y + c, ldy, accumulate);
  }
}

template <class S>
void pack(Size n, Size p, const S* X, Size ldx, S* packed) {
  constexpr Size tile = 128 / static_cast<Size>(sizeof(S));
  for (Size c = 0; c < p; c += tile) {
    const Size columns = p - c < tile ? p - c : tile;
    for (Size j = 0; j < n; ++j) {
      S* to = packed + c * n + j * tile;
      for (Size i = 0; i < columns; ++i) to[i] = X[j * ldx + c + i];
      for (Size i = columns; i < tile; ++i) to[i] = S(0);
    }
  }
}

// One row of a CSR product for V vectors of columns starting at X and Y.
template <class S, Size V>
inline void csr_row(std::int64_t first, std::int64_t last, const std::int32_t* columns, const S* values, S scale,
                    const S* column_scale, S shift, const S* X_row, const S* X, Size ldx, S* Y) {
  typename Simd<S>::Vec sum[V] = {};
  for (std::int64_t e = first; e < last; ++e) {
    const Size j = columns[e];
    S a = values ? values[e] : S(1);
    if (column_scale) a *= column_scale[j];
    for (Size v = 0; v < V; ++v) sum[v] += a * load(X + j * ldx + v * Simd<S>::lanes);
  }
  for (Size v = 0; v < V; ++v) store(Y + v * Simd<S>::lanes, scale * sum[v] + shift * load(X_row + v * Simd<S>::lanes));
}

template <class S>
void csr_multiply(Size first, Size last, Size p, const std::int64_t* row_start, const std::int32_t* columns,
                  const S* values, const S* row_scale, const S* column_scale, S shift, const S* X, Size ldx, S* Y,
                  Size ldy) {
  constexpr Size lanes = Simd<S>::lanes;
  for (Size i = first; i < last; ++i) {
    const S scale = row_scale ? row_scale[i] : S(1);
    const S* x_row = X + i * ldx;
    S* y_row = Y + i * ldy;
    Size c = 0;
    for (; c + 4 * lanes <= p; c += 4 * lanes)
      csr_row<S, 4>(row_start[i], row_start[i + 1], columns, values, scale, column_scale, shift, x_row + c, X + c, ldx,
                    y_row + c);
    for (; c + lanes <= p; c += lanes)
      csr_row<S, 1>(row_start[i], row_start[i + 1], columns, values, scale, column_scale, shift, x_row + c, X + c, ldx,
                    y_row + c);
    if (c < p && p >= lanes) {  // the last columns again, as one whole vector ending at p
      c = p - lanes;
      csr_row<S, 1>(row_start[i], row_start[i + 1], columns, values, scale, column_scale, shift, x_row + c, X + c, ldx,
                    y_row + c);
      c = p;
    }
    for (; c < p; ++c) {
      S sum = S(0);
      for (std::int64_t e = row_start[i]; e < row_start[i + 1]; ++e) {
        S a = values ? values[e] : S(1);
        if (column_scale) a *= column_scale[columns[e]];
        sum += a * X[columns[e] * ldx + c];
      }
      y_row[c] = scale * sum + shift * x_row[c];
    }
  }
}

// Forward substitution along each row, sixteen rows side by side so that the lanes of a vector are rows.
template <class S>
void solve_right(Size m, Size p, const S* R, S* Z, Size ldz) {
  constexpr Size strip = 16;
  constexpr Size widest = 64;  // columns the strip buffer holds; wider blocks go row by row
  S buffer[strip * widest];
  const bool buffered = p <= widest;
  for (Size i = 0; i < m; i += strip) {
    const Size rows = m - i < strip ? m - i : strip;
    if (buffered && rows == strip) {
      for (Size r = 0; r < strip; ++r)
        for (Size j = 0; j < p; ++j) buffer[j * strip + r] = Z[(i + r) * ldz + j];
      for (Size j = 0; j < p; ++j) {
        S* z_j = buffer + j * strip;
        for (Size l = 0; l < j; ++l) {
          const S r_lj = R[l * p + j];
          const S* z_l = buffer + l * strip;
          for (Size r = 0; r < strip; ++r) z_j[r] -= r_lj * z_l[r];
        }
        const S pivot = R[j * p + j];
        for (Size r = 0; r < strip; ++r) z_j[r] /= pivot;
      }
      for (Size r = 0; r < strip; ++r)
        for (Size j = 0; j < p; ++j) Z[(i + r) * ldz + j] = buffer[j * strip + r];
    } else {
      for (Size r = 0; r < rows; ++r) {
        S* z = Z + (i + r) * ldz;
        for (Size l = 0; l < p; ++l) {
          z[l] /= R[l * p + l];
          for (Size j = l + 1; j < p; ++j) z[j] -= z[l] * R[l * p + j];
        }
      }
    }
  }
}

template <class S>
void subtract(Size m, Size p, S shift, const S* X, Size ldx, S beta, const S* Z, Size ldz, S* Y, Size ldy) {
  for (Size i = 0; i < m; ++i) {
    const S* x = X + i * ldx;
    const S* z = Z + i * ldz;
    S* y = Y + i * ldy;
    for (Size j = 0; j < p; ++j) y[j] -= shift * x[j] + beta * z[j];
  }
}

template <class S>
constexpr Table<S> make_table() {
  return {multiply<S>, pack<S>, csr_multiply<S>, solve_right<S>, subtract<S>, HEARSAY_KERNEL_NAME};
}

}  // namespace
}  // namespace hearsay::kernels

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
constexpr Size vector_bytes = 64;
constexpr Size registers = 32;
constexpr Size sums_at_once = 16;   // accumulators of a register tile
constexpr Size solved_at_once = 4;  // columns of a triangular solve
#elif defined(__AVX__)
constexpr Size vector_bytes = 32;
constexpr Size registers = 16;
constexpr Size sums_at_once = 12;
constexpr Size solved_at_once = 2;
#else
constexpr Size vector_bytes = 16;
constexpr Size registers = 16;
constexpr Size sums_at_once = 8;
constexpr Size solved_at_once = 2;
#endif

template <class S, Size bytes = vector_bytes>
struct Simd {
  typedef S Vec __attribute__((vector_size(bytes)));
  static constexpr Size lanes = bytes / static_cast<Size>(sizeof(S));
};

template <class S, Size bytes = vector_bytes>
inline typename Simd<S, bytes>::Vec load(const S* from) {
  typename Simd<S, bytes>::Vec v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <class V, class S>
inline void store(S* to, V v) {
  std::memcpy(to, &v, sizeof v);
}

// Stops the compiler from loading a vector again at each of its uses: off a line's boundary a load costs two.
template <class V>
inline void keep_in_register([[maybe_unused]] V& v) {
#if defined(__x86_64__) && defined(__AVX512F__)
  asm("" : "+v"(v));
#elif defined(__x86_64__)
  asm("" : "+x"(v));
#endif
}

inline constexpr Size smaller(Size a, Size b) { return a < b ? a : b; }

// Columns of the narrowest register tile: half a vector, where a whole one has 64 bytes.
template <class S>
constexpr Size least_width() {
  return Simd<S>::lanes / (vector_bytes == 64 ? 2 : 1);
}

constexpr Size half_bytes = vector_bytes / 2;

// The sums of one row to Y: V vectors, and half a vector more if asked; single numbers where Y ends within a vector.
// The sums are the caller's registers, and must stay there.
template <class S, Size V, bool half>
__attribute__((always_inline)) inline void store_sums(Size columns, const typename Simd<S>::Vec (&sum)[V > 0 ? V : 1],
                                                      const typename Simd<S, half_bytes>::Vec& half_sum, S* y,
                                                      bool accumulate) {
  constexpr Size lanes = Simd<S>::lanes, width = V * lanes + (half ? lanes / 2 : 0);
  if (columns == width) {
    for (Size v = 0; v < V; ++v) store(y + v * lanes, accumulate ? load(y + v * lanes) + sum[v] : sum[v]);
    if constexpr (half) store(y + V * lanes, accumulate ? load<S, half_bytes>(y + V * lanes) + half_sum : half_sum);
    return;
  }
  S row[width];
  for (Size v = 0; v < V; ++v) store(row + v * lanes, sum[v]);
  if constexpr (half) store(row + V * lanes, half_sum);
  Size v = 0;
  for (; v < V && (v + 1) * lanes <= columns; ++v)
    store(y + v * lanes, accumulate ? load(y + v * lanes) + sum[v] : sum[v]);
  for (Size c = v * lanes; c < columns; ++c) y[c] = accumulate ? y[c] + row[c] : row[c];
}

// MR rows of Y and, of one tile of columns, V vectors and half a vector more if asked: the accumulators live in
// registers for the whole sweep over n.
template <class S, Size MR, Size V, bool half>
inline void micro(Size n, Size columns, const S* A, Size row_stride, Size column_stride, const S* X, S* Y, Size ldy,
                  bool accumulate) {
  constexpr Size tile = tile_columns<S>(), lanes = Simd<S>::lanes;
  typename Simd<S>::Vec sum[MR][V > 0 ? V : 1] = {};
  typename Simd<S, half_bytes>::Vec half_sum[MR] = {};
  for (Size j = 0; j < n; ++j) {
    typename Simd<S>::Vec x[V > 0 ? V : 1];
    typename Simd<S, half_bytes>::Vec half_x;
    for (Size v = 0; v < V; ++v) x[v] = load(X + j * tile + v * lanes);
    if constexpr (half) half_x = load<S, half_bytes>(X + j * tile + V * lanes);
    for (Size i = 0; i < MR; ++i) {
      const S a = A[i * row_stride + j * column_stride];
      for (Size v = 0; v < V; ++v) sum[i][v] += a * x[v];
      if constexpr (half) half_sum[i] += a * half_x;
    }
  }
  for (Size i = 0; i < MR; ++i) store_sums<S, V, half>(columns, sum[i], half_sum[i], Y + i * ldy, accumulate);
}

// All rows, MR at a time, and the last ones in halves of that.
template <class S, Size MR, Size V, bool half>
void multiply_tile(Size m, Size n, Size columns, const S* A, Size row_stride, Size column_stride, const S* X, S* Y,
                   Size ldy, bool accumulate) {
  Size i = 0;
  for (; i + MR <= m; i += MR)
    micro<S, MR, V, half>(n, columns, A + i * row_stride, row_stride, column_stride, X, Y + i * ldy, ldy, accumulate);
  if constexpr (MR > 1) {
    if (i < m)
      multiply_tile<S, MR / 2, V, half>(m - i, n, columns, A + i * row_stride, row_stride, column_stride, X,
                                        Y + i * ldy, ldy, accumulate);
  }
}

// The narrowest register tile that holds the columns.
template <class S, Size V>
void multiply_columns(Size m, Size n, Size columns, const S* A, Size row_stride, Size column_stride, const S* X, S* Y,
                      Size ldy, bool accumulate) {
  constexpr Size lanes = Simd<S>::lanes, rows = smaller(8, sums_at_once / V);
  if constexpr (V > 1) {
    if (columns <= (V - 1) * lanes)
      return multiply_columns<S, V - 1>(m, n, columns, A, row_stride, column_stride, X, Y, ldy, accumulate);
  }
  if constexpr (least_width<S>() < lanes) {
    if (columns <= V * lanes - lanes / 2)
      return multiply_tile<S, rows, V - 1, true>(m, n, columns, A, row_stride, column_stride, X, Y, ldy, accumulate);
  }
  multiply_tile<S, rows, V, false>(m, n, columns, A, row_stride, column_stride, X, Y, ldy, accumulate);
}

template <class S>
void multiply(Size m, Size n, Size p, const S* A, Size row_stride, Size column_stride, const S* X, Size packed_rows,
              S* Y, Size ldy, bool accumulate) {
  constexpr Size tile = tile_columns<S>();
  for (Size c = 0; c < p; c += tile)
    multiply_columns<S, tile / Simd<S>::lanes>(m, n, smaller(tile, p - c), A, row_stride, column_stride,
                                               X + c * packed_rows, Y + c, ldy, accumulate);
}

// Rows of so many columns, a number known to the compiler, into a tile.
template <class S, Size columns>
void pack_tile(Size wanted, Size n, const S* X, Size ldx, S* packed) {
  constexpr Size tile = tile_columns<S>(), read = round_up(columns, least_width<S>());  // what multiply() will look at
  if constexpr (columns > 1) {
    if (wanted < columns) return pack_tile<S, columns - 1>(wanted, n, X, ldx, packed);
  }
  for (Size j = 0; j < n; ++j) {
    std::memcpy(packed + j * tile, X + j * ldx, columns * sizeof(S));
    if constexpr (columns < read) std::memset(packed + j * tile + columns, 0, (read - columns) * sizeof(S));
  }
}

template <class S>
void pack(Size n, Size p, const S* X, Size ldx, S* packed) {
  constexpr Size tile = tile_columns<S>();
  for (Size c = 0; c < p; c += tile) pack_tile<S, tile>(smaller(tile, p - c), n, X + c, ldx, packed + c * n);
}

template <class S>
constexpr Size narrow_columns() {
  return smaller(6, Simd<S>::lanes - 1);
}

// MR rows of A times P columns of X, all of them contiguous: the lanes of a vector are terms of one sum.
template <class S, Size MR, Size P>
inline void dots(Size n, const S* A, Size lda, const S* X_t, Size ldx, S* Y, Size ldy, bool accumulate) {
  constexpr Size lanes = Simd<S>::lanes;
  typename Simd<S>::Vec sum[MR][P] = {};
  Size j = 0;
  for (; j + lanes <= n; j += lanes) {
    typename Simd<S>::Vec x[P];
    for (Size c = 0; c < P; ++c) x[c] = load(X_t + c * ldx + j);
    for (Size i = 0; i < MR; ++i) {
      auto a = load(A + i * lda + j);
      keep_in_register(a);
      for (Size c = 0; c < P; ++c) sum[i][c] += a * x[c];
    }
  }
  for (Size i = 0; i < MR; ++i)
    for (Size c = 0; c < P; ++c) {
      S total = S(0);
      for (Size l = 0; l < lanes; ++l) total += sum[i][c][l];
      for (Size rest = j; rest < n; ++rest) total += A[i * lda + rest] * X_t[c * ldx + rest];
      Y[i * ldy + c] = accumulate ? Y[i * ldy + c] + total : total;
    }
}

template <class S, Size P>
void multiply_narrow_by(Size p, Size m, Size n, const S* A, Size lda, const S* X_t, Size ldx, S* Y, Size ldy,
                        bool accumulate) {
  constexpr Size rows = 9 * P + 1 <= registers ? 8 : 5 * P + 1 <= registers ? 4 : 2;
  if constexpr (P > 1) {
    if (p < P) return multiply_narrow_by<S, P - 1>(p, m, n, A, lda, X_t, ldx, Y, ldy, accumulate);
  }
  Size i = 0;
  for (; i + rows <= m; i += rows) dots<S, rows, P>(n, A + i * lda, lda, X_t, ldx, Y + i * ldy, ldy, accumulate);
  for (; i < m; ++i) dots<S, 1, P>(n, A + i * lda, lda, X_t, ldx, Y + i * ldy, ldy, accumulate);
}

template <class S>
void multiply_narrow(Size m, Size n, Size p, const S* A, Size lda, const S* X_t, Size ldx, S* Y, Size ldy,
                     bool accumulate) {
  multiply_narrow_by<S, narrow_columns<S>()>(p, m, n, A, lda, X_t, ldx, Y, ldy, accumulate);
}

// Sums that a row of a sparse product adds to in turn, at least: one alone waits for its own last addition.
constexpr Size sums_in_turn = 4;

// One row of a CSR product: V vectors of columns of which the last ends at p, wherever the others leave off. The rows
// of X that later entries need are asked for ahead of time, also beyond the end of this row.
template <class S, Size bytes, Size V>
inline void csr_row(std::int64_t first, std::int64_t last, std::int64_t end, Size p, const std::int32_t* columns,
                    const S* values, S scale, const S* column_scale, S shift, const S* X_row, const S* X, Size ldx,
                    S beta, const S* Z_row, S* Y) {
  constexpr Size lanes = Simd<S, bytes>::lanes;
  constexpr std::int64_t ahead = 32;
  constexpr Size chains = sums_in_turn / V > 0 ? sums_in_turn / V : 1;
  const Size tail = p - lanes;
  typename Simd<S, bytes>::Vec sum[chains][V] = {};
  const auto add = [&](std::int64_t e, typename Simd<S, bytes>::Vec(&to)[V]) __attribute__((always_inline)) {
    const Size j = columns[e];
    S a = values ? values[e] : S(1);
    if (column_scale) a *= column_scale[j];
    const S* x = X + j * ldx;
    for (Size v = 0; v + 1 < V; ++v) to[v] += a * load<S, bytes>(x + v * lanes);
    to[V - 1] += a * load<S, bytes>(x + tail);
  };
  const auto fetch = [&](std::int64_t e) __attribute__((always_inline)) {
    const char* next = reinterpret_cast<const char*>(X + columns[e] * ldx);
    for (Size line = 0; line < V * bytes; line += 64) __builtin_prefetch(next + line);
  };
  std::int64_t e = first;
  for (; e + chains <= last; e += chains) {
    if (e + ahead + chains <= end)
      for (Size c = 0; c < chains; ++c) fetch(e + c + ahead);
    for (Size c = 0; c < chains; ++c) add(e + c, sum[c]);
  }
  for (; e < last; ++e) {
    if (e + ahead < end) fetch(e + ahead);
    add(e, sum[0]);
  }
  for (Size c = 1; c < chains; ++c)
    for (Size v = 0; v < V; ++v) sum[0][v] += sum[c][v];
  for (Size v = 0; v < V; ++v) {
    const Size at = v + 1 < V ? v * lanes : tail;
    auto y = scale * sum[0][v] + shift * load<S, bytes>(X_row + at);
    if (Z_row) y -= beta * load<S, bytes>(Z_row + at);
    store(Y + at, y);
  }
}

// The arguments that all loops over rows share.
template <class S>
struct CsrStep {
  const std::int64_t* row_start;
  const std::int32_t* columns;
  const S *values, *row_scale, *column_scale;
  S shift;
  const S* X;
  Size ldx;
  S beta;
  const S* Z;
  Size ldz;
  S* Y;
  Size ldy;

  S scale(Size row) const { return row_scale ? row_scale[row] : S(1); }
  // Without a shift any row will do: a matrix of more rows than columns has no such row of X.
  const S* X_row(Size row) const { return shift != S(0) ? X + row * ldx : X; }
  const S* Z_row(Size row) const { return Z ? Z + row * ldz : nullptr; }
  CsrStep from_column(Size c) const {
    CsrStep moved = *this;
    moved.X += c;
    moved.Z += Z ? c : 0;
    moved.Y += c;
    return moved;
  }
};

template <class S, Size bytes, Size V>
void csr_rows(Size first, Size last, Size p, const CsrStep<S>& step) {
  if constexpr (V > 1) {
    if (p <= (V - 1) * Simd<S, bytes>::lanes) return csr_rows<S, bytes, V - 1>(first, last, p, step);
  }
  const std::int64_t end = step.row_start[last];
  for (Size i = first; i < last; ++i)
    csr_row<S, bytes, V>(step.row_start[i], step.row_start[i + 1], end, p, step.columns, step.values, step.scale(i),
                         step.column_scale, step.shift, step.X_row(i), step.X, step.ldx, step.beta, step.Z_row(i),
                         step.Y + i * step.ldy);
}

// Fewer columns than a vector holds: narrower vectors, two at most; at last single numbers.
template <class S, Size bytes>
void csr_narrow(Size first, Size last, Size p, const CsrStep<S>& step) {
  if constexpr (bytes > static_cast<Size>(sizeof(S))) {
    if (p < Simd<S, bytes>::lanes)
      csr_narrow<S, bytes / 2>(first, last, p, step);
    else
      csr_rows<S, bytes, 2>(first, last, p, step);
  } else {
    for (Size i = first; i < last; ++i) {
      S sum = S(0);
      for (std::int64_t e = step.row_start[i]; e < step.row_start[i + 1]; ++e) {
        const Size j = step.columns[e];
        S a = step.values ? step.values[e] : S(1);
        if (step.column_scale) a *= step.column_scale[j];
        sum += a * step.X[j * step.ldx];
      }
      S y = step.scale(i) * sum + step.shift * *step.X_row(i);
      if (step.Z) y -= step.beta * step.Z[i * step.ldz];
      step.Y[i * step.ldy] = y;
    }
  }
}

template <class S>
void csr_columns(Size first, Size last, Size p, const CsrStep<S>& step) {
  constexpr Size lanes = Simd<S>::lanes, widest = 8 * lanes;
  for (Size c = 0; c < p; c += widest) {
    // what is left, or where that is less than a vector, the last vector of them again
    const Size from = p - c < lanes && p >= lanes ? p - lanes : c, width = smaller(widest, p - from);
    if (width >= lanes)
      csr_rows<S, vector_bytes, 8>(first, last, width, step.from_column(from));
    else
      csr_narrow<S, vector_bytes / 2>(first, last, width, step.from_column(from));
  }
}

template <class S>
void csr_multiply(Size first, Size last, Size p, const std::int64_t* row_start, const std::int32_t* columns,
                  const S* values, const S* row_scale, const S* column_scale, S shift, const S* X, Size ldx, S beta,
                  const S* Z, Size ldz, S* Y, Size ldy) {
  const CsrStep<S> step{row_start, columns, values, row_scale, column_scale, shift, X, ldx, beta, Z, ldz, Y, ldy};
  if (p <= 8 * Simd<S>::lanes) return csr_columns(first, last, p, step);
  // a row at a time, so that the rows of X are read from end to end
  for (Size i = first; i < last; ++i) csr_columns(i, i + 1, p, step);
}

template <int... index>
struct Indices {};
template <int count, int... index>
struct CountTo : CountTo<count - 1, count - 1, index...> {};
template <int... index>
struct CountTo<0, index...> {
  using List = Indices<index...>;
};

// Exchanges, between rows a and b that lie `step` apart, the blocks off the diagonal.
template <int step, class V, int... k>
inline void exchange(V& a, V& b, Indices<k...>) {
  constexpr int lanes = sizeof...(k);
  const V first = __builtin_shufflevector(a, b, ((k & step) != 0 ? lanes + k - step : k)...);
  const V second = __builtin_shufflevector(a, b, ((k & step) != 0 ? lanes + k : k + step)...);
  a = first;
  b = second;
}

// A square of numbers in registers, transposed.
template <class S, int step = 1>
inline void transpose(typename Simd<S>::Vec (&rows)[Simd<S>::lanes]) {
  constexpr int lanes = Simd<S>::lanes;
  if constexpr (step < lanes) {
    for (int i = 0; i < lanes; ++i)
      if ((i & step) == 0) exchange<step>(rows[i], rows[i + step], typename CountTo<lanes>::List());
    transpose<S, 2 * step>(rows);
  }
}

// rows x columns numbers from one place, transposed, to another.
template <class S>
inline void copy_transposed(Size rows, Size columns, const S* from, Size from_stride, S* to, Size to_stride) {
  constexpr Size lanes = Simd<S>::lanes;
  if (rows < lanes || columns < lanes) {
    for (Size r = 0; r < rows; ++r)
      for (Size c = 0; c < columns; ++c) to[c * to_stride + r] = from[r * from_stride + c];
    return;
  }
  for (Size r = 0; r < rows; r += lanes) {
    if (r + lanes > rows) r = rows - lanes;  // the last ones again, as a whole square
    for (Size c = 0; c < columns; c += lanes) {
      if (c + lanes > columns) c = columns - lanes;
      typename Simd<S>::Vec square[lanes];
      for (Size i = 0; i < lanes; ++i) square[i] = load(from + (r + i) * from_stride + c);
      transpose<S>(square);
      for (Size i = 0; i < lanes; ++i) store(to + (c + i) * to_stride + r, square[i]);
    }
  }
}

// Columns j to j + C of a strip that lies transposed in `strip`: divided by R, given the columns before them.
template <class S, Size C>
inline void solve_columns(Size j, Size p, const S* R, const S* inverse_pivots, S* strip) {
  constexpr Size lanes = Simd<S>::lanes, vectors = 4, rows = vectors * lanes;
  typename Simd<S>::Vec z[C][vectors];
  for (Size c = 0; c < C; ++c)
    for (Size v = 0; v < vectors; ++v) z[c][v] = load(strip + (j + c) * rows + v * lanes);
  for (Size l = 0; l < j; ++l) {
    typename Simd<S>::Vec z_l[vectors];
    for (Size v = 0; v < vectors; ++v) z_l[v] = load(strip + l * rows + v * lanes);
    for (Size c = 0; c < C; ++c)
      for (Size v = 0; v < vectors; ++v) z[c][v] -= R[l * p + j + c] * z_l[v];
  }
  for (Size c = 0; c < C; ++c) {
    for (Size v = 0; v < vectors; ++v) z[c][v] *= inverse_pivots[j + c];
    for (Size later = c + 1; later < C; ++later)
      for (Size v = 0; v < vectors; ++v) z[later][v] -= R[(j + c) * p + j + later] * z[c][v];
    for (Size v = 0; v < vectors; ++v) store(strip + (j + c) * rows + v * lanes, z[c][v]);
  }
}

template <class S>
inline void fetch_ahead(const S* from, Size count) {
  for (Size line = 0; line < count; line += 64 / static_cast<Size>(sizeof(S))) __builtin_prefetch(from + line);
}

// Forward substitution along each row, many rows side by side: the lanes of a vector are rows.
template <class S>
void solve_right(Size m, Size p, const S* R, const S* Z, Size ldz, S* out, Size ldo) {
  constexpr Size strip_rows = 4 * Simd<S>::lanes;
  constexpr Size widest = 128;  // columns the strip holds; wider blocks go row by row
  if (p > widest) {
    for (Size i = 0; i < m; ++i) {
      S* z = out + i * ldo;
      if (out != Z) std::memcpy(z, Z + i * ldz, static_cast<std::size_t>(p) * sizeof(S));
      for (Size l = 0; l < p; ++l) {
        z[l] /= R[l * p + l];
        for (Size j = l + 1; j < p; ++j) z[j] -= z[l] * R[l * p + j];
      }
    }
    return;
  }
  S strip[strip_rows * widest], inverse_pivots[widest];
  for (Size j = 0; j < p; ++j) inverse_pivots[j] = S(1) / R[j * p + j];
  for (Size i = 0; i < m; i += strip_rows) {
    const Size rows = smaller(strip_rows, m - i);
    if (rows < strip_rows) std::memset(strip, 0, sizeof strip);
    copy_transposed(rows, p, Z + i * ldz, ldz, strip, strip_rows);
    Size j = 0;
    for (; j + solved_at_once <= p; j += solved_at_once) {
      if (i + 2 * strip_rows <= m)  // a share of the next strip
        fetch_ahead(Z + (i + strip_rows) * ldz + j * strip_rows, solved_at_once * strip_rows);
      solve_columns<S, solved_at_once>(j, p, R, inverse_pivots, strip);
    }
    for (; j < p; ++j) solve_columns<S, 1>(j, p, R, inverse_pivots, strip);
    copy_transposed(p, rows, strip, strip_rows, out + i * ldo, ldo);
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

// A column that two rotations share stays in registers between them.
template <class S>
void rotate(Size chains, const Size* first_and_count, const S* rotations, S* strip) {
  constexpr Size lanes = Simd<S>::lanes, rows = rotated_rows<S>(), vectors = rows / lanes;
  for (Size chain = 0; chain < chains; ++chain) {
    S* column = strip + first_and_count[2 * chain] * rows;
    typename Simd<S>::Vec carried[vectors];
    for (Size v = 0; v < vectors; ++v) carried[v] = load(column + v * lanes);
    for (Size i = 0; i < first_and_count[2 * chain + 1]; ++i, rotations += 2, column += rows) {
      const S c = rotations[0], s = rotations[1];
      for (Size v = 0; v < vectors; ++v) {
        const auto next = load(column + rows + v * lanes);
        store(column + v * lanes, c * carried[v] + s * next);
        carried[v] = c * next - s * carried[v];
      }
    }
    for (Size v = 0; v < vectors; ++v) store(column + v * lanes, carried[v]);
  }
}

// The inverse of rotate() applied to columns that are now unit vectors and their like: a column that two rotations
// share stays in registers here too.
template <class S>
void rotate_back(Size chains, const Size* first_and_count, const S* rotations_end, S* strip) {
  constexpr Size lanes = Simd<S>::lanes, rows = rotated_rows<S>(), vectors = rows / lanes;
  for (Size chain = chains; chain-- > 0;) {
    const Size count = first_and_count[2 * chain + 1];
    S* column = strip + (first_and_count[2 * chain] + count) * rows;
    typename Simd<S>::Vec carried[vectors];
    for (Size v = 0; v < vectors; ++v) carried[v] = load(column + v * lanes);
    for (Size i = 0; i < count; ++i, column -= rows) {
      rotations_end -= 2;
      const S c = rotations_end[0], s = rotations_end[1];
      for (Size v = 0; v < vectors; ++v) {
        const auto before = load(column - rows + v * lanes);
        store(column + v * lanes, s * before + c * carried[v]);
        carried[v] = c * before - s * carried[v];
      }
    }
    for (Size v = 0; v < vectors; ++v) store(column + v * lanes, carried[v]);
  }
}

// MR rows at a time share what is loaded of v, w and x.
template <class S, Size MR>
inline void update_rows(Size m, S* A, Size lda, Size i, const S* v, const S* w, const S* x, S* y) {
  constexpr Size lanes = Simd<S>::lanes;
  typename Simd<S>::Vec sum[MR] = {};
  S v_i[MR], w_i[MR], rest[MR] = {};
  for (Size r = 0; r < MR; ++r) v_i[r] = v[i + r], w_i[r] = w[i + r];
  Size j = 0;
  for (; j + lanes <= m; j += lanes) {
    const auto v_j = load(v + j), w_j = load(w + j), x_j = load(x + j);
    for (Size r = 0; r < MR; ++r) {
      S* a = A + (i + r) * lda + j;
      const auto updated = load(a) - v_i[r] * w_j - w_i[r] * v_j;
      store(a, updated);
      sum[r] += updated * x_j;
    }
  }
  for (; j < m; ++j)
    for (Size r = 0; r < MR; ++r) {
      S& a = A[(i + r) * lda + j];
      a = a - v_i[r] * w[j] - w_i[r] * v[j];
      rest[r] += a * x[j];
    }
  for (Size r = 0; r < MR; ++r) {
    for (Size l = 0; l < lanes; ++l) rest[r] += sum[r][l];
    y[i + r] = rest[r];
  }
}

template <class S>
void update_and_multiply(Size m, S* A, Size lda, const S* v, const S* w, const S* x, S* y) {
  constexpr Size rows = 4;
  Size i = 0;
  for (; i + rows <= m; i += rows) update_rows<S, rows>(m, A, lda, i, v, w, x, y);
  for (; i < m; ++i) update_rows<S, 1>(m, A, lda, i, v, w, x, y);
}

template <class S>
struct Widened {
  typedef S Vec __attribute__((vector_size(vector_bytes / sizeof(double) * sizeof(S))));
};

// Row by row, so that the rows of X are read from end to end; zero in the columns that fill up the last half vector.
template <class S>
void pack_shifted(Size n, Size p, const S* X, Size ldx, const double* shift, double* packed, double* sums) {
  constexpr Size tile = tile_columns<double>(), lanes = Simd<double>::lanes;
  const Size whole = p / lanes * lanes, padded = round_up(p, least_width<double>());
  for (Size i = 0; i < n; ++i) {
    const S* x = X + i * ldx;
    for (Size j = 0; j < whole; j += lanes) {
      typename Widened<S>::Vec stored;
      std::memcpy(&stored, x + j, sizeof stored);
      const auto less = __builtin_convertvector(stored, typename Simd<double>::Vec) - load(shift + j);
      store(packed + j / tile * tile * n + i * tile + j % tile, less);
      store(sums + j, load(sums + j) + less);
    }
    for (Size j = whole; j < padded; ++j) {
      const double less = j < p ? static_cast<double>(x[j]) - shift[j] : 0.0;
      packed[j / tile * tile * n + i * tile + j % tile] = less;
      if (j < p) sums[j] += less;
    }
  }
}

// Zero times a number is zero unless the number is not finite, and a sum that is once NaN stays so.
template <class S>
bool all_finite(Size m, Size p, const S* X, Size ldx) {
  constexpr Size lanes = Simd<S>::lanes;
  if (ldx == p) {
    p *= m;
    m = 1;
  }
  typename Simd<S>::Vec sum[4] = {};
  S rest = S(0);
  for (Size i = 0; i < m; ++i) {
    const S* x = X + i * ldx;
    Size j = 0;
    for (; j + 4 * lanes <= p; j += 4 * lanes)
      for (Size v = 0; v < 4; ++v) sum[v] += S(0) * load(x + j + v * lanes);
    for (; j < p; ++j) rest += S(0) * x[j];
  }
  const auto total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  for (Size l = 0; l < lanes; ++l) rest += total[l];
  return rest == S(0);
}

template <class S>
constexpr Table<S> make_table() {
  return {multiply<S>,     pack<S>,       multiply_narrow<S>, narrow_columns<S>(), csr_multiply<S>,
          solve_right<S>,  subtract<S>,   rotate<S>,          rotate_back<S>,      update_and_multiply<S>,
          pack_shifted<S>, all_finite<S>, HEARSAY_KERNEL_NAME};
}

}  // namespace
}  // namespace hearsay::kernels

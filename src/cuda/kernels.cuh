// The small steps of an engine's verbs: blocks are row-major, rows x p, and rows beyond the matrix are zero. Sums over
// rows go through partial sums, whose number depends on the device alone.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

namespace hearsay::cuda {

__host__ __device__ inline uint64_t mixed(uint64_t z) {
  z += 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}
/// Uniform in (0, 1), from the seed and a place.
__device__ inline double uniform_at(uint64_t seed, uint64_t place) {
  return (static_cast<double>(mixed(mixed(seed) + place) >> 11) + 0.5) * 0x1p-53;
}

template <class T>
__global__ void fill_normal_kernel(T* X, long d, int p, uint64_t seed) {  // rows beyond d are left
  for (long e = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; e < d * p;
       e += gridDim.x * static_cast<long>(blockDim.x)) {
    double s, c;
    sincospi(2 * uniform_at(seed, 2 * e), &s, &c);
    X[e] = static_cast<T>(sqrt(-2 * log(uniform_at(seed, 2 * e + 1))) * c);
  }
}

template <class T>
__global__ void fill_kernel(T* to, long numbers, T value) {
  for (long e = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; e < numbers;
       e += gridDim.x * static_cast<long>(blockDim.x))
    to[e] = value;
}

template <class S, class T>
__global__ void convert_kernel(const S* from, T* to, long numbers) {
  for (long e = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; e < numbers;
       e += gridDim.x * static_cast<long>(blockDim.x))
    to[e] = static_cast<T>(from[e]);
}

/// Y <- scale (Y - shift X) - beta Z
template <class T>
__global__ void combine_kernel(T* __restrict__ Y, T scale, T shift, const T* __restrict__ X, T beta,
                               const T* __restrict__ Z, long numbers) {
  for (long e = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; e < numbers;
       e += gridDim.x * static_cast<long>(blockDim.x)) {
    T y = scale * (Y[e] - shift * X[e]);
    if (beta != T(0)) y -= beta * Z[e];
    Y[e] = y;
  }
}

// ---- H = X'Y in double, 64 x 64 of it at a time

inline constexpr int gram_tile = 64, gram_rows = 32;

template <class T>
struct alignas(16) Four {
  T v[4];
};

/// Some columns of some rows to shared memory; what lies outside is zero.
template <class T>
__device__ __forceinline__ void load_tile(const T* __restrict__ X, long top, long rows, int p, int first,
                                          T (&to)[gram_rows][gram_tile + 4]) {
  for (int e = threadIdx.x; e < gram_rows * gram_tile / 4; e += 256) {
    const int r = e / (gram_tile / 4), c = e % (gram_tile / 4) * 4;
    const T* from = X + (top + r) * p + first + c;
    Four<T> v = {};
    if (top + r < rows && p % 4 == 0 && first + c < p) {
      v = *reinterpret_cast<const Four<T>*>(from);
    } else if (top + r < rows) {
      for (int q = 0; q < 4; ++q)
        if (first + c + q < p) v.v[q] = from[q];
    }
    *reinterpret_cast<Four<T>*>(&to[r][c]) = v;
  }
}

/// partial[b][i][j], row-major within a tile; grid: x partial sums, y and z tiles of columns.
template <class T>
__global__ __launch_bounds__(256) void gram_kernel(const T* __restrict__ X, const T* __restrict__ Y, long rows, int p,
                                                   double* __restrict__ partial) {
  __shared__ __align__(16) T x[gram_rows][gram_tile + 4];
  __shared__ __align__(16) T y[gram_rows][gram_tile + 4];
  const int first_i = blockIdx.y * gram_tile, first_j = blockIdx.z * gram_tile;
  const int i = threadIdx.x / 16 * 4, j = threadIdx.x % 16 * 4;
  double sums[4][4] = {};
  for (long top = static_cast<long>(blockIdx.x) * gram_rows; top < rows;
       top += static_cast<long>(gridDim.x) * gram_rows) {
    load_tile(X, top, rows, p, first_i, x);
    load_tile(Y, top, rows, p, first_j, y);
    __syncthreads();
    T part[4][4] = {};
#pragma unroll 4
    for (int r = 0; r < gram_rows; ++r) {
      const Four<T> of_x = *reinterpret_cast<const Four<T>*>(&x[r][i]),
                    of_y = *reinterpret_cast<const Four<T>*>(&y[r][j]);
#pragma unroll
      for (int a = 0; a < 4; ++a)
#pragma unroll
        for (int b = 0; b < 4; ++b) part[a][b] += of_x.v[a] * of_y.v[b];
    }
#pragma unroll
    for (int a = 0; a < 4; ++a)
#pragma unroll
      for (int b = 0; b < 4; ++b) sums[a][b] += part[a][b];
    __syncthreads();
  }
  double* out = partial + (static_cast<size_t>(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) *
                              gram_tile * gram_tile;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) out[(i + a) * gram_tile + j + b] = sums[a][b];
}
/// H column-major, p x p. A block of threads: 32 numbers, each by eight threads; grid as the tiles of the kernel
/// before.
static __global__ __launch_bounds__(256) void add_partial_grams(const double* __restrict__ partial, int parts, int p,
                                                                double* __restrict__ H) {
  __shared__ double s[8][32];
  const int tile_i = blockIdx.y, tile_j = blockIdx.z, slice = threadIdx.x / 32, e = blockIdx.x * 32 + threadIdx.x % 32;
  const int i = tile_i * gram_tile + e / gram_tile, j = tile_j * gram_tile + e % gram_tile;
  const double* from = partial + static_cast<size_t>(tile_j * gridDim.y + tile_i) * parts * gram_tile * gram_tile + e;
  double sum = 0;
#pragma unroll 8
  for (int b = slice; b < parts; b += 8) sum += from[static_cast<size_t>(b) * gram_tile * gram_tile];
  s[slice][threadIdx.x % 32] = sum;
  __syncthreads();
  if (slice > 0 || i >= p || j >= p) return;
  for (int q = 1; q < 8; ++q) sum += s[q][threadIdx.x];
  H[static_cast<size_t>(j) * p + i] = sum;
}

// ---- S = R^-1 of G = R'R, by one block of threads; dropping_inverse() of the host in other words

/// In place: what column c <= j holds after step j is row i of L^-1, what c > j holds is left of G. A warp has rows of
/// its own.
static __global__ __launch_bounds__(512) void dropping_inverse_kernel(const double* G, int p, double least, double* S) {
  extern __shared__ double a[];  // p x (p + 1), then p pivots
  double* pivot = a + static_cast<size_t>(p) * (p + 1);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, ld = p + 1;
  for (int e = threadIdx.x; e < p * p; e += blockDim.x) a[(e / p) * ld + e % p] = G[e];
  for (int i = threadIdx.x; i < p; i += blockDim.x) pivot[i] = G[static_cast<size_t>(i) * p + i];
  __syncthreads();
  for (int j = 0; j < p; ++j) {
    const double D = a[j * ld + j];
    const bool dropped = !(D > least * least * pivot[j]);
    const double inverse = dropped ? 0 : 1 / D;
    for (int i = warp; i < p; i += 16) {
      if (i <= j) continue;
      const double f = a[i * ld + j] * inverse;
      __syncwarp();
      for (int c = lane; c < p; c += 32) {
        if (c == j)
          a[i * ld + c] = -f;
        else
          a[i * ld + c] -= f * a[j * ld + c];
      }
      __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x == 0) pivot[j] = dropped ? 0 : rsqrt(D);
  }
  __syncthreads();
  for (int e = threadIdx.x; e < p * p; e += blockDim.x) {  // S(r, c) = L^-1(c, r) / sqrt(D_c), column-major
    const int c = e / p, r = e % p;
    S[e] = r > c || pivot[r] == 0 ? 0 : (r == c ? 1 : a[c * ld + r]) * pivot[c];
  }
}

// ---- Norms of columns

/// partial[b][c] of sums over rows of f(row, c)^2: of Y - X diag(theta), or of X alone.
template <class T>
__global__ void column_squares(const T* __restrict__ X, const T* __restrict__ Y, const double* __restrict__ theta,
                               long rows, int p, double* __restrict__ partial) {
  extern __shared__ double s[];
  const int c = threadIdx.x % p, lanes = blockDim.x / p, r0 = threadIdx.x / p;
  double sum = 0;
  if (r0 < lanes)
    for (long r = static_cast<long>(blockIdx.x) * lanes + r0; r < rows; r += static_cast<long>(gridDim.x) * lanes) {
      const double x = X[r * p + c], v = Y == nullptr ? x : static_cast<double>(Y[r * p + c]) - theta[c] * x;
      sum += v * v;
    }
  s[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x < p) {
    for (int q = 1; q < lanes; ++q) sum += s[q * p + c];
    partial[static_cast<size_t>(blockIdx.x) * p + c] = sum;
  }
}
static __global__ void add_partial_squares(const double* __restrict__ partial, int parts, int p,
                                           double* __restrict__ squares, float* __restrict__ scale, int exponent) {
  const int c = blockIdx.x, lane = threadIdx.x;
  double sum = 0;
  for (int b = lane; b < parts; b += 32) sum += partial[static_cast<size_t>(b) * p + c];
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (lane) return;
  if (squares != nullptr) squares[c] = sum;
  // a power of two that brings the norm to 2^exponent
  if (scale != nullptr)
    scale[c] = sum > 0 ? static_cast<float>(exp2(fmin(120., fmax(-120., exponent - rint(0.5 * log2(sum)))))) : 1.f;
}

template <class T>
__global__ void to_half_kernel(const T* __restrict__ from, const float* __restrict__ scale, long numbers, int p,
                               __half* __restrict__ to) {
  for (long e = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; e < numbers;
       e += gridDim.x * static_cast<long>(blockDim.x))
    to[e] = __float2half_rn(static_cast<float>(from[e] * static_cast<T>(scale[e % p])));
}
/// to <- from of_matrix / scale(column)
template <class T>
__global__ void unscale_kernel(const float* __restrict__ from, const float* __restrict__ scale, float of_matrix,
                               long numbers, int p, T* __restrict__ to) {
  for (long e = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; e < numbers;
       e += gridDim.x * static_cast<long>(blockDim.x))
    to[e] = static_cast<T>(from[e]) / static_cast<T>(scale[e % p]) * static_cast<T>(of_matrix);
}

// ---- How far a product is off, on some of its rows

/// The squared norm of each row of Y, a warp a row, and partial sums of them, one a block of 256 threads.
template <class T>
__global__ __launch_bounds__(256) void row_squares(const T* __restrict__ Y, long rows, int p,
                                                   double* __restrict__ squares, double* __restrict__ partial) {
  __shared__ double of_warps[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  double sum = 0;
  for (long r = blockIdx.x * 8l + warp; r < rows; r += gridDim.x * 8l) {
    double s = 0;
    for (int c = lane; c < p; c += 32) s += static_cast<double>(Y[r * p + c]) * static_cast<double>(Y[r * p + c]);
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (lane == 0) squares[r] = s;
    sum += s;
  }
  if (lane == 0) of_warps[warp] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < 8; ++w) sum += of_warps[w];
  partial[blockIdx.x] = sum;
}
/// One warp.
static __global__ void add_partial_sums(const double* __restrict__ partial, int parts, double* __restrict__ sum) {
  double s = 0;
  for (int b = threadIdx.x; b < parts; b += 32) s += partial[b];
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x == 0) *sum = s;
}
/// Every row is taken with a probability that grows with its weight, and counts for as much the more. `count` is zero
/// before.
static __global__ void draw_rows(const double* __restrict__ squares, const double* __restrict__ sum, long rows,
                                 int wished, int room, uint64_t seed, int* __restrict__ count, long* __restrict__ drawn,
                                 double* __restrict__ weight) {
  const long r = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (r >= rows) return;
  const double share = *sum > 0 ? squares[r] / *sum : 0;
  const double chance = wished >= rows ? 1 : wished * (0.5 / static_cast<double>(rows) + 0.5 * share);
  if (!(uniform_at(seed, r) < chance)) return;
  const int at = atomicAdd(count, 1);
  if (at < room) drawn[at] = r, weight[at] = 1 / fmin(1., chance);
}
/// rows of A, by their numbers, in double; places that were not drawn are zero.
template <class T>
__global__ void gather_rows(const T* __restrict__ A, long lda, long columns, const long* __restrict__ drawn,
                            const int* __restrict__ count, double* __restrict__ to) {
  const int at = blockIdx.x;
  const bool there = at < *count;
  const long r = there ? drawn[at] : 0;
  for (long c = threadIdx.x; c < columns; c += blockDim.x)
    to[at * columns + c] = there ? static_cast<double>(A[r * lda + c]) : 0.;
}
/// Parts of sums, one after the other, to their sums.
template <class T>
__global__ void add_cuts(const T* __restrict__ parts, int cuts, long numbers, T* __restrict__ to) {
  for (long e = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; e < numbers;
       e += gridDim.x * static_cast<long>(blockDim.x)) {
    double sum = 0;
    for (int c = 0; c < cuts; ++c) sum += parts[c * numbers + e];
    to[e] = static_cast<T>(sum);
  }
}
/// E <- w^1/2 (Y - exact) of the rows drawn, and Xw <- w^1/2 X of them.
template <class T>
__global__ void weigh_errors(const T* __restrict__ X, const T* __restrict__ Y, const double* __restrict__ exact,
                             const long* __restrict__ drawn, const double* __restrict__ weight,
                             const int* __restrict__ count, int p, double* __restrict__ E, double* __restrict__ Xw) {
  const int at = blockIdx.x, c = threadIdx.x;
  if (c >= p) return;
  const size_t e = static_cast<size_t>(at) * p + c;
  E[e] = Xw[e] = 0;
  if (at >= *count) return;
  const size_t from = static_cast<size_t>(drawn[at]) * p + c;
  const double w = sqrt(weight[at]);
  E[e] = w * (static_cast<double>(Y[from]) - exact[e]);
  Xw[e] = w * static_cast<double>(X[from]);
}

// ---- Dense matrices

template <class T>
__global__ void largest_magnitude(const T* __restrict__ A, long rows, long step,
                                  unsigned* __restrict__ bits) {  // step: rows x step numbers
  float m = 0;
  const long numbers = rows * step;
  for (long e = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; e < numbers;
       e += gridDim.x * static_cast<long>(blockDim.x))
    m = fmaxf(m, fabsf(static_cast<float>(A[e])));
  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  if (threadIdx.x % 32 == 0) atomicMax(bits, __float_as_uint(m));
}
template <class T>
__global__ void largest_of_diagonal(const T* __restrict__ A, long d, long lda, unsigned* __restrict__ bits) {
  float m = 0;
  for (long i = threadIdx.x; i < d; i += blockDim.x) m = fmaxf(m, fabsf(static_cast<float>(A[i * (lda + 1)])));
  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  if (threadIdx.x % 32 == 0) atomicMax(bits, __float_as_uint(m));
}
/// d x d of a matrix with rows of lda, to rows of d: rounded to fp16 after scaling.
template <class T>
__global__ void scale_to_half(const T* __restrict__ A, long lda, long rows, long columns, float scale,
                              __half* __restrict__ to) {
  for (long e = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; e < rows * columns;
       e += gridDim.x * static_cast<long>(blockDim.x))
    to[e] = __float2half_rn(static_cast<float>(A[e / columns * lda + e % columns] * static_cast<T>(scale)));
}

// ---- Tall data

/// Partial sums of columns; one thread a column.
template <class T>
__global__ void column_sums(const T* __restrict__ M, long rows, long columns, double* __restrict__ partial) {
  const long c = blockIdx.y * static_cast<long>(blockDim.x) + threadIdx.x;
  if (c >= columns) return;
  double sum = 0;
  for (long r = blockIdx.x; r < rows; r += gridDim.x) sum += static_cast<double>(M[r * columns + c]);
  partial[blockIdx.x * columns + c] = sum;
}
static __global__ void mean_of(const double* __restrict__ partial, int parts, long rows, long columns,
                               double* __restrict__ mean) {
  const long c = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (c >= columns) return;
  double sum = 0;
  for (int b = 0; b < parts; ++b) sum += partial[b * columns + c];
  mean[c] = sum / static_cast<double>(rows);
}
// each(place, number less its mean); threads lie as lanes() in tall.cu has them.
template <class T, class Each>
__device__ __forceinline__ void for_centred(const T* __restrict__ M, const double* __restrict__ mean, long rows,
                                            long columns, const Each& each) {
  for (long r = blockIdx.x * static_cast<long>(blockDim.y) + threadIdx.y; r < rows;
       r += gridDim.x * static_cast<long>(blockDim.y))
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
      each(r * columns + c, static_cast<double>(M[r * columns + c]) - mean[c]);
}
/// Of that the largest magnitude, and partial sums of squares, one a block of 256 threads.
template <class T>
__global__ __launch_bounds__(256) void size_of_centred(const T* __restrict__ M, const double* __restrict__ mean,
                                                       long rows, long columns, unsigned* __restrict__ bits,
                                                       double* __restrict__ squares) {
  __shared__ double of_warps[8];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  float m = 0;
  double sum = 0;
  for_centred(M, mean, rows, columns, [&](long, double x) {
    m = fmaxf(m, fabsf(static_cast<float>(x)));
    sum += x * x;
  });
  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o)), sum += __shfl_xor_sync(~0u, sum, o);
  if (thread % 32 == 0) atomicMax(bits, __float_as_uint(m)), of_warps[thread / 32] = sum;
  __syncthreads();
  if (thread > 0) return;
  for (int w = 1; w < 8; ++w) sum += of_warps[w];
  squares[blockIdx.x] = sum;
}
template <class T>
__global__ void centred_to_half(const T* __restrict__ M, const double* __restrict__ mean, long rows, long columns,
                                float scale, __half* __restrict__ to) {
  for_centred(M, mean, rows, columns,
              [&](long e, double x) { to[e] = __float2half_rn(static_cast<float>(x) * scale); });
}
template <class T>
__global__ void centred_to_double(const T* __restrict__ M, const double* __restrict__ mean, long rows, long columns,
                                  double* __restrict__ to) {
  for_centred(M, mean, rows, columns, [&](long e, double x) { to[e] = x; });
}
/// Columns of M less its mean, by their numbers; those that were not drawn are zero.
template <class T>
__global__ void gather_columns(const T* __restrict__ M, const double* __restrict__ mean, long rows, long columns,
                               const long* __restrict__ drawn, const int* __restrict__ count, int room,
                               double* __restrict__ to) {
  for (long r = blockIdx.x * static_cast<long>(blockDim.y) + threadIdx.y; r < rows;
       r += gridDim.x * static_cast<long>(blockDim.y))
    for (int at = threadIdx.x; at < room; at += blockDim.x)
      to[r * room + at] = at < *count ? static_cast<double>(M[r * columns + drawn[at]]) - mean[drawn[at]] : 0.;
}
template <class T>
__global__ void scaled_to(const double* __restrict__ from, double scale, long numbers, T* __restrict__ to) {
  for (long e = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; e < numbers;
       e += gridDim.x * static_cast<long>(blockDim.x))
    to[e] = static_cast<T>(from[e] * scale);
}

// ---- Sparse matrices: P lanes a part of a row, of `part` entries at most, eight numbers of X in flight

struct RowPart {
  int row, first;
};
inline constexpr int row_part = 256;

template <class X, class V, class Y, int L>
__global__ __launch_bounds__(256) void gather_product(const long* __restrict__ start, const int* __restrict__ column,
                                                      const V* __restrict__ value, const RowPart* __restrict__ parts,
                                                      long number, int p, int first, const X* __restrict__ from,
                                                      Y* __restrict__ to) {
  const long w = (blockIdx.x * 256l + threadIdx.x) / L;
  const int c = first + threadIdx.x % L;
  if (w >= number || c >= p) return;
  const RowPart part = parts[w];
  const long all = start[part.row + 1], begin = start[part.row] + part.first, end = min(all, begin + row_part);
  Y sum = 0;
  for (long b = begin; b < end; b += 8) {
    int j[8];
    V v[8];
    X x[8];
#pragma unroll
    for (int u = 0; u < 8; ++u)
      j[u] = b + u < end ? __ldg(column + b + u) : -1, v[u] = j[u] >= 0 ? __ldg(value + b + u) : V(0);
#pragma unroll
    for (int u = 0; u < 8; ++u) x[u] = j[u] >= 0 ? from[static_cast<size_t>(j[u]) * p + c] : X(0.f);
#pragma unroll
    for (int u = 0; u < 8; ++u) sum += static_cast<Y>(v[u]) * static_cast<Y>(x[u]);
  }
  Y* out = to + static_cast<size_t>(part.row) * p + c;
  if (all - start[part.row] <= row_part)
    *out = sum;
  else
    atomicAdd(out, sum);
}
/// A block of threads a row.
template <class Y>
__global__ void clear_rows(const long* __restrict__ rows, int p, Y* __restrict__ to) {
  for (int c = threadIdx.x; c < p; c += blockDim.x) to[rows[blockIdx.x] * p + c] = 0;
}
/// The same of X in fp16, eight columns a lane, sixteen bytes at once; L lanes a part of a row. to <- sums of_matrix /
/// scale(column).
template <class V, class Y, int L>
__global__ __launch_bounds__(256) void gather_half(const long* __restrict__ start, const int* __restrict__ column,
                                                   const V* __restrict__ value, const RowPart* __restrict__ parts,
                                                   long number, const __half* __restrict__ from,
                                                   const float* __restrict__ scale, Y* __restrict__ to) {
  constexpr int p = 8 * L, ahead = 4;
  const long w = (blockIdx.x * 256l + threadIdx.x) / L;
  const int lane = threadIdx.x % L;
  if (w >= number) return;
  const RowPart part = parts[w];
  const long all = start[part.row + 1], begin = start[part.row] + part.first, end = min(all, begin + row_part);
  float sum[8] = {};
  for (long b = begin; b < end; b += ahead) {
    uint4 x[ahead];
    float v[ahead];
#pragma unroll
    for (int u = 0; u < ahead; ++u) {
      const bool there = b + u < end;
      v[u] = there ? static_cast<float>(__ldg(value + b + u)) : 0.f;
      const long j = there ? __ldg(column + b + u) : 0;
      x[u] = there ? __ldg(reinterpret_cast<const uint4*>(from + j * p) + lane) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int u = 0; u < ahead; ++u) {
      const __half2* pair = reinterpret_cast<const __half2*>(&x[u]);
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const float2 two = __half22float2(pair[q]);
        sum[2 * q] += v[u] * two.x;
        sum[2 * q + 1] += v[u] * two.y;
      }
    }
  }
  Y* out = to + static_cast<size_t>(part.row) * p + 8 * lane;
  const bool whole = all - start[part.row] <= row_part;
#pragma unroll
  for (int q = 0; q < 8; ++q) {
    const Y made = static_cast<Y>(sum[q]) / static_cast<Y>(scale[8 * lane + q]);
    if (whole)
      out[q] = made;
    else
      atomicAdd(out + q, made);
  }
}
/// The rows drawn, in double; one warp a row.
template <class X, class V>
__global__ void gather_drawn(const long* __restrict__ start, const int* __restrict__ column,
                             const V* __restrict__ value, const long* __restrict__ drawn, const int* __restrict__ count,
                             int p, const X* __restrict__ from, double* __restrict__ exact) {
  const int at = blockIdx.x;
  for (int c = threadIdx.x; c < p; c += blockDim.x) {
    double sum = 0;
    if (at < *count)
      for (long e = start[drawn[at]]; e < start[drawn[at] + 1]; ++e)
        sum += static_cast<double>(value[e]) * static_cast<double>(from[static_cast<size_t>(column[e]) * p + c]);
    exact[static_cast<size_t>(at) * p + c] = sum;
  }
}

}  // namespace hearsay::cuda

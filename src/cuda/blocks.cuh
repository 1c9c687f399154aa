// Small matrices against blocks: W <- W S for several blocks at once, in place; Y <- Y + alpha X S; and S = R^-1 of
// G = R'R. For blocks of 32 and of 64 columns, of which a tile of rows and all of S fit in shared memory.
#pragma once

#include <cuda_runtime.h>

#include "cuda/kernels.cuh"

namespace hearsay::cuda {

inline constexpr int most_pairs = 6;

/// out <- gamma out + alpha in S; `in` may be `out`.
struct Pairs {
  const void* in[most_pairs];
  void* out[most_pairs];
};

/// Tiles of 64 rows; a thread has four rows and four columns.
template <class T, int P>
struct SmallShape {
  static constexpr int rows = 64, threads = 16 * P / 4, ld = P + 4;
  static constexpr int shared_bytes = (rows + P) * ld * static_cast<int>(sizeof(T));
};

/// S column-major, in double; grid: x shares of the rows, y pairs.
template <class T, int P>
__global__ __launch_bounds__(16 * P / 4) void block_times_small(Pairs pairs, const double* __restrict__ S, T alpha,
                                                                T gamma, long rows) {
  using Shape = SmallShape<T, P>;
  extern __shared__ __align__(16) unsigned char raw_shared[];
  T* s = reinterpret_cast<T*>(raw_shared);
  T* x = s + P * Shape::ld;
  const T* in = static_cast<const T*>(pairs.in[blockIdx.y]);
  T* out = static_cast<T*>(pairs.out[blockIdx.y]);
  for (int e = threadIdx.x; e < P * P; e += Shape::threads) s[(e % P) * Shape::ld + e / P] = static_cast<T>(S[e]);
  const int i = threadIdx.x / (P / 4) * 4, j = threadIdx.x % (P / 4) * 4;
  for (long top = static_cast<long>(blockIdx.x) * Shape::rows; top < rows;
       top += static_cast<long>(gridDim.x) * Shape::rows) {
    const int here = static_cast<int>(rows - top < Shape::rows ? rows - top : Shape::rows);
    __syncthreads();
    for (int e = threadIdx.x; e < Shape::rows * P / 4; e += Shape::threads) {
      const int r = e / (P / 4), c = e % (P / 4) * 4;
      Four<T> v = {};
      if (r < here) v = *reinterpret_cast<const Four<T>*>(in + (top + r) * P + c);
      *reinterpret_cast<Four<T>*>(x + r * Shape::ld + c) = v;
    }
    __syncthreads();
    T sums[4][4] = {};
#pragma unroll 4
    for (int c = 0; c < P; c += 4) {
      Four<T> of_s[4];
#pragma unroll
      for (int q = 0; q < 4; ++q) of_s[q] = *reinterpret_cast<const Four<T>*>(s + (c + q) * Shape::ld + j);
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const Four<T> of_x = *reinterpret_cast<const Four<T>*>(x + (i + r) * Shape::ld + c);
#pragma unroll
        for (int q = 0; q < 4; ++q)
#pragma unroll
          for (int b = 0; b < 4; ++b) sums[r][b] += of_x.v[q] * of_s[q].v[b];
      }
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      if (i + r >= here) continue;
      Four<T>* to = reinterpret_cast<Four<T>*>(out + (top + i + r) * P + j);
      Four<T> made = {};
      if (gamma != T(0)) made = *to;
#pragma unroll
      for (int b = 0; b < 4; ++b) made.v[b] = gamma * made.v[b] + alpha * sums[r][b];
      *to = made;
    }
  }
}

// Column j of rows below j is eliminated by row j, and its place takes the column of L^-1.
template <int P>
__device__ __forceinline__ void eliminate(double (&a)[P / 16][P / 32], int j, const double* row_j, double inverse,
                                          int warp, int lane) {
  double row[P / 32];
#pragma unroll
  for (int k = 0; k < P / 32; ++k) row[k] = row_j[lane + 32 * k];
#pragma unroll
  for (int q = 0; q < P / 16; ++q) {
    if (16 * q + 15 <= j) continue;
    const double f = __shfl_sync(~0u, a[q][j / 32], j % 32) * inverse;
    if (warp + 16 * q <= j) continue;
#pragma unroll
    for (int k = 0; k < P / 32; ++k) a[q][k] = lane + 32 * k == j ? -f : a[q][k] - f * row[k];
  }
}
// S(c, i) = L^-1(i, c) / sqrt(D_i), column-major
template <int P>
__device__ __forceinline__ void put_inverse(const double (&a)[P / 16][P / 32], const bool* dropped, int warp, int lane,
                                            double* S) {
#pragma unroll
  for (int q = 0; q < P / 16; ++q) {
    const int i = warp + 16 * q;
    double D = 0;
#pragma unroll
    for (int k = 0; k < P / 32; ++k) {
      const double there = __shfl_sync(~0u, a[q][k], i & 31);
      if (i / 32 == k) D = there;
    }
    const double scale = dropped[i] ? 0 : rsqrt(D);
#pragma unroll
    for (int k = 0; k < P / 32; ++k) {
      const int c = lane + 32 * k;
      S[i * P + c] = c > i || dropped[c] ? 0 : (c == i ? 1 : a[q][k]) * scale;
    }
  }
}

/// As dropping_inverse_kernel, with the matrix in registers: row i is warp i % 16's, its columns lie across the lanes;
/// row j goes round by shared memory, one barrier a step.
template <int P>
__global__ __launch_bounds__(512) void dropping_inverse_in_registers(const double* G, double least, double* S) {
  constexpr int rows = P / 16, parts = P / 32;
  __shared__ double passed[2][P], diagonal[P];
  __shared__ bool dropped[P];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  double a[rows][parts];
#pragma unroll
  for (int q = 0; q < rows; ++q)
#pragma unroll
    for (int k = 0; k < parts; ++k) a[q][k] = G[(warp + 16 * q) * P + lane + 32 * k];
  if (threadIdx.x < P) diagonal[threadIdx.x] = G[threadIdx.x * (P + 1)];
  if (warp == 0)
#pragma unroll
    for (int k = 0; k < parts; ++k) passed[0][lane + 32 * k] = a[0][k];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < P; ++j) {
    const double D = passed[j & 1][j];
    const bool drop = !(D > least * least * diagonal[j]);
    if (threadIdx.x == 0) dropped[j] = drop;
    eliminate<P>(a, j, passed[j & 1], drop ? 0 : 1 / D, warp, lane);
    if (j + 1 < P && warp == (j + 1) % 16)
#pragma unroll
      for (int k = 0; k < parts; ++k) passed[(j + 1) & 1][lane + 32 * k] = a[j + 1 < P ? (j + 1) / 16 : 0][k];
    __syncthreads();
  }
  put_inverse<P>(a, dropped, warp, lane, S);
}

}  // namespace hearsay::cuda

// Y += A X for a symmetric A of which the lower triangle alone is stored and read, once: a tile of fp16 numbers,
// brought to shared memory by one bulk copy, meets X_j (Y_i += A_ij X_j) and, read the other way round, X_i (Y_j +=
// A_ij' X_i). For Hopper: wgmma, bulk copies.
//
// Storage   A: panels of 512 rows, tiles of 512 x 64, swizzled as wgmma reads them; tile t of panel i is the j-th, t =
// 8
//           i(i+1)/2 + j. X: tiles of 64 rows, [N][64], swizzled. Y: d x N of single precision, its columns in groups
//           of eight that are swapped row by row (place_of_column), zero on entry.
// Legend    MT  tiles of 64 rows that each of two warpgroups multiplies | flush  tiles after which sums are added to Y:
//           tensor cores cut sums off, and long ones lose digits; Y rounds
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

namespace hearsay::cuda {

inline constexpr int panel_rows = 512, tile_columns = 64, panel_blocks = panel_rows / tile_columns;

inline long tiles_of(long panels) { return panel_blocks * panels * (panels + 1) / 2; }

/// Byte offset of (row, column) in a swizzled tile of 64 columns.
__host__ __device__ __forceinline__ uint32_t in_tile(uint32_t row, uint32_t column) {
  return row * 128 + (((column >> 3) ^ (row & 7)) << 4) + (column & 7) * 2;
}
template <int N>
__host__ __device__ constexpr int group_mask() {
  return N % 64 == 0 ? 7 : N % 32 == 0 ? 3 : 0;
}
template <int N>
__host__ __device__ __forceinline__ int place_of_column(int row, int column) {
  return ((((column >> 3) ^ (row & group_mask<N>()))) << 3) | (column & 7);
}

template <int N>
struct HalfReadShape {
  static constexpr int MT = 4, tile_bytes = panel_rows * 128, x_bytes = N * 128, panel_x_bytes = panel_blocks * x_bytes;
  static constexpr int stage = tile_bytes + x_bytes, staging = 64 * N * 4;
  static constexpr int room = 232448 - 1024 - 256 - panel_x_bytes - staging;
  static constexpr int stages = room / stage > 6 ? 6 : room / stage;
  static constexpr int shared_bytes = 1024 + stages * stage + panel_x_bytes + staging + 256;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void barrier_init(uint64_t* b, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(count));
}
__device__ __forceinline__ void barrier_expect(uint64_t* b, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void barrier_arrive(uint64_t* b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}
__device__ __forceinline__ void barrier_wait(uint64_t* b, int parity) {
  asm volatile(
      "{\n.reg .pred P1;\nL: mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra D;\nbra L;\nD:\n}\n" ::"r"(
          shared_address(b)),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void bulk_load(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}
__device__ __forceinline__ void add4(float* to, float a, float b, float c, float d) {
  asm volatile("red.global.add.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(to), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
}
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
template <int n>
__device__ __forceinline__ void keep(float (&a)[n]) {  // registers that wgmma writes behind the compiler's back
#pragma unroll
  for (int e = 0; e < n; ++e) asm volatile("" : "+f"(a[e])::"memory");
}
// Of 128-byte swizzled tiles; K-major: rows of 64, groups of eight rows 1024 bytes apart.
__device__ __forceinline__ uint64_t descriptor(uint32_t address) {
  return static_cast<uint64_t>((address & 0x3ffff) >> 4) | (1ull << 16) | (static_cast<uint64_t>(1024 >> 4) << 32) |
         (1ull << 62);
}

// m64nNk16, both factors in shared memory; `transposed`: the first lies MN-major.
template <int N, int transposed>
struct Wgmma;
#define HEARSAY_D(i) "+f"(d[i])
#define HEARSAY_D8(i)                                                                                     \
  HEARSAY_D(i), HEARSAY_D(i + 1), HEARSAY_D(i + 2), HEARSAY_D(i + 3), HEARSAY_D(i + 4), HEARSAY_D(i + 5), \
      HEARSAY_D(i + 6), HEARSAY_D(i + 7)
template <int transposed>
struct Wgmma<32, transposed> {
  static __device__ __forceinline__ void add(float (&d)[16], uint64_t a, uint64_t b, int accumulate) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, "
        "%16, "
        "%17, p, 1, 1, %19, 0;\n}\n"
        : HEARSAY_D8(0), HEARSAY_D8(8)
        : "l"(a), "l"(b), "r"(accumulate), "n"(transposed));
  }
};
template <int transposed>
struct Wgmma<64, transposed> {
  static __device__ __forceinline__ void add(float (&d)[32], uint64_t a, uint64_t b, int accumulate) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%"
        "18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, p, 1, 1, %35, 0;\n}\n"
        : HEARSAY_D8(0), HEARSAY_D8(8), HEARSAY_D8(16), HEARSAY_D8(24)
        : "l"(a), "l"(b), "r"(accumulate), "n"(transposed));
  }
};
#undef HEARSAY_D8
#undef HEARSAY_D

// A 64 x N result in registers to Y: neighbours swap halves so that each adds four numbers at once.
template <int N>
__device__ __forceinline__ void add_to(float (&a)[N / 2], float* Y, int first_row, int warp, int lane) {
  const int g = lane >> 2, t = lane & 3;
  const bool odd = t & 1;
  const int row = first_row + warp * 16 + g + (odd ? 8 : 0);
  float* base = Y + static_cast<size_t>(row) * N + (t & ~1) * 2;
#pragma unroll
  for (int j = 0; j < N / 8; ++j) {
    const float s0 = odd ? a[4 * j] : a[4 * j + 2], s1 = odd ? a[4 * j + 1] : a[4 * j + 3];
    const float r0 = __shfl_xor_sync(~0u, s0, 1), r1 = __shfl_xor_sync(~0u, s1, 1);
    float* to = base + 8 * (j ^ (row & group_mask<N>()));
    if (odd)
      add4(to, r0, r1, a[4 * j + 2], a[4 * j + 3]);
    else
      add4(to, a[4 * j], a[4 * j + 1], r0, r1);
  }
}
// The same to shared memory, without bank conflicts.
template <int N>
__device__ __forceinline__ void put_in(const float (&a)[N / 2], float* s, int warp, int lane) {
  const int g = lane >> 2, t = lane & 3;
#pragma unroll
  for (int j = 0; j < N / 8; ++j)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = warp * 16 + g + 8 * h;
      *reinterpret_cast<float2*>(s + row * N + 8 * (j ^ (row & group_mask<N>())) + 2 * t) =
          make_float2(a[4 * j + 2 * h], a[4 * j + 2 * h + 1]);
    }
}
// Shared memory of a block of threads, and its barriers.
template <int N>
struct HalfReadRoom {
  using Shape = HalfReadShape<N>;
  uint8_t *tiles, *xi, *xj;
  float* staged;
  uint64_t *full, *empty, *x_full, *x_empty;
  uint64_t *staged_full, *staged_free;  // a transposed half waits to be added; [w]: the other group's has left

  __device__ __forceinline__ explicit HalfReadRoom(uint8_t* raw) {
    tiles = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(raw) + 1023) & ~static_cast<uintptr_t>(1023));
    xi = tiles + Shape::stages * Shape::stage;
    xj = tiles + Shape::stages * Shape::tile_bytes;
    staged = reinterpret_cast<float*>(xi + Shape::panel_x_bytes);
    full = reinterpret_cast<uint64_t*>(xi + Shape::panel_x_bytes + Shape::staging);
    empty = full + Shape::stages;
    x_full = empty + Shape::stages;
    x_empty = x_full + 1;
    staged_full = x_full + 2;
    staged_free = x_full + 3;
  }
  __device__ __forceinline__ void init_barriers() const {
    for (int s = 0; s < Shape::stages; ++s) barrier_init(full + s, 1), barrier_init(empty + s, 8);
    barrier_init(x_full, 1), barrier_init(x_empty, 8), barrier_init(staged_full, 128);
    barrier_init(staged_free, 1), barrier_init(staged_free + 1, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
};

// A block's share of the tiles, and where each lies.
struct TileWalk {
  int first, last, i = 0;
  __device__ __forceinline__ explicit TileWalk(int tiles)
      : first(static_cast<int>(static_cast<long long>(tiles) * blockIdx.x / gridDim.x)),
        last(static_cast<int>(static_cast<long long>(tiles) * (blockIdx.x + 1) / gridDim.x)) {}
  __device__ __forceinline__ int column_of(int t) {  // and i becomes its panel
    while (panel_blocks * (i + 1) * (i + 2) / 2 <= t) ++i;
    return t - panel_blocks * i * (i + 1) / 2;
  }
};

// By one thread: tiles of A and of X_j one after the other, X_i where a panel begins.
template <int N>
__device__ __forceinline__ void load_tiles(const HalfReadRoom<N>& room, TileWalk walk, const __half* A,
                                           const __half* X) {
  using Shape = HalfReadShape<N>;
  int stage = 0, phase = 0, panel = -1, x_phase = 0;
  for (int t = walk.first; t < walk.last; ++t) {
    const int j = walk.column_of(t), i = walk.i;
    if (i != panel) {
      barrier_wait(room.x_empty, x_phase ^ 1);
      x_phase ^= 1;
      barrier_expect(room.x_full, Shape::panel_x_bytes);
      bulk_load(room.xi, X + static_cast<size_t>(i) * panel_blocks * N * 64, Shape::panel_x_bytes, room.x_full);
      panel = i;
    }
    barrier_wait(room.empty + stage, phase ^ 1);
    barrier_expect(room.full + stage, Shape::stage);
    bulk_load(room.tiles + stage * Shape::tile_bytes, A + static_cast<size_t>(t) * panel_rows * 64, Shape::tile_bytes,
              room.full + stage);
    bulk_load(room.xj + stage * Shape::x_bytes, X + static_cast<size_t>(j) * N * 64, Shape::x_bytes, room.full + stage);
    if (++stage == Shape::stages) stage = 0, phase ^= 1;
  }
}

// By one thread: adds the transposed halves that the others leave.
template <int N>
__device__ __forceinline__ void add_staged(const HalfReadRoom<N>& room, TileWalk walk, float* Y) {
  int count = 0;
  for (int t = walk.first; t < walk.last; ++t) {
    const int j = walk.column_of(t);
    if (j >= walk.i * panel_blocks) continue;
    barrier_wait(room.staged_full, count & 1);
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(
                     Y + static_cast<size_t>(j) * 64 * N),
                 "r"(shared_address(room.staged)), "r"(HalfReadShape<N>::staging)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    barrier_arrive(room.staged_free + ((count + 1) & 1));
    ++count;
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// What a multiplying warp is, and its sums: Y_i of four tiles of 64 rows.
template <int N>
struct HalfReadWarp {
  static constexpr int MT = HalfReadShape<N>::MT;
  int group, warp, lane;
  float sums[MT][N / 2];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int m = 0; m < MT; ++m)
#pragma unroll
      for (int e = 0; e < N / 2; ++e) sums[m][e] = 0;
  }
  __device__ __forceinline__ void keep_sums() {
#pragma unroll
    for (int m = 0; m < MT; ++m) keep(sums[m]);
  }
  __device__ __forceinline__ void add_sums_to(float* Y, int panel) {
#pragma unroll
    for (int m = 0; m < MT; ++m) add_to<N>(sums[m], Y, panel * panel_rows + (group * MT + m) * 64, warp, lane);
  }
  // Y_i += A_ij X_j
  __device__ __forceinline__ void multiply(uint32_t a, uint32_t x) {
    keep_sums();
    wgmma_fence();
#pragma unroll
    for (int m = 0; m < MT; ++m)
#pragma unroll
      for (int k = 0; k < 4; ++k)
        Wgmma<N, 0>::add(sums[m], descriptor(a + (group * MT + m) * 8192 + k * 32), descriptor(x + k * 32), 1);
    wgmma_commit();
  }
  // A_ij' X_i to shared memory, for add_staged(); `count` tiles did so before.
  __device__ __forceinline__ void multiply_transposed(const HalfReadRoom<N>& room, uint32_t a, int stage, int count) {
    float other[N / 2];
    const uint64_t da = descriptor(a), dx = descriptor(shared_address(room.xi));
    keep(other);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < panel_rows / 16; ++k)
      Wgmma<N, 1>::add(other, da + ((k * 2048) >> 4), dx + (((k >> 2) * HalfReadShape<N>::x_bytes + (k & 3) * 32) >> 4),
                       k > 0);
    wgmma_commit();
    wgmma_wait();
    keep_sums();
    keep(other);
    if (lane == 0) barrier_arrive(room.empty + stage);
    if (count > 0) barrier_wait(room.staged_free + group, group ? (count >> 1) & 1 : ((count >> 1) - 1) & 1);
    put_in<N>(other, room.staged, warp, lane);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    barrier_arrive(room.staged_full);
  }
};

template <int N>
__device__ __forceinline__ void multiply_tiles(const HalfReadRoom<N>& room, TileWalk walk, HalfReadWarp<N>& by,
                                               float* Y, int flush) {
  using Shape = HalfReadShape<N>;
  by.clear();
  int stage = 0, phase = 0, panel = -1, x_phase = 0, count = 0, since = 0;
  for (int t = walk.first; t < walk.last; ++t) {
    const int j = walk.column_of(t), i = walk.i;
    if (i != panel || since == flush) {
      since = 0;
      if (panel >= 0) by.add_sums_to(Y, panel), by.clear();
      if (i != panel) {
        if (panel >= 0 && by.lane == 0) barrier_arrive(room.x_empty);
        barrier_wait(room.x_full, x_phase);
        x_phase ^= 1;
        panel = i;
      }
    }
    ++since;
    barrier_wait(room.full + stage, phase);
    const uint32_t a = shared_address(room.tiles + stage * Shape::tile_bytes);
    by.multiply(a, shared_address(room.xj + stage * Shape::x_bytes));
    const bool off_diagonal = j < i * panel_blocks;
    if (off_diagonal && (count & 1) == by.group) {
      by.multiply_transposed(room, a, stage, count);
    } else {
      wgmma_wait();
      by.keep_sums();
      if (by.lane == 0) barrier_arrive(room.empty + stage);
    }
    count += off_diagonal;
    if (++stage == Shape::stages) stage = 0, phase ^= 1;
  }
  if (panel >= 0) by.add_sums_to(Y, panel);
}
#endif

// Three warpgroups: two multiply, the third loads tiles and adds the transposed halves to Y.
template <int N>
__global__ __launch_bounds__(384, 1) void half_read_kernel(const __half* __restrict__ A, const __half* __restrict__ X,
                                                           float* __restrict__ Y, int tiles, int flush) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ uint8_t raw[];
  const HalfReadRoom<N> room(raw);
  const int group = __shfl_sync(~0u, threadIdx.x / 128, 0);
  if (threadIdx.x == 0) room.init_barriers();
  __syncthreads();
  const TileWalk walk(tiles);
  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 256)
      load_tiles<N>(room, walk, A, X);
    else if (threadIdx.x == 288)
      add_staged<N>(room, walk, Y);
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  HalfReadWarp<N> by{group, static_cast<int>(threadIdx.x / 32) & 3, static_cast<int>(threadIdx.x & 31), {}};
  multiply_tiles<N>(room, walk, by, Y, flush);
#endif
}

/// The lower triangle of a row-major A, scaled, in two planes: a = high + low to 22 bits. Beyond d there are zeros.
template <class T>
__global__ void pack_triangle(const T* __restrict__ A, long lda, long d, __half* __restrict__ high,
                              __half* __restrict__ low, float scale) {
  const int t = blockIdx.x;
  int i = static_cast<int>((sqrtf(8.f * t / panel_blocks + 1.f) - 1.f) / 2.f);
  while (panel_blocks * (i + 1) * (i + 2) / 2 <= t) ++i;
  while (panel_blocks * i * (i + 1) / 2 > t) --i;
  const int j = t - panel_blocks * i * (i + 1) / 2;
  uint8_t* h = reinterpret_cast<uint8_t*>(high + static_cast<size_t>(t) * panel_rows * 64);
  uint8_t* l = reinterpret_cast<uint8_t*>(low + static_cast<size_t>(t) * panel_rows * 64);
  for (int e = threadIdx.x; e < panel_rows * 8; e += blockDim.x) {
    const int r = e >> 3, c = (e & 7) * 8;
    const long row = static_cast<long>(i) * panel_rows + r, column = static_cast<long>(j) * 64 + c;
    __align__(16) __half vh[8];
    __align__(16) __half vl[8];
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      const float v =
          row < d && column + q < d ? static_cast<float>(A[row * lda + column + q] * static_cast<T>(scale)) : 0.f;
      vh[q] = __float2half_rn(v);
      vl[q] = __float2half_rn(v - __half2float(vh[q]));
    }
    *reinterpret_cast<uint4*>(h + in_tile(r, c)) = *reinterpret_cast<uint4*>(vh);
    if (low != nullptr) *reinterpret_cast<uint4*>(l + in_tile(r, c)) = *reinterpret_cast<uint4*>(vl);
  }
}

/// Rows of X, scaled by column, to tiles [N][64]: the high plane, and where asked for what is left of it.
template <class T, int N>
__global__ void pack_block(const T* __restrict__ X, const float* __restrict__ scale, __half* __restrict__ high,
                           __half* __restrict__ low) {
  __shared__ float s[64][N + 1];
  const size_t t = blockIdx.x;
  for (int e = threadIdx.x; e < 64 * N; e += blockDim.x)
    s[e / N][e % N] = static_cast<float>(X[t * 64 * N + e] * static_cast<T>(scale[e % N]));
  __syncthreads();
  uint8_t* h = reinterpret_cast<uint8_t*>(high + t * N * 64);
  uint8_t* l = reinterpret_cast<uint8_t*>(low + t * N * 64);
  for (int e = threadIdx.x; e < N * 8; e += blockDim.x) {
    const int n = e >> 3, c = (e & 7) * 8;
    __align__(16) __half vh[8];
    __align__(16) __half vl[8];
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      const float x = s[c + q][n];
      vh[q] = __float2half_rn(x);
      vl[q] = __float2half_rn(x - __half2float(vh[q]));
    }
    *reinterpret_cast<uint4*>(h + in_tile(n, c)) = *reinterpret_cast<uint4*>(vh);
    if (low != nullptr) *reinterpret_cast<uint4*>(l + in_tile(n, c)) = *reinterpret_cast<uint4*>(vl);
  }
}

/// What the product left, in its place and scaled back by column.
template <class T, int N>
__global__ void unpack_product(const float* __restrict__ from, const float* __restrict__ scale, float of_matrix,
                               size_t numbers, T* __restrict__ to) {
  const size_t e = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (e >= numbers) return;
  const size_t row = e / N;
  const int column = static_cast<int>(e % N);
  to[e] = static_cast<T>(from[row * N + place_of_column<N>(static_cast<int>(row & 7), column)]) /
          static_cast<T>(scale[column]) * static_cast<T>(of_matrix);
}

}  // namespace hearsay::cuda

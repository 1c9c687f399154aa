#include "machine.hpp"

#include <hearsay/random.hpp>
#include <hearsay/threads.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "linalg/large_pages.hpp"

#ifdef HEARSAY_BENCH_OPENBLAS
#include <cblas.h>
#endif

namespace hearsay::bench {

namespace {

template <class Work>
double best_seconds(int repeats, const Work& work) {
  double best = 1e300;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

volatile double sink;  // takes what would otherwise be computed for nobody

constexpr int chains = 12, rounds = 400000;
volatile float starts[chains] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

// Chains of multiply-adds long enough to fill the pipeline and few enough to stay in registers.
template <class S, int bytes>
[[gnu::always_inline]] inline S multiply_adds() {
  typedef S Vec __attribute__((vector_size(bytes)));
  Vec sum[chains], x = Vec{} + S(0.999), y = Vec{} + S(1e-3);
  for (int c = 0; c < chains; ++c)
    sum[c] = Vec{} + S(starts[c]);  // unlike, and unknown: else the compiler keeps one chain
  for (int round = 0; round < rounds; ++round)
    for (int c = 0; c < chains; ++c) sum[c] = sum[c] * x + y;
  Vec total = {};
  for (int c = 0; c < chains; ++c) total += sum[c];
  return total[0];
}

#if defined(__x86_64__)
template <class S>
[[gnu::target("avx512f")]] S multiply_adds_avx512() {
  return multiply_adds<S, 64>();
}
template <class S>
[[gnu::target("avx2,fma")]] S multiply_adds_avx2() {
  return multiply_adds<S, 32>();
}
#endif

template <class S>
S multiply_adds_generic() {
  return multiply_adds<S, 16>();
}

template <class S>
double measured_peak() {
  S (*loop)() = multiply_adds_generic<S>;
  double bytes = 16;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) loop = multiply_adds_avx2<S>, bytes = 32;
  if (__builtin_cpu_supports("avx512f")) loop = multiply_adds_avx512<S>, bytes = 64;
#endif
  const int count = threads();
  S kept = 0;
  const double seconds = best_seconds(4, [&] {
#pragma omp parallel num_threads(count) reduction(+ : kept)
    kept += loop();
  });
  sink = double(kept);
  return 2.0 * count * chains * rounds * (bytes / sizeof(S)) / seconds;
}

// Sizes within a quarter of an octave share a measurement; beyond 256 MiB no cache matters.
Index size_class(double bytes) {
  return static_cast<Index>(std::ceil(4 * std::log2(std::clamp(bytes, 1e5, 256.0 * (1 << 20)))));
}

double size_of(Index size) { return std::exp2(static_cast<double>(size) / 4); }

template <class S, int bytes>
[[gnu::always_inline]] inline S sum_of(const S* from, Index count) {
  typedef S Vec __attribute__((vector_size(bytes)));
  constexpr Index lanes = bytes / sizeof(S);
  Vec sum[8] = {};
  for (Index i = 0; i + 8 * lanes <= count; i += 8 * lanes)
    for (Index v = 0; v < 8; ++v) {
      Vec x;
      std::memcpy(&x, from + i + lanes * v, sizeof x);
      sum[v] += x;
    }
  Vec total = {};
  for (const Vec& part : sum) total += part;
  return total[0];
}

#if defined(__x86_64__)
[[gnu::target("avx512f")]] double sum_avx512(const double* from, Index count) {
  return sum_of<double, 64>(from, count);
}
[[gnu::target("avx2")]] double sum_avx2(const double* from, Index count) { return sum_of<double, 32>(from, count); }
#endif

double sum_generic(const double* from, Index count) { return sum_of<double, 16>(from, count); }

// Rows of `lines` cache lines each, in the order of `rows`.
template <int bytes>
[[gnu::always_inline]] inline double sum_of_rows(const double* from, const std::int32_t* rows, Index count,
                                                 Index lines) {
  typedef double Vec __attribute__((vector_size(bytes)));
  constexpr Index lanes = bytes / 8, ahead = 32;
  Vec sum[64 / bytes] = {};
  for (Index e = 0; e < count; ++e) {
    if (e + ahead < count)
      for (Index line = 0; line < lines; ++line) __builtin_prefetch(from + 8 * (rows[e + ahead] * lines + line));
    const double* row = from + 8 * lines * rows[e];
    for (Index line = 0; line < lines; ++line)
      for (Index v = 0; v < 64 / bytes; ++v) {
        Vec x;
        std::memcpy(&x, row + 8 * line + lanes * v, sizeof x);
        sum[v] += x;
      }
  }
  return sum[0][0] + sum[64 / bytes - 1][lanes - 1];
}

#if defined(__x86_64__)
[[gnu::target("avx512f")]] double gather_avx512(const double* from, const std::int32_t* rows, Index count,
                                                Index lines) {
  return sum_of_rows<64>(from, rows, count, lines);
}
[[gnu::target("avx2")]] double gather_avx2(const double* from, const std::int32_t* rows, Index count, Index lines) {
  return sum_of_rows<32>(from, rows, count, lines);
}
#endif

double gather_generic(const double* from, const std::int32_t* rows, Index count, Index lines) {
  return sum_of_rows<16>(from, rows, count, lines);
}

using Gatherer = double (*)(const double*, const std::int32_t*, Index, Index);

Gatherer best_gatherer() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return gather_avx512;
  if (__builtin_cpu_supports("avx2")) return gather_avx2;
#endif
  return gather_generic;
}

const volatile Gatherer gatherer = best_gatherer();

using Reader = double (*)(const double*, Index);

Reader best_reader() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return sum_avx512;
  if (__builtin_cpu_supports("avx2")) return sum_avx2;
#endif
  return sum_generic;
}

const volatile Reader reader = best_reader();  // volatile: every call is made

#if defined(__x86_64__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void triad(double* a, const double* b, const double* c, Index count) {
#pragma GCC ivdep
  for (Index i = 0; i < count; ++i) a[i] = b[i] + 0.5 * c[i];
}

int passes_over(double bytes) { return std::max(1, static_cast<int>(3e8 / bytes)); }

}  // namespace

double Machine::peak_flops(bool single) {
  double& best = best_peak_[single ? 1 : 0];
  return best = std::max(best, single ? measured_peak<float>() : measured_peak<double>());
}

double Machine::read_rate(double bytes) {
  const Index size = size_class(bytes), numbers = static_cast<Index>(size_of(size) / 8);
  if (static_cast<Index>(arrays_.size()) < numbers) arrays_.assign(static_cast<std::size_t>(numbers), 1.0);
  const int count = threads(), passes = passes_over(size_of(size));
  const double* from = arrays_.data();
  double kept = 0;
  const double seconds = best_seconds(3, [&] {
#pragma omp parallel for num_threads(count) schedule(static, 1) reduction(+ : kept)
    for (int part = 0; part < count; ++part)
      for (int pass = 0; pass < passes; ++pass) kept += reader(from + numbers * part / count, numbers / count);
  });
  sink = kept;
  double& best = best_read_[size];
  return best = std::max(best, 8.0 * static_cast<double>(numbers) * passes / seconds);
}

double Machine::triad_rate(double bytes) {
  const Index size = size_class(bytes), third = static_cast<Index>(size_of(size) / 24);
  if (static_cast<Index>(arrays_.size()) < 3 * third) arrays_.assign(static_cast<std::size_t>(3 * third), 1.0);
  const int count = threads(), passes = passes_over(size_of(size));
  double *a = arrays_.data(), *b = a + third, *c = b + third;
  const double seconds = best_seconds(3, [&] {
#pragma omp parallel for num_threads(count) schedule(static, 1)
    for (int part = 0; part < count; ++part)
      for (int pass = 0; pass < passes; ++pass)
        triad(a + third * part / count, b + third * part / count, c + third * part / count, third / count);
  });
  double& best = best_triad_[size];
  return best = std::max(best, 32.0 * static_cast<double>(third) * passes / seconds);
}

double Machine::gather_rate(double bytes, Index row_bytes) {
  const Index lines = row_bytes / 64, size = size_class(bytes);
  const Index rows = std::max<Index>(1, static_cast<Index>(size_of(size)) / row_bytes);
  Block<double> array;
  detail::resize_large<double>(array, rows, row_bytes / 8);
  array.setOnes();
  const double* from = array.data();
  std::vector<std::int32_t> order(static_cast<std::size_t>(std::max<Index>(rows, 200000)));
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<std::int32_t>(random_words({.seed = 1}, i, 0).word[0] % static_cast<std::uint64_t>(rows));
  const int count = threads(), passes = passes_over(static_cast<double>(order.size()) * double(row_bytes));
  const auto total = static_cast<Index>(order.size());
  double kept = 0;
  const double seconds = best_seconds(3, [&] {
#pragma omp parallel for num_threads(count) schedule(static, 1) reduction(+ : kept)
    for (int part = 0; part < count; ++part)
      for (int pass = 0; pass < passes; ++pass)
        kept += gatherer(from, order.data() + total * part / count, total / count, lines);
  });
  sink = kept;
  double& best = best_gather_[{size, row_bytes}];
  return best = std::max(best, double(row_bytes) * double(total / count * count) * passes / seconds);
}

#ifdef HEARSAY_BENCH_OPENBLAS
double Machine::dgemm_flops() {
  constexpr int n = 1536;
  const std::vector<double> A(static_cast<std::size_t>(n * n), 0.5), B = A;
  std::vector<double> C(static_cast<std::size_t>(n * n));
  openblas_set_num_threads(threads());
  const double seconds = best_seconds(4, [&] {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, A.data(), n, B.data(), n, 0.0, C.data(), n);
  });
  return best_dgemm_ = std::max(best_dgemm_, 2.0 * n * n * n / seconds);
}

const char* Machine::blas_core() { return openblas_get_corename(); }
#else
double Machine::dgemm_flops() { return 0; }

const char* Machine::blas_core() { return ""; }
#endif

}  // namespace hearsay::bench

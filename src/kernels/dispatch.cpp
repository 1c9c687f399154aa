#include "kernels/kernels.hpp"
#include "kernels/normal.hpp"
#include "kernels/tables.hpp"

namespace hearsay::kernels {

namespace {

enum class Level { generic, avx2, avx512 };

Level best_level() {
#ifdef HEARSAY_X86_KERNELS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return Level::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Level::avx2;
#endif
  return Level::generic;
}

}  // namespace

template <>
const Table<float>& table<float>() {
  static const Table<float>& chosen = [level = best_level()]() -> const Table<float>& {
#ifdef HEARSAY_X86_KERNELS
    if (level == Level::avx512) return avx512_float();
    if (level == Level::avx2) return avx2_float();
#else
    (void)level;
#endif
    return generic_float();
  }();
  return chosen;
}

template <>
const Table<double>& table<double>() {
  static const Table<double>& chosen = [level = best_level()]() -> const Table<double>& {
#ifdef HEARSAY_X86_KERNELS
    if (level == Level::avx512) return avx512_double();
    if (level == Level::avx2) return avx2_double();
#else
    (void)level;
#endif
    return generic_double();
  }();
  return chosen;
}

NormalPairs normal_pairs() {
  static const NormalPairs chosen = [level = best_level()]() -> NormalPairs {
#ifdef HEARSAY_X86_KERNELS
    if (level == Level::avx512) return avx512_normal_pairs;
    if (level == Level::avx2) return avx2_normal_pairs;
#else
    (void)level;
#endif
    return generic_normal_pairs;
  }();
  return chosen;
}

}  // namespace hearsay::kernels

#include "kernels/kernels.hpp"
#include "kernels/normal.hpp"
#include "kernels/tables.hpp"

namespace hearsay::kernels {

namespace {

#ifdef HEARSAY_X86_KERNELS
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

}  // namespace

template <>
Runnable<float> runnable<float>() {
  Runnable<float> found;
#ifdef HEARSAY_X86_KERNELS
  if (has_avx512()) found.tables[found.count++] = &avx512_float();
  if (has_avx2()) found.tables[found.count++] = &avx2_float();
#endif
  found.tables[found.count++] = &generic_float();
  return found;
}

template <>
Runnable<double> runnable<double>() {
  Runnable<double> found;
#ifdef HEARSAY_X86_KERNELS
  if (has_avx512()) found.tables[found.count++] = &avx512_double();
  if (has_avx2()) found.tables[found.count++] = &avx2_double();
#endif
  found.tables[found.count++] = &generic_double();
  return found;
}

template <>
const Table<float>& table<float>() {
  static const Table<float>& chosen = *runnable<float>().tables[0];
  return chosen;
}

template <>
const Table<double>& table<double>() {
  static const Table<double>& chosen = *runnable<double>().tables[0];
  return chosen;
}

NormalPairs normal_pairs() {
#ifdef HEARSAY_X86_KERNELS
  static const NormalPairs chosen = has_avx512() ? avx512_normal_pairs
                                    : has_avx2() ? avx2_normal_pairs
                                                 : generic_normal_pairs;
  return chosen;
#else
  return generic_normal_pairs;
#endif
}

}  // namespace hearsay::kernels

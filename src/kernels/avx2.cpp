#define HEARSAY_KERNEL_NAME "avx2"
#include "kernels/kernels.inl"
#include "kernels/tables.hpp"

namespace hearsay::kernels {
const Table<float>& avx2_float() {
  static constexpr Table<float> table = make_table<float>();
  return table;
}
const Table<double>& avx2_double() {
  static constexpr Table<double> table = make_table<double>();
  return table;
}
}  // namespace hearsay::kernels

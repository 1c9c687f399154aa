#define HEARSAY_KERNEL_NAME "generic"
#include "kernels/kernels.inl"
#include "kernels/tables.hpp"

namespace hearsay::kernels {
const Table<float>& generic_float() {
  static constexpr Table<float> table = make_table<float>();
  return table;
}
const Table<double>& generic_double() {
  static constexpr Table<double> table = make_table<double>();
  return table;
}
}  // namespace hearsay::kernels

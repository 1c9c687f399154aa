// One table per instruction set; which of them exist depends on the target processor family.
#pragma once

#include "kernels/kernels.hpp"

namespace hearsay::kernels {
const Table<float>& generic_float();
const Table<double>& generic_double();
const Table<float>& avx2_float();
const Table<double>& avx2_double();
const Table<float>& avx512_float();
const Table<double>& avx512_double();
}  // namespace hearsay::kernels

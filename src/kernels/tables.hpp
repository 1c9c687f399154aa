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

/// The tables this processor can run, the best first.
template <class S>
struct Runnable {
  const Table<S>* tables[3] = {};
  int count = 0;
};
template <class S>
Runnable<S> runnable();
}  // namespace hearsay::kernels

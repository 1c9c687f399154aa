// A dense symmetric matrix on a device.
#pragma once

#include "cuda/matrix.hpp"

namespace hearsay::cuda {

/// Borrowed, or taken over; row-major, both triangles.
template <class T>
std::unique_ptr<Matrix> dense(const Queue& queue, const T* A, long d, long lda, bool positive_semidefinite);
template <class T>
std::unique_ptr<Matrix> dense(const Queue& queue, Array<T> A, long d, bool positive_semidefinite);

}  // namespace hearsay::cuda

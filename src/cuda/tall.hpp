// The covariance of tall data on a device: samples in rows, centred as they are multiplied.
#pragma once

#include "cuda/matrix.hpp"

namespace hearsay::cuda {

/// M'M / divisor of the rows less their mean (of the rows as they are, where not centred). Data of up to 1024 columns:
/// the matrix is formed, in double precision. `mean` and the trace come with it.
template <class T>
std::unique_ptr<Matrix> covariance(const Queue& queue, const T* M, Array<T> owned, long rows, long columns, bool centre,
                                   Vector<double>& mean, double& trace);

}  // namespace hearsay::cuda

// A sparse symmetric matrix on a device: rows of entries, gathered from the block.
#pragma once

#include "cuda/matrix.hpp"
#include "hearsay/csr.hpp"

namespace hearsay::cuda {

template <class S>
std::unique_ptr<Matrix> sparse(const Queue& queue, const CsrView<S>& A, bool positive_semidefinite);

}  // namespace hearsay::cuda

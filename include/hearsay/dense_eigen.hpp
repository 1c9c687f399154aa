// The whole spectrum of a small operator, by a dense eigensolver: what an adversarial noise model and an optimal
// momentum must know, and what tests compare with.
#pragma once

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "hearsay/operator.hpp"

namespace hearsay {

template <class S>
struct DenseEigen {
  Vector<S> values;  ///< d, descending
  Block<S> vectors;  ///< d x d, a column per value
};

/// Applies A to the identity and decomposes the result: O(d^2) memory and O(d^3) work. Throws InvalidArgument above
/// `largest_dimension`.
template <class S>
HEARSAY_API DenseEigen<S> dense_eigen(OperatorRef<S> A, Index largest_dimension = 5000);

}  // namespace hearsay

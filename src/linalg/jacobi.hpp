// The singular values of a small matrix to their own relative accuracy: rotations of pairs of columns.
#pragma once

#include "hearsay/block.hpp"

namespace hearsay::detail {

/// M = P diag(values) Z', M square; values descending, P and Z orthogonal. Where M is a well-conditioned matrix times a
/// diagonal one, each value is right relative to itself, however small (Demmel and Veselic, 1992): the scaling of a
/// column is never mixed into another one. Columns of P that belong to a value of zero complete the others.
template <class S>
struct JacobiSvd {
  Small<S> P;
  Vector<S> values;
  Small<S> Z;
};
template <class S>
JacobiSvd<S> jacobi_svd(const Small<S>& M);

}  // namespace hearsay::detail

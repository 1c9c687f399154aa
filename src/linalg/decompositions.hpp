// Eigen's decompositions of small matrices, compiled once: wherever one is written out it costs the compiler five to
// ten seconds. Each call constructs its decomposition afresh, for memory that runs out must be an error (decision 25 of
// docs/architecture.md).
#pragma once

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay::detail {

/// M = Q R by Householder reflections.
template <class S>
struct HouseholderQr {
  Small<S> Q;  ///< as many columns as M
  Small<S> R;  ///< upper triangular, its diagonal of either sign
};
template <class S>
HouseholderQr<S> householder_qr(const Small<S>& M);

/// The first columns of the orthogonal Q of M = Q R.
Small<double> householder_columns(const Small<double>& M, Index columns);

/// The whole of it, square.
Small<double> householder_basis(const Small<double>& M);

/// M P = Q R, the columns taken in such an order that the diagonal of R falls.
template <class S>
struct PivotedQr {
  Small<S> Q;  ///< square
  Small<S> R;  ///< what is below its diagonal means nothing
};
template <class S>
PivotedQr<S> pivoted_qr(const Small<S>& M);

/// Descending.
template <class S>
Vector<S> singular_values(const Small<S>& M);

/// M = U diag(values) V', U and V square.
template <class S>
struct Svd {
  Small<S> U;
  Vector<S> values;
  Small<S> V;
};
template <class S>
Svd<S> singular_value_decomposition(const Small<S>& M);

/// Ascending; the lower triangle alone is read. The command line asks for it too.
HEARSAY_API Vector<double> symmetric_eigenvalues(const Small<double>& M);

}  // namespace hearsay::detail

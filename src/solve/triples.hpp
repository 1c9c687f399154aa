// Singular triples from a subspace: the last small singular value decomposition.
//
// Legend   A  m x n | X  orthonormal columns on the side that was solved | Y  those of the other side | s  descending
//          E  what is left of the second product: op'Y - X diag(s), while op X = Y diag(s)
#pragma once

#include <functional>

#include "hearsay/block.hpp"

namespace hearsay::detail {

template <class S>
struct HalfProducts {
  Index rows = 0, cols = 0;
  std::function<void(ConstBlockView<S> X, BlockView<S> out)> multiply;             ///< A X
  std::function<void(ConstBlockView<S> U, BlockView<S> out)> multiply_transposed;  ///< A'U
};

struct TripleGoal {
  double residual = 0;  ///< a column of E that is larger than this times its s_i is worth another half product
  double rounding = 0;  ///< absolute: no s_i below is
};

template <class S>
struct Triples {
  Block<S> left, right;
  Vector<S> values;
  Vector<double> residuals;  ///< column norms of E
  double mismatch = 0;       ///< ||X'E||_F: zero but for rounding where the two products are those of A and A'
  Index half_products = 0;
};

/// From X (of the rows' side or the columns') to both sides. Where small values are not yet sharp, the two sides take
/// turns: each half product shrinks what does not belong by sigma_{k+1}/sigma_k, and squares nothing.
template <class S>
Triples<S> triples_from(Block<S> X, bool by_rows, const HalfProducts<S>& A, const TripleGoal& goal);

}  // namespace hearsay::detail

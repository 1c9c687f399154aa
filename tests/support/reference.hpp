// Decompositions that the library's answers are held against: Eigen's own, and a singular value decomposition by the
// oldest method there is. Compiled once: written out in a test, one of Eigen's costs the compiler five to fifteen
// seconds, its singular value decompositions twice that.
#pragma once

#include <hearsay/block.hpp>

namespace hearsay::test {

using Dense = Eigen::MatrixXd;

/// Descending, by rotations of pairs of columns (one-sided Jacobi).
Vector<double> reference_singular_values(const Dense& M);

/// The thin V of M = U S V', and the diagonal of S, in the same way.
struct RightVectors {
  Vector<double> values;
  Dense V;
};
RightVectors reference_right_vectors(const Dense& M);

/// Of a symmetric matrix, ascending.
template <class S>
Vector<S> reference_eigenvalues(const Small<S>& A);

/// As many orthonormal columns as M has, or a whole orthogonal matrix, by Householder reflections.
Dense reference_orthonormal(const Dense& M);
Dense reference_rotation(const Dense& M);

/// With pivots in rows and columns.
Index reference_rank(const Dense& M);

}  // namespace hearsay::test

// Eigen's own decompositions, which the library's answers are held against. Compiled once: written out in a test each
// costs the compiler five to fifteen seconds.
#pragma once

#include <hearsay/block.hpp>

namespace hearsay::test {

using Dense = Eigen::MatrixXd;

/// Descending, by Jacobi rotations.
Vector<double> reference_singular_values(const Dense& M);

/// The thin V of M = U S V', and the diagonal of S: by Jacobi rotations, or by dividing and conquering.
struct RightVectors {
  Vector<double> values;
  Dense V;
};
RightVectors reference_right_vectors(const Dense& M);
RightVectors reference_right_vectors_of_large(const Dense& M);

/// Of a symmetric matrix, ascending.
template <class S>
Vector<S> reference_eigenvalues(const Small<S>& A);

/// As many orthonormal columns as M has, or a whole orthogonal matrix, by Householder reflections.
Dense reference_orthonormal(const Dense& M);
Dense reference_rotation(const Dense& M);

/// With pivots in rows and columns.
Index reference_rank(const Dense& M);

}  // namespace hearsay::test

#include "support/reference.hpp"

#include <Eigen/Dense>

namespace hearsay::test {

Vector<double> reference_singular_values(const Dense& M) { return Eigen::JacobiSVD<Dense>(M).singularValues(); }

RightVectors reference_right_vectors(const Dense& M) {
  const Eigen::JacobiSVD<Dense> svd(M, Eigen::ComputeThinV);
  return {svd.singularValues(), svd.matrixV()};
}

RightVectors reference_right_vectors_of_large(const Dense& M) {
  const Eigen::BDCSVD<Dense> svd(M, Eigen::ComputeThinV);
  return {svd.singularValues(), svd.matrixV()};
}

template <class S>
Vector<S> reference_eigenvalues(const Small<S>& A) {
  return Eigen::SelfAdjointEigenSolver<Small<S>>(A).eigenvalues();
}
template Vector<float> reference_eigenvalues(const Small<float>&);
template Vector<double> reference_eigenvalues(const Small<double>&);

Dense reference_orthonormal(const Dense& M) {
  return Eigen::HouseholderQR<Dense>(M).householderQ() * Dense::Identity(M.rows(), M.cols());
}

Dense reference_rotation(const Dense& M) { return Eigen::HouseholderQR<Dense>(M).householderQ(); }

Index reference_rank(const Dense& M) { return Eigen::FullPivHouseholderQR<Dense>(M).rank(); }

}  // namespace hearsay::test

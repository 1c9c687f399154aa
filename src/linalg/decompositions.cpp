#include "linalg/decompositions.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace hearsay::detail {

template <class S>
HouseholderQr<S> householder_qr(const Small<S>& M) {
  const Index m = M.rows(), p = M.cols();
  const Eigen::HouseholderQR<Small<S>> qr(M);
  return {.Q = qr.householderQ() * Small<S>::Identity(m, p),
          .R = qr.matrixQR().topRows(p).template triangularView<Eigen::Upper>()};
}

Small<double> householder_columns(const Small<double>& M, Index columns) {
  return Eigen::HouseholderQR<Small<double>>(M).householderQ() * Small<double>::Identity(M.rows(), columns);
}

Small<double> householder_basis(const Small<double>& M) {
  return Eigen::HouseholderQR<Small<double>>(M).householderQ();
}

template <class S>
PivotedQr<S> pivoted_qr(const Small<S>& M) {
  const Eigen::ColPivHouseholderQR<Small<S>> qr(M);
  return {.Q = qr.householderQ(), .R = qr.matrixR()};
}

template <class S>
Vector<S> singular_values(const Small<S>& M) {
  return Eigen::JacobiSVD<Small<S>>(M).singularValues();
}

template <class S>
Svd<S> singular_value_decomposition(const Small<S>& M) {
  const Eigen::JacobiSVD<Small<S>> svd(M, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return {.U = svd.matrixU(), .values = svd.singularValues(), .V = svd.matrixV()};
}

Vector<double> symmetric_eigenvalues(const Small<double>& M) {
  return Eigen::SelfAdjointEigenSolver<Small<double>>(M, Eigen::EigenvaluesOnly).eigenvalues();
}

#define HEARSAY_INSTANTIATE(S)                               \
  template HouseholderQr<S> householder_qr(const Small<S>&); \
  template PivotedQr<S> pivoted_qr(const Small<S>&);         \
  template Vector<S> singular_values(const Small<S>&);       \
  template Svd<S> singular_value_decomposition(const Small<S>&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay::detail

#include "support/reference.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace hearsay::test {

namespace {

constexpr double orthogonal = 1e-15;  // cosine of two columns
constexpr int most_sweeps = 40;       // about ten do; rounding may keep a cosine of long columns above the limit

// Turns columns i and j of B, and of V, so that those of B are orthogonal; false where they are already.
bool turn_pair(Dense& B, Dense& V, Index i, Index j) {
  const double a = B.col(i).squaredNorm(), b = B.col(j).squaredNorm(), c = B.col(i).dot(B.col(j));
  if (!(std::abs(c) > orthogonal * std::sqrt(a) * std::sqrt(b))) return false;
  const double zeta = (b - a) / (2 * c);
  const double tangent = std::copysign(1 / (std::abs(zeta) + std::hypot(1, zeta)), zeta);
  const double cosine = 1 / std::hypot(1, tangent), sine = cosine * tangent;
  for (Dense* M : {&B, &V}) {
    const Eigen::VectorXd left = M->col(i);
    M->col(i) = cosine * left - sine * M->col(j);
    M->col(j) = sine * left + cosine * M->col(j);
  }
  return true;
}

}  // namespace

RightVectors reference_right_vectors(const Dense& M) {
  const Index n = M.cols(), thin = std::min(M.rows(), n);
  Dense B = M, V = Dense::Identity(n, n);
  bool turned = true;
  for (int sweep = 0; turned && sweep < most_sweeps; ++sweep) {
    turned = false;
    for (Index i = 0; i + 1 < n; ++i)
      for (Index j = i + 1; j < n; ++j) turned = turn_pair(B, V, i, j) || turned;
  }

  const Vector<double> norms = B.colwise().norm().transpose();
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return norms(i) > norms(j); });
  RightVectors result{Vector<double>(thin), Dense(n, thin)};
  for (Index i = 0; i < thin; ++i) {
    result.values(i) = norms(order[static_cast<std::size_t>(i)]);
    result.V.col(i) = V.col(order[static_cast<std::size_t>(i)]);
  }
  return result;
}

Vector<double> reference_singular_values(const Dense& M) {
  return M.rows() < M.cols() ? reference_right_vectors(M.transpose()).values : reference_right_vectors(M).values;
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

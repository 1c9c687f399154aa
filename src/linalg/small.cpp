#include <Eigen/Eigenvalues>
#include <cmath>

#include "hearsay/linalg.hpp"

namespace hearsay {

template <class S>
SmallEigen<S> symmetric_eigen(const Small<S>& H) {
  const Small<S> symmetric = (H + H.transpose()) / S(2);
  const Eigen::SelfAdjointEigenSolver<Small<S>> solver(symmetric);
  return {solver.eigenvalues().reverse(), solver.eigenvectors().rowwise().reverse()};
}

template <class S>
S spectral_norm(ConstBlockView<S> X) {
  const S scale = frobenius_norm<S>(X);
  if (!(scale > 0) || !std::isfinite(scale)) return scale;
  const Block<S> unit = X / scale;
  const S largest = symmetric_eigen<S>(gram<S>(unit)).values(0);
  return scale * std::sqrt(std::max(largest, S(0)));
}

template <class S>
void canonical_signs(BlockView<S> X) {
  for (Index j = 0; j < X.cols(); ++j) {
    Index largest = 0;
    X.col(j).cwiseAbs().maxCoeff(&largest);
    if (X(largest, j) < 0) X.col(j) = -X.col(j);
  }
}

template SmallEigen<float> symmetric_eigen<float>(const Small<float>&);
template SmallEigen<double> symmetric_eigen<double>(const Small<double>&);
template float spectral_norm<float>(ConstBlockView<float>);
template double spectral_norm<double>(ConstBlockView<double>);
template void canonical_signs<float>(BlockView<float>);
template void canonical_signs<double>(BlockView<double>);

}  // namespace hearsay

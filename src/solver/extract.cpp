#include "solver/extract.hpp"

#include <cmath>

#include "hearsay/qr.hpp"

namespace hearsay::detail {

template <class S>
SmallEigen<S> extraction_rotation(const Small<S>& H, const SmallEigen<S>& ritz, Index k, Extraction extraction) {
  if (extraction == Extraction::ritz) return {ritz.values.head(k), ritz.vectors.leftCols(k)};
  SmallEigen<S> leading = symmetric_eigen<S>(H.topLeftCorner(k, k));
  Small<S> rotation = Small<S>::Zero(H.rows(), k);
  rotation.topRows(k) = leading.vectors;
  return {leading.values, rotation};
}

template <class S>
void extract(ConstBlockView<S> X, ConstBlockView<S> Y, const SmallEigen<S>& rotation, Extracted<S>& out) {
  const Index d = X.rows(), k = rotation.values.size();
  out.V.resize(d, k);
  out.AV.resize(d, k);
  out.theta = rotation.values;
  multiply<S>(X, rotation.vectors, out.V);
  multiply<S>(Y, rotation.vectors, out.AV);
  const double size = static_cast<double>(frobenius_norm<S>(out.AV));
  out.AV.noalias() -= out.V * out.theta.asDiagonal();
  out.absolute_residual = static_cast<double>(frobenius_norm<S>(out.AV));
  out.residual = size > 0 ? out.absolute_residual / size : 0.0;
}

template <class S>
Extracted<S> measure(OperatorRef<S> A, const Block<S>& V, int exponent) {
  Block<S> X = V;
  Small<S> R;
  thin_qr<S>(X, R);
  Block<S> Y(X.rows(), X.cols());
  A.apply(X, Y);
  rescale<S>(Y, exponent);
  Extracted<S> measured;
  extract<S>(X, Y, symmetric_eigen<S>(gram<S>(X, Y)), measured);
  return measured;
}

template <class S>
void rescale(BlockView<S> Y, int exponent) {
  if (exponent != 0) Y *= std::ldexp(S(1), -exponent);
}

#define HEARSAY_INSTANTIATE(S)                                                                             \
  template SmallEigen<S> extraction_rotation<S>(const Small<S>&, const SmallEigen<S>&, Index, Extraction); \
  template void extract<S>(ConstBlockView<S>, ConstBlockView<S>, const SmallEigen<S>&, Extracted<S>&);     \
  template Extracted<S> measure<S>(OperatorRef<S>, const Block<S>&, int);                                  \
  template void rescale<S>(BlockView<S>, int);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay::detail

#include "hearsay/angles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "linalg/decompositions.hpp"

namespace hearsay {

namespace {

template <class S>
void require_same_rows(ConstBlockView<S> U, ConstBlockView<S> X) {
  require(U.rows() == X.rows() && U.cols() > 0 && X.cols() > 0,
          fmt::format("bases of {} x {} and {} x {}: must have as many rows and at least one column", U.rows(),
                      U.cols(), X.rows(), X.cols()));
}

// X - U (U'X)
template <class S>
Block<S> outside(ConstBlockView<S> U, ConstBlockView<S> X, const Small<S>& UtX) {
  Block<S> inside(X.rows(), X.cols());
  multiply<S>(U, UtX, inside);
  return X - inside;
}

}  // namespace

template <class S>
S sin_theta(ConstBlockView<S> U, ConstBlockView<S> X) {
  require_same_rows<S>(U, X);
  return std::min(S(1), spectral_norm<S>(outside<S>(U, X, gram<S>(U, X))));
}

template <class S>
S cos_theta(ConstBlockView<S> U, ConstBlockView<S> X) {
  require_same_rows<S>(U, X);
  return std::min(S(1), detail::singular_values<S>(gram<S>(U, X)).minCoeff());
}

template <class S>
S tan_theta(ConstBlockView<S> U, ConstBlockView<S> X) {
  require_same_rows<S>(U, X);
  const Small<S> UtX = gram<S>(U, X);
  const detail::Svd<S> svd = detail::singular_value_decomposition<S>(UtX);
  const Vector<S>& cosines = svd.values;
  if (!(cosines.minCoeff() > std::numeric_limits<S>::min())) return std::numeric_limits<S>::infinity();
  const Small<S> inverse =
      svd.V.leftCols(cosines.size()) * cosines.cwiseInverse().asDiagonal() * svd.U.adjoint().topRows(cosines.size());
  Block<S> H(X.rows(), inverse.cols());
  multiply<S>(outside<S>(U, X, UtX), inverse, H);
  return spectral_norm<S>(H);
}

#define HEARSAY_INSTANTIATE(S)                                   \
  template S sin_theta<S>(ConstBlockView<S>, ConstBlockView<S>); \
  template S cos_theta<S>(ConstBlockView<S>, ConstBlockView<S>); \
  template S tan_theta<S>(ConstBlockView<S>, ConstBlockView<S>);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay

// One-sided Jacobi (Hestenes, 1958): columns are turned in pairs until all are orthogonal; their lengths are the
// values.
#include "linalg/jacobi.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "hearsay/qr.hpp"

namespace hearsay::detail {

namespace {

constexpr int most_sweeps = 40;  // about ten do; columns that are nearly orthogonal to begin with take two or three

template <class S>
void turn_columns(Small<S>& M, Index i, Index j, S cosine, S sine) {
  S *a = M.col(i).data(), *b = M.col(j).data();
  for (Index r = 0; r < M.rows(); ++r) {
    const S x = a[r], y = b[r];
    a[r] = cosine * x - sine * y;
    b[r] = sine * x + cosine * y;
  }
}

// False where the two are orthogonal already.
template <class S>
bool make_orthogonal(Small<S>& B, Small<S>& Z, Index i, Index j) {
  const S orthogonal = std::numeric_limits<S>::epsilon() * std::sqrt(static_cast<S>(B.rows()));
  const S a = B.col(i).squaredNorm(), b = B.col(j).squaredNorm(), c = B.col(i).dot(B.col(j));
  if (!(std::abs(c) > orthogonal * std::sqrt(a) * std::sqrt(b)) || !(std::abs(c) > std::numeric_limits<S>::min()))
    return false;
  const S zeta = (b - a) / (2 * c);
  const S tangent = std::copysign(1 / (std::abs(zeta) + std::hypot(S(1), zeta)), zeta);
  const S cosine = 1 / std::hypot(S(1), tangent), sine = cosine * tangent;
  turn_columns(B, i, j, cosine, sine);
  turn_columns(Z, i, j, cosine, sine);
  return true;
}

}  // namespace

template <class S>
JacobiSvd<S> jacobi_svd(const Small<S>& M) {
  const Index n = M.cols();
  const S largest = n > 0 ? M.cwiseAbs().maxCoeff() : S(0);
  constexpr int most = std::numeric_limits<S>::max_exponent - 2;
  const S scale =  // squares must stay in range
      largest > 0 ? std::ldexp(S(1), std::clamp(-std::ilogb(largest), -most, most)) : S(1);
  Small<S> B = M * scale, Z = Small<S>::Identity(n, n);
  bool turned = true;
  for (int sweep = 0; turned && sweep < most_sweeps; ++sweep) {
    turned = false;
    for (Index i = 0; i + 1 < n; ++i)
      for (Index j = i + 1; j < n; ++j) turned = make_orthogonal(B, Z, i, j) || turned;
  }

  const Vector<S> norms = B.colwise().norm().transpose();
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return norms(i) > norms(j); });
  JacobiSvd<S> result{Small<S>(n, n), Vector<S>(n), Small<S>(n, n)};
  Block<S> P = Block<S>::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    const Index from = order[static_cast<std::size_t>(i)];
    result.values(i) = norms(from) / scale;
    result.Z.col(i) = Z.col(from);
    if (norms(from) > 0) P.col(i) = B.col(from) / norms(from);
  }
  Small<S> R;
  thin_qr<S>(P, R);  // changes an orthonormal column by rounding, and fills those of zero
  result.P = P;
  return result;
}

template JacobiSvd<float> jacobi_svd<float>(const Small<float>&);
template JacobiSvd<double> jacobi_svd<double>(const Small<double>&);

}  // namespace hearsay::detail

#include "hearsay/qr.hpp"

#include <cmath>
#include <limits>

#include "hearsay/linalg.hpp"
#include "linalg/decompositions.hpp"

namespace hearsay {

namespace {

template <class S>
constexpr S epsilon = std::numeric_limits<S>::epsilon();

// One pass: the Cholesky factor of G, with the columns scaled to unit norm first (which costs nothing and takes the
// spread of column sizes out of the conditioning). Empty when G is not positive definite to working precision.
template <class S>
struct Factor {
  bool ok = false;
  Small<S> R;
  S condition = std::numeric_limits<S>::infinity();
};

template <class S>
Factor<S> cholesky_factor(const Small<S>& G, S shift) {
  const Index p = G.rows();
  const Vector<S> scale = G.diagonal().cwiseSqrt();
  if (!scale.allFinite() || !(scale.minCoeff() > 0)) return {};
  Small<S> unit = scale.cwiseInverse().asDiagonal() * G * scale.cwiseInverse().asDiagonal();
  unit.diagonal().array() += shift;

  Small<S> R = Small<S>::Zero(p, p);  // upper triangular, unit = R'R
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < j; ++i) R(i, j) = (unit(i, j) - R.col(i).head(i).dot(R.col(j).head(i))) / R(i, i);
    const S pivot = unit(j, j) - R.col(j).head(j).squaredNorm();
    if (!(pivot > S(p) * epsilon<S>)) return {};
    R(j, j) = std::sqrt(pivot);
  }
  // cond_2(R)^2 = cond_2(unit) <= ||unit||_1 ||unit^{-1}||_1; the same norms of R itself would say up to p times more.
  const Small<S> inverse = R.template triangularView<Eigen::Upper>().solve(Small<S>::Identity(p, p));
  const Small<S> unit_inverse = inverse * inverse.transpose();
  const S condition =
      std::sqrt(unit.cwiseAbs().colwise().sum().maxCoeff() * unit_inverse.cwiseAbs().colwise().sum().maxCoeff());
  return {true, R * scale.asDiagonal(), condition};
}

// The least share of a column that the columns before it do not span: zero for a rank-deficient block.
template <class S>
S least_new_part(const Small<S>& R) {
  const Vector<S> norms = R.colwise().norm();
  return (R.diagonal().array() / norms.array().max(std::numeric_limits<S>::min())).minCoeff();
}

// Multiplies its triangle into R.
template <class S>
QrReport<S> householder(BlockView<S> Y, Small<S>& R) {
  const Index p = Y.cols();
  auto [Q, triangle] = detail::householder_qr<S>(Y);
  for (Index j = 0; j < p; ++j) {
    if (triangle(j, j) < 0) {
      triangle.row(j) = -triangle.row(j);
      Q.col(j) = -Q.col(j);
    }
  }
  Y = Q;
  R = (triangle * R).eval();
  const S part = least_new_part(R);
  return {.method = QrMethod::householder,
          .condition = part > 0 ? 1 / part : std::numeric_limits<S>::infinity(),
          .rank_deficient = !(part > S(10) * S(p) * epsilon<S>)};
}

}  // namespace

template <class S>
QrReport<S> thin_qr(BlockView<S> Y, Small<S>& R) {
  const Index p = Y.cols();
  // One pass loses orthogonality as eps cond^2. Up to cond = 4 that stays at rounding level; up to 1/(8 sqrt(eps)) a
  // second pass repairs it; beyond, the first Cholesky itself needs a shift.
  const S last_pass = S(4), two_passes = S(0.125) / std::sqrt(epsilon<S>);
  R = Small<S>::Identity(p, p);

  Small<S> G = gram<S>(Y);
  if (!G.allFinite() || !(G.diagonal().minCoeff() > std::numeric_limits<S>::min() / epsilon<S>))
    return householder<S>(Y, R);
  Factor<S> factor = cholesky_factor<S>(G, S(0));
  QrReport<S> report{.method = factor.condition <= last_pass    ? QrMethod::cholesky
                               : factor.condition <= two_passes ? QrMethod::cholesky_twice
                                                                : QrMethod::cholesky_shifted};
  if (report.method == QrMethod::cholesky_shifted)
    factor = cholesky_factor<S>(G, S(11) * S(p) * S(p + 1) * epsilon<S> + S(p) * epsilon<S> * std::sqrt(S(Y.rows())));
  report.condition = factor.condition;

  // Every pass but the last measures what it gives, on its way through the block: the Gram matrix that says how far
  // from orthonormal it is still serves the next. Two passes suffice, three after a shift.
  for (int pass = 0; pass < 3 && factor.ok; ++pass) {
    R = (factor.R * R).eval();
    if (factor.condition <= last_pass) {
      solve_right<S>(factor.R, Y);
      report.rank_deficient = !(least_new_part(R) > S(10) * S(p) * epsilon<S>);
      return report;
    }
    G = solve_right_and_gram<S>(factor.R, Y);
    factor = G.allFinite() ? cholesky_factor<S>(G, S(0)) : Factor<S>{};
  }
  return householder<S>(Y, R);
}

template QrReport<float> thin_qr<float>(BlockView<float>, Small<float>&);
template QrReport<double> thin_qr<double>(BlockView<double>, Small<double>&);

}  // namespace hearsay

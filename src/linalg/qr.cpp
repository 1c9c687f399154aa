#include "hearsay/qr.hpp"

#include <Eigen/QR>
#include <cmath>
#include <limits>

#include "hearsay/linalg.hpp"

namespace hearsay {

namespace {

template <class S>
constexpr S epsilon = std::numeric_limits<S>::epsilon();

// One rung: the Cholesky factor of G, with the columns scaled to unit norm first (which costs nothing and takes the
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
  const Small<S> inverse = R.template triangularView<Eigen::Upper>().solve(Small<S>::Identity(p, p));
  const S condition = R.cwiseAbs().colwise().sum().maxCoeff() * inverse.cwiseAbs().colwise().sum().maxCoeff();
  return {true, R * scale.asDiagonal(), condition};
}

// The least share of a column that the columns before it do not span: zero for a rank-deficient block.
template <class S>
S least_new_part(const Small<S>& R) {
  const Vector<S> norms = R.colwise().norm();
  return (R.diagonal().array() / norms.array().max(std::numeric_limits<S>::min())).minCoeff();
}

template <class S>
QrReport<S> householder(BlockView<S> Y, Small<S>& R) {
  const Index d = Y.rows(), p = Y.cols();
  const Small<S> columns = Y;
  const Eigen::HouseholderQR<Small<S>> qr(columns);
  Small<S> Q = qr.householderQ() * Small<S>::Identity(d, p);
  R = qr.matrixQR().topRows(p).template triangularView<Eigen::Upper>();
  for (Index j = 0; j < p; ++j) {
    if (R(j, j) < 0) {
      R.row(j) = -R.row(j);
      Q.col(j) = -Q.col(j);
    }
  }
  Y = Q;
  const S part = least_new_part(R);
  return {.method = QrMethod::householder,
          .condition = part > 0 ? 1 / part : std::numeric_limits<S>::infinity(),
          .rank_deficient = !(part > S(10) * S(p) * epsilon<S>)};
}

// Divides by the factor and multiplies it into R.
template <class S>
void take(const Factor<S>& factor, BlockView<S> Y, Small<S>& R) {
  solve_right<S>(factor.R, Y);
  R = (factor.R * R).eval();
}

}  // namespace

template <class S>
QrReport<S> thin_qr(BlockView<S> Y, Small<S>& R) {
  const Index p = Y.cols();
  // One pass loses orthogonality as eps cond^2. Up to cond = 4 that stays at rounding level; up to 1/(8 sqrt(eps)) a
  // second pass repairs it; beyond, the first Cholesky itself needs a shift.
  const S one_pass = S(4), two_passes = S(0.125) / std::sqrt(epsilon<S>);
  R = Small<S>::Identity(p, p);

  const Small<S> G = gram<S>(Y, Y);
  if (!G.allFinite() || !(G.diagonal().minCoeff() > std::numeric_limits<S>::min() / epsilon<S>))
    return householder<S>(Y, R);
  Factor<S> first = cholesky_factor<S>(G, S(0));
  QrReport<S> report{.method = QrMethod::cholesky, .condition = first.condition};
  if (first.ok && first.condition <= one_pass) {
    take(first, Y, R);
    return report;
  }

  const Block<S> original = Y;  // the lower rungs may fail, and then need it again
  if (first.ok && first.condition <= two_passes) {
    report.method = QrMethod::cholesky_twice;
  } else {
    report.method = QrMethod::cholesky_shifted;
    first = cholesky_factor<S>(G, S(11) * S(p) * S(p + 1) * epsilon<S> + S(p) * epsilon<S> * std::sqrt(S(Y.rows())));
    report.condition = first.condition;
  }
  if (first.ok) {
    take(first, Y, R);
    for (int pass = 0; pass < (report.method == QrMethod::cholesky_twice ? 1 : 2); ++pass) {
      const Factor<S> again = cholesky_factor<S>(gram<S>(Y, Y), S(0));
      if (!again.ok) break;
      take(again, Y, R);
    }
    const Small<S> check = gram<S>(Y, Y) - Small<S>::Identity(p, p);
    if (check.allFinite() && check.cwiseAbs().maxCoeff() <= S(32) * epsilon<S> * std::sqrt(S(p))) {
      report.rank_deficient = !(least_new_part(R) > S(10) * S(p) * epsilon<S>);
      return report;
    }
  }
  Y = original;
  return householder<S>(Y, R);
}

template QrReport<float> thin_qr<float>(BlockView<float>, Small<float>&);
template QrReport<double> thin_qr<double>(BlockView<double>, Small<double>&);

}  // namespace hearsay

#include "solver/probe.hpp"

#include <algorithm>
#include <cmath>

#include "hearsay/linalg.hpp"
#include "solver/outside.hpp"
#include "solver/scale.hpp"
#include "solver/shadow.hpp"

namespace hearsay::detail {

namespace {

constexpr std::uint64_t seed_of_probe = 0x70726F6265;  // random columns other than the solve's own

// The least mu above every Ritz value at which the shadow that an eigenvector would cast on the random columns is
// smaller than chance allows. Lambda U: columns x n, T: columns x n.
// `error` is what the relation A K = K H + Q B E' lacks.
double bound_of_largest(const Vector<double>& theta, const Small<double>& LU, const Small<double>& T, double error) {
  const double eta = least_shadow(LU.rows(), 1, miss_probability);
  const auto excluded = [&](double mu) {
    const Vector<double> weights = (mu - theta.array()).inverse();
    return (LU * weights.asDiagonal() * T.transpose()).norm() + LU.norm() * error * weights(0) < eta;
  };
  const double top = theta(0), scale = std::max(std::abs(top), T.norm());
  if (!(scale > 0)) return 0;
  double no = top, yes = top + 1e-3 * scale;
  while (!excluded(yes) && yes < 1e12 * scale) no = yes, yes = top + 2 * (yes - top);
  for (int i = 0; i < 30; ++i) {
    const double middle = (yes + no) / 2;
    (excluded(middle) ? yes : no) = middle;
  }
  return yes;
}

}  // namespace

template <class S>
Probe<S> probe(OperatorRef<S> A, ConstBlockView<S> W, int exponent, Index columns, Index least_passes,
               Index most_passes, double goal, std::uint64_t seed) {
  const Index d = W.rows(), w = std::min(columns, d - W.cols());
  Probe<S> out;
  if (w < 1) {
    out.nothing_above = 0;
    return out;
  }
  Outside<S> outside(d, seed ^ seed_of_probe, S(100) * std::numeric_limits<S>::epsilon());
  auto [Q, along, R] = outside.draw({W}, w);
  const Small<double> Omega = R.transpose().template cast<double>();  // random columns, as combinations of the first Q
  Block<S> Y, K(d, 0);
  Small<S> H, B;
  double lost = 0;
  for (Index t = 0; t < most_passes; ++t) {
    const Index n = K.cols(), w_now = Q.cols(), left = d - W.cols() - n - w_now;
    K.conservativeResize(Eigen::NoChange, n + w_now);
    K.rightCols(w_now) = Q;
    Y.resize(d, w_now);
    A.apply(Q, Y);
    rescale<S>(Y, exponent);
    ++out.passes;
    out.products += w_now;
    const auto size = static_cast<double>(frobenius_norm<S>(Y));
    for (int again = 0; again < 2; ++again) outside.subtract(W, gram<S>(W, Y), Y);
    if (t == 0)
      out.frobenius =
          std::sqrt(static_cast<double>(d) / static_cast<double>(w)) * static_cast<double>(frobenius_norm<S>(Y));
    H.conservativeResize(n + w_now, n + w_now);
    H.rightCols(w_now) = gram<S>(K, Y);
    if (!H.rightCols(w_now).allFinite()) {
      out.finite = false;
      return out;
    }
    H.bottomLeftCorner(w_now, n) = H.topRightCorner(n, w_now).transpose();
    outside.subtract(K, H.rightCols(w_now), Y);
    if (left >= w_now) {
      lost = std::max(lost, outside.take({W, K}, Y, B, size));
      Q = Y;
    } else {  // a basis of all that is left
      Q = left > 0 ? outside.draw({W, K}, left).Q : Block<S>(d, 0);
      B = left > 0 ? gram<S>(Q, Y) : Small<S>::Zero(0, w_now);
    }
    const SmallEigen<S> ritz = symmetric_eigen<S>(H);
    const Small<double> U = ritz.vectors.template cast<double>();
    const Small<double> T = B.template cast<double>() * U.bottomRows(w_now);
    const Small<double> LU = Omega * U.topRows(w);
    out.theta = ritz.values.template cast<double>();
    out.residuals = (T.colwise().norm().array() + lost).matrix();
    const double error = lost + 8 * std::numeric_limits<S>::epsilon() * std::sqrt(static_cast<double>(K.cols())) *
                                    std::abs(out.theta(0));
    out.nothing_above = left == 0 ? std::max(0.0, out.theta(0)) : bound_of_largest(out.theta, LU, T, error);
    if (left == 0 || t + 1 == most_passes || (t + 1 >= least_passes && out.nothing_above <= goal)) {
      out.vectors.resize(d, std::min<Index>(w, K.cols()));
      multiply<S>(K, Small<S>(ritz.vectors.leftCols(out.vectors.cols())), out.vectors);
      return out;
    }
  }
  return out;
}

template Probe<float> probe<float>(OperatorRef<float>, ConstBlockView<float>, int, Index, Index, Index, double,
                                   std::uint64_t);
template Probe<double> probe<double>(OperatorRef<double>, ConstBlockView<double>, int, Index, Index, Index, double,
                                     std::uint64_t);

}  // namespace hearsay::detail

#include "solver/probe.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/random.hpp"
#include "solver/scale.hpp"
#include "solver/shadow.hpp"

namespace hearsay::detail {

namespace {

// Z <- Z - B B'Z, twice: what is left along B is rounding.
template <class S>
void take_out(ConstBlockView<S> B, Block<S>& Z) {
  if (B.cols() == 0) return;
  Block<S> part(Z.rows(), Z.cols());
  for (int pass = 0; pass < 2; ++pass) {
    multiply<S>(B, gram<S>(B, Z), part);
    Z -= part;
  }
}

// Y B has fewer dimensions than columns: random ones take the place of what the QR made up, orthogonal to W and K.
template <class S>
void fill_up(ConstBlockView<S> W, ConstBlockView<S> K, Block<S>& Y, Small<S>& B, std::uint64_t seed, Index t) {
  Block<S> product(Y.rows(), Y.cols()), turned(Y.rows(), Y.cols());
  multiply<S>(Y, B, product);
  const Eigen::ColPivHouseholderQR<Small<S>> pivoted(B);
  multiply<S>(Y, Small<S>(pivoted.householderQ()), turned);
  const S least = S(1000) * std::numeric_limits<S>::epsilon() * std::abs(pivoted.matrixR()(0, 0));
  fill_normal<S>({.seed = seed, .stream = Stream::replacement, .iteration = static_cast<std::uint32_t>(t)}, Y);
  for (Index j = 0; j < Y.cols() && std::abs(pivoted.matrixR()(j, j)) > least; ++j) Y.col(j) = turned.col(j);
  Small<S> R;
  for (int pass = 0; pass < 2; ++pass) {
    take_out<S>(W, Y);
    take_out<S>(K, Y);
    thin_qr<S>(Y, R);
  }
  B = gram<S>(Y, product);
}

// The least mu above every Ritz value at which the shadow that an eigenvector would cast on the random columns is
// smaller than chance allows. Lambda U: columns x n, T: columns x n.
double bound_of_largest(const Vector<double>& theta, const Small<double>& LU, const Small<double>& T) {
  const double eta = least_shadow(LU.rows(), 1, miss_probability);
  const auto excluded = [&](double mu) {
    const Vector<double> weights = (mu - theta.array()).inverse();
    return (LU * weights.asDiagonal() * T.transpose()).norm() < eta;
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
  Block<S> Q(d, w), Y(d, w), K(d, 0);
  fill_normal<S>({.seed = seed, .stream = Stream::probe}, Q);
  take_out<S>(W, Q);
  Small<S> R;
  thin_qr<S>(Q, R);
  const Small<double> Omega = R.transpose().template cast<double>();  // random columns, as combinations of the first Q
  Small<S> H;
  for (Index t = 0; t < most_passes; ++t) {
    const Index n = K.cols(), w_now = Q.cols();
    K.conservativeResize(Eigen::NoChange, n + w_now);
    K.rightCols(w_now) = Q;
    Y.resize(d, w_now);
    A.apply(Q, Y);
    rescale<S>(Y, exponent);
    ++out.passes;
    out.products += w_now;
    take_out<S>(W, Y);
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
    take_out<S>(K, Y);
    take_out<S>(W, Y);
    Small<S> B;
    if (thin_qr<S>(Y, B).rank_deficient) {
      fill_up<S>(W, K, Y, B, seed, t);
    } else {  // again, where so little was left that rounding is most of it
      take_out<S>(K, Y);
      take_out<S>(W, Y);
      Small<S> R_again;
      thin_qr<S>(Y, R_again);
      B = (R_again * B).eval();
    }
    const SmallEigen<S> ritz = symmetric_eigen<S>(H);
    const Small<double> U = ritz.vectors.template cast<double>();
    const Small<double> T = B.template cast<double>() * U.bottomRows(w_now);
    const Small<double> LU = Omega * U.topRows(w);
    out.theta = ritz.values.template cast<double>();
    out.residuals = T.colwise().norm();
    const bool everything = K.cols() + W.cols() >= d;
    out.nothing_above = everything ? std::max(0.0, out.theta(0)) : bound_of_largest(out.theta, LU, T);
    if (everything || t + 1 == most_passes || (t + 1 >= least_passes && out.nothing_above <= goal)) {
      out.vectors.resize(d, std::min<Index>(w, K.cols()));
      multiply<S>(K, Small<S>(ritz.vectors.leftCols(out.vectors.cols())), out.vectors);
      return out;
    }
    Q = Y.leftCols(std::min(Y.cols(), d - W.cols() - K.cols()));
  }
  return out;
}

template Probe<float> probe<float>(OperatorRef<float>, ConstBlockView<float>, int, Index, Index, Index, double,
                                   std::uint64_t);
template Probe<double> probe<double>(OperatorRef<double>, ConstBlockView<double>, int, Index, Index, Index, double,
                                     std::uint64_t);

}  // namespace hearsay::detail

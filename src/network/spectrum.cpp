// The ends of W's spectrum, the constant vector's eigenvalue 1 left out.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "hearsay/network.hpp"
#include "hearsay/operators/compose.hpp"
#include "hearsay/operators/stored.hpp"
#include "hearsay/power.hpp"
#include "network/entries.hpp"

namespace hearsay {
namespace {

constexpr Index largest_dense = 1000;

GossipSpectrum dense_spectrum(const CsrMatrix<double>& W) {
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(W.rows, W.cols);
  detail::each_entry(W, [&](Index i, Index j, double value) { dense(i, j) = value; });
  const Vector<double> values =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense, Eigen::EigenvaluesOnly).eigenvalues();
  return {.lo = values(0), .hi = values(W.rows - 2)};
}

struct End {
  double value;  // a Ritz value, widened by its residual
  bool converged;
};

// The largest eigenvalue of (I + sign W)/2 on the complement of the constant vector.
End far_end(const CsrMatrix<double>& W, double sign, double tolerance) {
  const SparseSymmetric<double> stored(W);
  const auto product = [&](ConstBlockView<double> X, BlockView<double> Y) {
    stored.apply(X, Y);
    Y = (X + sign * Y) / 2;
    Y.rowwise() -= Y.colwise().mean().eval();
  };
  const CallbackOperator<double> B(W.rows, product, {.positive_semidefinite = true});
  const auto result =
      accelerated_power<double>(B, {.rank = 1, .oversample = 7, .tolerance = tolerance, .max_iterations = 20000});
  const double theta = result.eigenvalues(0);
  return {theta * (1 + result.residual), result.status == Status::converged};
}

// 1 - l_2 >= w_min/(n diameter): one path per pair of agents, none longer than the diameter, all of them at worst
// across the weakest edge (Diaconis and Stroock, 1991, Proposition 1).
double poincare_bound(const GossipMatrix& W) {
  double least = 1;
  for (const double weight : W.matrix().values) least = std::min(least, weight);
  return 1 - least / (static_cast<double>(W.agents()) * static_cast<double>(std::max<Index>(1, W.diameter())));
}

}  // namespace

double GossipSpectrum::gap() const { return 1 - std::max(std::abs(lo), std::abs(hi)); }

GossipSpectrum gossip_spectrum(const GossipMatrix& W) {
  if (W.agents() == 1) return {};
  if (W.agents() <= largest_dense) return dense_spectrum(W.matrix());
  // A Ritz value is off by the square of its residual over the spacing. Where the ends cluster that is the residual
  // itself, so it is asked for in the units of the gap, which a first look gives.
  End upper = far_end(W.matrix(), 1, 1e-6);
  const double gap = 2 * std::max(1e-9, 1 - upper.value);
  upper = far_end(W.matrix(), 1, std::clamp(1e-6 * gap, 1e-13, 1e-8));
  const End lower = far_end(W.matrix(), -1, 1e-6);
  GossipSpectrum spectrum{.lo = std::max(-1.0, 1 - 2 * lower.value), .hi = 2 * upper.value - 1};
  if (!lower.converged) spectrum.lo = -1;
  if (!upper.converged) {
    spectrum.hi = std::max(spectrum.hi, poincare_bound(W));
    spectrum.measured = false;
  }
  return spectrum;
}

}  // namespace hearsay

// The ends of W's spectrum, the constant vector's eigenvalue 1 left out.
#include <algorithm>
#include <cmath>

#include "hearsay/network.hpp"
#include "hearsay/operators/compose.hpp"
#include "hearsay/operators/stored.hpp"
#include "hearsay/power.hpp"
#include "linalg/decompositions.hpp"
#include "network/entries.hpp"

namespace hearsay {
namespace {

constexpr Index largest_dense = 1000;
// Iterations of a solve: agents times iterations stay below ten million or so, some ten seconds.
Index affordable_iterations(Index agents) { return std::clamp<Index>(12'000'000 / agents, 300, 5000); }

GossipSpectrum dense_spectrum(const CsrMatrix<double>& W) {
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(W.rows, W.cols);
  detail::each_entry(W, [&](Index i, Index j, double value) { dense(i, j) = value; });
  const Vector<double> values = detail::symmetric_eigenvalues(dense);
  return {.lo = values(0), .hi = values(W.rows - 2)};
}

struct End {
  double value;  // a Ritz value, widened by its residual
  bool converged;
  Block<double> block;  // a good start for a closer look
};

// The largest eigenvalue of (I + sign W)/2 on the complement of the constant vector.
End far_end(const CsrMatrix<double>& W, double sign, double tolerance, const Block<double>* start = nullptr) {
  const SparseSymmetric<double> stored(W);
  const auto product = [&](ConstBlockView<double> X, BlockView<double> Y) {
    stored.apply(X, Y);
    Y = (X + sign * Y) / 2;
    Y.rowwise() -= Y.colwise().mean().eval();
  };
  const CallbackOperator<double> B(W.rows, product, {.positive_semidefinite = true});
  const auto result =
      accelerated_power<double>(B,
                                {.rank = 1,
                                 .oversample = 7,
                                 .tolerance = tolerance,
                                 .max_iterations = affordable_iterations(W.rows),
                                 .certify = Certify::none},  // the eigenvalue alone is wanted, and a ring has it twice
                                {.start = start});
  return {result.eigenvalues(0) * (1 + result.residual),
          result.status == Status::converged || result.status == Status::ambiguous, result.block};
}

// 1 - l_2 >= w_min/(n diameter): one path per pair of agents, none longer than the diameter, all of them at worst
// across the weakest edge (Diaconis and Stroock, 1991, Proposition 1).
double poincare_bound(const GossipMatrix& W) {
  double least = 1;
  for (const double weight : W.matrix().values) least = std::min(least, weight);
  return 1 - least / (static_cast<double>(W.agents()) * static_cast<double>(std::max<Index>(1, W.diameter())));
}

// No eigenvalue lies below -1 + 2 min w_ii (Gershgorin).
double least_eigenvalue_bound(const CsrMatrix<double>& W) {
  double least = 1;
  detail::each_entry(W, [&](Index i, Index j, double value) { least = i == j ? std::min(least, value) : least; });
  return -1 + 2 * least;
}

}  // namespace

double GossipSpectrum::gap() const { return 1 - std::max(std::abs(lo), std::abs(hi)); }

GossipSpectrum gossip_spectrum(const GossipMatrix& W) {
  if (W.known_spectrum()) return *W.known_spectrum();
  if (W.agents() == 1) return {};
  if (W.agents() <= largest_dense) return dense_spectrum(W.matrix());
  // A Ritz value is off by the square of its residual over the spacing, or by the residual where the ends cluster. So
  // that is asked for in units of the gap, which a first look gives.
  const End glance = far_end(W.matrix(), 1, 1e-6);
  const double gap = std::max(0.0, 2 * (1 - glance.value));
  const End upper =
      glance.converged ? far_end(W.matrix(), 1, std::clamp(2e-7 * gap, 1e-13, 1e-8), &glance.block) : glance;
  const End lower = far_end(W.matrix(), -1, 1e-4);
  const bool measured = upper.converged && lower.converged;
  return {.lo = std::max(least_eigenvalue_bound(W.matrix()), lower.converged ? 1 - 2 * lower.value : -1),
          .hi = std::min(poincare_bound(W), upper.converged ? 2 * upper.value - 1 : 1),
          .measured = measured};
}

}  // namespace hearsay

#include "experiments/recursions.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "hearsay/linalg.hpp"
#include "hearsay/theory.hpp"

namespace hearsay::experiments {
namespace {

double norm_of(const Small<double>& M) { return spectral_norm<double>(Block<double>(M)); }

}  // namespace

Recursions::Recursions(const Vector<double>& eigenvalues, Index k, double beta)
    : wanted_(eigenvalues.head(k)), unwanted_(eigenvalues.tail(eigenvalues.size() - k)), beta_(beta) {
  const double lambda_k = eigenvalues(k - 1);
  // Below beta* the proof measures the gap from l_{k+1}.
  const double edge = std::max(2 * std::sqrt(beta), eigenvalues(k));
  G_bound_ = 1 / (0.5 - theory::noise_constant * (lambda_k - edge) / lambda_k);
}

void Recursions::follow(ConstBlockView<double> X, ConstBlockView<double> Xi) {
  const Index k = wanted_.size(), rest = unwanted_.size();
  const Small<double> I = Small<double>::Identity(k, k);
  const auto per_wanted = wanted_.cwiseInverse().asDiagonal();
  const Small<double> inverse = Small<double>(X.topRows(k)).inverse();
  const Block<double> H = X.bottomRows(rest) * inverse;
  const Small<double> E = per_wanted * (Xi.topRows(k) * inverse);
  const Block<double> Psi = Xi.bottomRows(rest) * inverse;

  const Small<double> G_inverse =
      first_ ? Small<double>(I / 2 + E) : Small<double>(I - beta_ * (per_wanted * G_prev_ * per_wanted) + E);
  const Small<double> G = G_inverse.inverse();
  const Small<double> step = G * per_wanted;  // C_t C_{t+1}^{-1}
  Small<double> C_next = I;
  if (first_) {
    C_ = I;
    C_next = wanted_.asDiagonal() * G_inverse;
    H_expected_ = (unwanted_.asDiagonal() * H / 2 + Psi) * step;
  } else {
    H_deviation_ = std::max(H_deviation_, (H - H_expected_).norm() / H.norm());
    C_next = wanted_.asDiagonal() * (G_inverse * C_);
    const Small<double> expected = wanted_.asDiagonal() * (C_ + E * C_) - beta_ * C_prev_;
    C_deviation_ = std::max(C_deviation_, (C_next - expected).norm() / C_next.norm());
    H_expected_ = (unwanted_.asDiagonal() * H - beta_ * (H_prev_ * (G_prev_ * per_wanted)) + Psi) * step;
  }
  G_over_bound_ = std::max(G_over_bound_, norm_of(G) / G_bound_);

  const double scale = C_next.norm();  // both recursions are linear in C
  C_prev_ = C_ / scale;
  C_ = C_next / scale;
  H_prev_ = H;
  G_prev_ = G;
  first_ = false;
}

void Recursions::tell(std::map<std::string, double>& facts) const {
  facts["H_deviation"] = H_deviation_;
  facts["C_deviation"] = C_deviation_;
  facts["G_over_bound"] = G_over_bound_;
}

}  // namespace hearsay::experiments

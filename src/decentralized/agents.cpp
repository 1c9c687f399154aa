#include "decentralized/agents.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/threads.hpp"

namespace hearsay::detail {
namespace {

// What b grows by from one agreement to the next while it is still finding its place.
constexpr double still_rising = 1.05;

// A change of b by this part of the gap lambda_k - b is not worth following.
constexpr double negligible = 0.02;

// Below this many multiply-adds a parallel region costs more than it saves.
[[maybe_unused]] int useful_threads(const Method& method, Index agents) {
  return double(agents * method.d) * double(method.p * method.p) < 2e5 ? 1 : threads();
}

}  // namespace

Agents::Agents(const Method& method, std::span<const OperatorRef<double>> A, const Block<double>& X_0)
    : method_(method), A_(A), states_(A.size()), present_(A.size()) {
  std::iota(present_.begin(), present_.end(), Index{0});
  for (Block<double>* stack : {&X_, &X_prev_, &G_, &Z_, &S_, &Y_}) stack->setZero(count(), method.d * method.p);
  for (Index i = 0; i < count(); ++i) {
    block(X_, i) = X_0;
    if (method.momentum.rule == Momentum::Rule::fixed) state(i).edge = method.momentum.edge;
  }
}

void Agents::prepare(bool afresh) {
  for (const Index i : present_) A_[static_cast<std::size_t>(i)].apply(block(X_, i), block(Y_, i));  // A_i X_t
#pragma omp parallel for schedule(static) num_threads(useful_threads(method_, count()))
  for (const Index i : present_) {
    subtract_momentum(i);
    if (method_.tracked && !afresh && !first_)
      Z_.row(i) = S_.row(i) + (Y_.row(i) - G_.row(i));
    else
      Z_.row(i) = Y_.row(i);
  }
  G_.swap(Y_);
}

// Y <- Y - M, halved at the first step, for p_1 = x/2. X_prev becomes X_{t-1} R_t^{-1}.
void Agents::subtract_momentum(Index i) {
  State& agent = state(i);
  const bool centred = method_.damping == Damping::centred;
  const double b = agent.edge;
  agent.shift = centred ? b / 2 : 0;
  agent.beta = first_ || agent.singular ? 0 : centred ? b * b / 16 : b * b / 4;
  if (agent.shift != 0) Y_.row(i) -= agent.shift * X_.row(i);
  if (agent.beta != 0) {
    auto X_prev = block(X_prev_, i);
    solve_right<double>(agent.R_0, X_prev);
    if (method_.polar) X_prev.leftCols(method_.k) = (X_prev.leftCols(method_.k) * agent.T).eval();
    Y_.row(i) -= agent.beta * X_prev_.row(i);
  }
  if (first_) Y_.row(i) /= 2;
}

void Agents::begin_epoch(const std::vector<Index>& present) {
  present_ = present;
  for (Block<double>* stack : {&G_, &Z_, &S_, &Y_}) stack->setZero();
  for (State& agent : states_) agent.edge = method_.momentum.rule == Momentum::Rule::fixed ? method_.momentum.edge : 0;
  agreed_edge_ = 0;
  rising_ = true;
  restart();
}

void Agents::keep() {
  kept_X_ = X_prev_;
  kept_ritz_.resize(states_.size());
  for (std::size_t i = 0; i < states_.size(); ++i) kept_ritz_[i] = states_[i].ritz;
}

void Agents::return_to_kept() {
  X_ = kept_X_;
  for (std::size_t i = 0; i < states_.size(); ++i) states_[i].ritz = kept_ritz_[i];
}

void Agents::agree_on_edge(double b, double lambda_k) {
  if (method_.momentum.rule != Momentum::Rule::automatic) return;
  rising_ = b > still_rising * agreed_edge_;
  if (!(std::abs(b - agreed_edge_) <= negligible * (lambda_k - b))) agreed_edge_ = b;
}

std::vector<Measured> Agents::advance(ConstBlockView<double> untold) {
  std::vector<Measured> measured(A_.size());
#pragma omp parallel for schedule(static) num_threads(useful_threads(method_, count()))
  for (const Index i : present_) {
    measured[static_cast<std::size_t>(i)] = measure(i, untold);
    if (measured[static_cast<std::size_t>(i)].finite) factor(i);
  }
  first_ = false;
  return measured;
}

Measured Agents::measure(Index i, ConstBlockView<double> untold) {
  State& agent = state(i);
  const Index k = method_.k;
  Y_.row(i) = (first_ ? 2 : 1) * S_.row(i);
  if (agent.beta != 0) Y_.row(i) += agent.beta * X_prev_.row(i);
  if (agent.shift != 0) Y_.row(i) += agent.shift * X_.row(i);
  const auto X = block(X_, i), P = block(Y_, i);
  Measured out{.beta = agent.beta, .edge = agent.edge, .finite = S_.row(i).allFinite()};
  if (!out.finite) return out;

  const Small<double> H = X.transpose() * P;
  out.edge = edge(H);
  agent.edge = rising_ ? out.edge : agreed_edge_;
  agent.ritz = symmetric_eigen<double>(H.topLeftCorner(k, k));
  out.lambda_k = agent.ritz.values(k - 1);

  const double scale = P.leftCols(k).norm();
  if (!(scale > 0)) return out;  // A is zero as far as this agent can see, and any basis will do
  const auto outside = [&](const Block<double>& E) -> double {  // ||E - X X'E||_F
    return (E - X.leftCols(k) * (X.leftCols(k).transpose() * E)).norm();
  };
  out.residual = outside(P.leftCols(k)) / scale;
  out.spread = (first_ ? 2 : 1) * outside((block(Z_, i) - block(S_, i)).leftCols(k)) / scale;
  if (untold.size() > 0) {
    const Eigen::Map<const Block<double>> kept(untold.row(i).data(), method_.d, method_.p);
    out.untold = (first_ ? 2 : 1) * outside(kept.leftCols(k)) / scale;
  }
  return out;
}

// b, the end of the damped interval: without a column to spare there is nothing to damp.
double Agents::edge(const Small<double>& H) const {
  switch (method_.momentum.rule) {
    case Momentum::Rule::automatic:
      return method_.p > method_.k ? std::max(0.0, symmetric_eigen<double>(H).values(method_.p - 1)) : 0;
    case Momentum::Rule::paper:
      return method_.p > method_.k ? std::abs(H.diagonal().minCoeff()) : 0;
    case Momentum::Rule::fixed:
      return method_.momentum.edge;
    case Momentum::Rule::none:
      break;
  }
  return 0;
}

// S = X_{t+1} R_{t+1}. The polar factor of the first k columns is the Q of their QR turned by T = U V', from R_0 = U
// Sigma V' on them; the columns after stay as Gram-Schmidt left them.
void Agents::factor(Index i) {
  State& agent = state(i);
  const Index k = method_.k;
  X_prev_.row(i) = X_.row(i);
  X_.row(i) = S_.row(i);
  auto X = block(X_, i);
  agent.singular = thin_qr<double>(X, agent.R_0).rank_deficient;
  if (!method_.polar) return;
  const Eigen::JacobiSVD<Small<double>> svd(agent.R_0.topLeftCorner(k, k), Eigen::ComputeFullU | Eigen::ComputeFullV);
  agent.T = svd.matrixU() * svd.matrixV().transpose();
  X.leftCols(k) = (X.leftCols(k) * agent.T).eval();
}

Eigen::Map<const Block<double>, 0, Eigen::OuterStride<>> Agents::basis(Index i) const {
  return {X_.row(i).data(), method_.d, method_.k, Eigen::OuterStride<>(method_.p)};
}

Block<double> Agents::eigenvectors(Index i) const {
  const auto& ritz = states_[static_cast<std::size_t>(i)].ritz;
  Block<double> V = ritz.vectors.size() == 0 ? Block<double>(basis(i)) : Block<double>(basis(i) * ritz.vectors);
  canonical_signs<double>(V);
  return V;
}

double Agents::conservation_error() const {
  const double scale = G_.colwise().sum().norm();  // who is not present has zeros
  return scale > 0 ? (S_ - G_).colwise().sum().norm() / scale : 0;
}

}  // namespace hearsay::detail

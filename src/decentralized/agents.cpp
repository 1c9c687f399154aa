#include "decentralized/agents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "decentralized/kept_state.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/random.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/worth_threads.hpp"

namespace hearsay::detail {
namespace {

// What b grows by from one agreement to the next while it is still finding its place.
constexpr double still_rising = 1.05;

// A change of b by this part of the gap lambda_k - b is not worth following.
constexpr double negligible = 0.02;

// What the columns of a given start are given of a random block, so that there is something of every direction in them.
constexpr double of_chance = 0.1;

// How far a state's Y'Y may be from the identity: far above rounding, far below what would change a subspace.
constexpr double not_orthonormal = 1e-8;

// What is no larger than this, relative to the whole, is rounding.
double none_of(Index d) { return 32 * std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(d)); }

[[maybe_unused]] int useful_threads(const Method& method, Index agents) {
  return detail::worth_threads(double(agents * method.d) * double(method.p * method.p));
}

}  // namespace

Block<double> first_block(const Method& method, std::uint64_t seed, const Block<double>* start) {
  Block<double> X = random_orthonormal<double>(method.d, method.p, {.seed = seed, .stream = Stream::start_block});
  if (start == nullptr) return X;
  require(start->rows() == method.d && start->cols() == method.k && start->allFinite(),
          fmt::format("start of {} x {}: must be {} x {} finite numbers", start->rows(), start->cols(), method.d,
                      method.k));
  X.leftCols(method.k) = (of_chance * X.leftCols(method.k) + *start).eval();
  Small<double> R;
  thin_qr<double>(X, R);
  return X;
}

Agents::Agents(const Method& method, std::span<const OperatorRef<double>> A, const Block<double>& X_0)
    : method_(method), A_(A), states_(A.size()), present_(A.size()) {
  std::iota(present_.begin(), present_.end(), Index{0});
  for (Block<double>* stack : {&X_, &X_prev_, &G_, &Z_, &S_, &Y_}) stack->setZero(count(), method.d * method.p);
  for (Index i = 0; i < count(); ++i) {
    block(X_, i) = X_0;
    state(i).lead = Small<double>::Identity(method.p, method.k);
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
  divided_ = false;
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
    if (!divided_) divide_previous(i);
    Y_.row(i) -= agent.beta * X_prev_.row(i);
  }
  if (first_) Y_.row(i) /= 2;
}

// X_prev <- X_{t-1} R_t^{-1}.
void Agents::divide_previous(Index i) {
  const State& agent = state(i);
  auto X_prev = block(X_prev_, i);
  solve_right<double>(agent.R_0, X_prev);
  if (method_.polar) X_prev.leftCols(turned()) = (X_prev.leftCols(turned()) * agent.T).eval();
}

void Agents::narrow(const Small<double>& W) {
  for (const Index i : present_)
    if (!state(i).singular) divide_previous(i);
  const Index p = W.cols();
  for (Block<double>* stack : {&X_, &X_prev_, &G_, &S_}) {
    Block<double> narrower(count(), method_.d * p);
    for (Index i = 0; i < count(); ++i)
      Eigen::Map<Block<double>>(narrower.row(i).data(), method_.d, p) = block(*stack, i) * W;
    stack->swap(narrower);
  }
  for (Block<double>* stack : {&Z_, &Y_}) stack->setZero(count(), method_.d * p);
  method_.p = p;
  method_.ritz = false;
  divided_ = true;
  for (State& agent : states_) agent.lead = Small<double>::Identity(p, method_.k);
  agreed_edge_ = 0;
  rising_ = true;
}

void Agents::begin_anew(const std::vector<Index>& present, const Block<double>& random) {
  present_ = present;
  Small<double> R;
  for (const Index i : present_) {
    block(X_, i) += random;
    thin_qr<double>(block(X_, i), R);
  }
  for (Block<double>* stack : {&G_, &Z_, &S_, &Y_}) stack->setZero();
  for (State& agent : states_) agent.edge = method_.momentum.rule == Momentum::Rule::fixed ? method_.momentum.edge : 0;
  agreed_edge_ = 0;
  rising_ = true;
  restart();
}

void Agents::keep() {
  kept_X_ = X_prev_;
  kept_ritz_.resize(states_.size());
  kept_next_.resize(states_.size());
  for (std::size_t i = 0; i < states_.size(); ++i) {
    kept_ritz_[i] = states_[i].ritz;
    kept_next_[i] = states_[i].next;
  }
}

void Agents::return_to_kept() {
  X_ = kept_X_;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    states_[i].ritz = kept_ritz_[i];
    states_[i].next = kept_next_[i];
    states_[i].lead.topRows(states_[i].ritz.vectors.rows()) = states_[i].ritz.vectors;
  }
}

void Agents::agree_on_edge(double b, double lambda_k) {
  if (method_.momentum.rule != Momentum::Rule::automatic) return;
  rising_ = b > still_rising * agreed_edge_;
  if (!(std::abs(b - agreed_edge_) <= negligible * (lambda_k - b))) agreed_edge_ = b;
}

std::vector<Measured> Agents::advance(ConstBlockView<double> unsent) {
  std::vector<Measured> measured(A_.size());
#pragma omp parallel for schedule(static) num_threads(useful_threads(method_, count()))
  for (const Index i : present_) {
    measured[static_cast<std::size_t>(i)] = measure(i, unsent);
    if (measured[static_cast<std::size_t>(i)].finite) factor(i);
  }
  first_ = false;
  return measured;
}

Measured Agents::measure(Index i, ConstBlockView<double> unsent) {
  State& agent = state(i);
  const Index k = method_.k;
  Y_.row(i) = (first_ ? 2 : 1) * S_.row(i);
  if (agent.beta != 0) Y_.row(i) += agent.beta * X_prev_.row(i);
  if (agent.shift != 0) Y_.row(i) += agent.shift * X_.row(i);
  const auto X = block(X_, i), P = block(Y_, i);
  Measured out{.beta = agent.beta, .edge = agent.edge, .finite = S_.row(i).allFinite()};
  if (!out.finite) return out;

  const Small<double> H = X.transpose() * P;
  agent.next = method_.p == k + 1 && !method_.ritz ? symmetric_eigen<double>(H).values(k)
                                                   : std::numeric_limits<double>::quiet_NaN();
  out.edge = edge(H, agent.next);
  agent.edge = rising_ ? out.edge : agreed_edge_;
  agent.ritz = leading_ritz(H, agent.lead);
  out.lambda_k = agent.ritz.values(k - 1);
  double next = 0;
  if (method_.ritz) {
    agent.next = next = agent.ritz.values(k);
    agent.turn = agent.ritz.vectors;
    agent.ritz = {.values = agent.ritz.values.head(k).eval(), .vectors = agent.ritz.vectors.leftCols(k).eval()};
  }

  const auto answer_of = [&](const auto& E) -> Block<double> {  // its part that belongs to the k columns of the answer
    if (method_.ritz) return E * agent.ritz.vectors;
    return E.leftCols(k);
  };
  const Block<double> V = answer_of(X), AV = answer_of(P);
  const auto outside = [&](const Block<double>& E) -> double { return (E - V * (V.transpose() * E)).norm(); };
  const double scale = AV.norm();
  if (!(scale > 0)) return out;  // A is zero as far as this agent can see, and any basis will do
  out.residual = outside(AV) / scale;
  // With k = d, or data of a rank below p, nothing is outside, and noise shows in the eigenvalues alone.
  const double rounding = none_of(method_.d);
  const bool low_rank = agent.low_rank && out.residual <= rounding, all_inside = k == method_.d || low_rank;
  if (low_rank) {  // V'AV is symmetric, and what is not was made of blocks that differ from agent to agent
    const Small<double> inside = V.transpose() * AV;
    out.residual = std::hypot(out.residual, (inside - inside.transpose()).norm() / (2 * scale));
  }
  const auto noise = [&](const Block<double>& E) -> double { return all_inside ? E.norm() : outside(E); };
  if (method_.ritz) out.sine = std::min(1.0, out.residual * out.lambda_k / std::max(1e-300, out.lambda_k - next));
  out.spread = (first_ ? 2 : 1) * noise(answer_of(block(Z_, i) - block(S_, i))) / scale;
  if (unsent.size() > 0) {
    const Eigen::Map<const Block<double>> kept(unsent.row(i).data(), method_.d, method_.p);
    out.unsent = (first_ ? 2 : 1) * noise(answer_of(kept)) / scale;
  }
  return out;
}

// H is not quite symmetric: its columns carry the noise of the block's columns, and only that of the answer is kept
// small. What couples the answer to the rest is therefore taken from the answer's columns alone; averaged with its
// transpose it would let in the noise of the rest, magnified by the gap between the k-th and the next eigenvalue.
SmallEigen<double> Agents::leading_ritz(const Small<double>& H, const Small<double>& lead) const {
  const Index k = method_.k, rest = method_.p - k;
  if (!method_.ritz) return symmetric_eigen<double>(H.topLeftCorner(k, k));
  const Small<double> Q = detail::householder_basis(lead);  // its first k columns span the answer
  Small<double> turned = Q.transpose() * H * Q;
  turned.topRightCorner(k, rest) = turned.bottomLeftCorner(rest, k).transpose().eval();
  const SmallEigen<double> all = symmetric_eigen<double>(turned);
  return {.values = all.values.head(k + 1), .vectors = Q * all.vectors.leftCols(k + 1)};
}

// b, the end of the damped interval: without a column to spare there is nothing to damp.
double Agents::edge(const Small<double>& H, double next) const {
  switch (method_.momentum.rule) {
    case Momentum::Rule::automatic:
      if (method_.p <= method_.k) return 0;
      return std::max(0.0, std::isnan(next) ? symmetric_eigen<double>(H).values(method_.p - 1) : next);
    case Momentum::Rule::paper:
      return method_.p > method_.k ? std::abs(H.diagonal().minCoeff()) : 0;
    case Momentum::Rule::fixed:
      return method_.momentum.edge;
    case Momentum::Rule::none:
      break;
  }
  return 0;
}

// S = X_{t+1} R_{t+1}. A polar factor is the Q of a QR turned by T = U V', from R_0 = U Sigma V'; the columns after it
// stay as Gram-Schmidt left them.
void Agents::factor(Index i) {
  State& agent = state(i);
  X_prev_.row(i) = X_.row(i);
  X_.row(i) = S_.row(i);
  auto X = block(X_, i);
  agent.singular = thin_qr<double>(X, agent.R_0).rank_deficient;
  agent.low_rank = agent.R_0.diagonal().minCoeff() <= none_of(method_.d) * agent.R_0.diagonal().maxCoeff();
  if (method_.polar) {
    const auto svd = detail::singular_value_decomposition<double>(agent.R_0.topLeftCorner(turned(), turned()));
    agent.T = svd.U * svd.V.transpose();
    X.leftCols(turned()) = (X.leftCols(turned()) * agent.T).eval();
  }
  carry_lead(i);
}

// The Ritz vectors of X_t that S took one step further are S Y = X_{t+1} R_{t+1} Y.
void Agents::carry_lead(Index i) {
  State& agent = state(i);
  const Index k = method_.k;
  if (!method_.ritz) {
    agent.lead.topRows(k) = agent.ritz.vectors;
    return;
  }
  const Small<double> carried = agent.T.transpose() * (agent.R_0 * agent.turn);
  agent.turn = detail::householder_columns(carried, k + 1);
  agent.lead = agent.turn.leftCols(k);
}

Block<double> Agents::answer(const Block<double>& X, Index i, const Small<double>& lead) const {
  Block<double> V = Eigen::Map<const Block<double>>(X.row(i).data(), method_.d, method_.p).leftCols(lead.rows()) * lead;
  canonical_signs<double>(V);
  return V;
}

Block<double> Agents::eigenvectors(Index i) const { return answer(X_, i, states_[static_cast<std::size_t>(i)].lead); }

Block<double> Agents::kept_eigenvectors(Index i) const {
  return answer(kept_X_, i, kept_ritz_[static_cast<std::size_t>(i)].vectors);
}

double Agents::conservation_error() const {
  const double scale = G_.colwise().sum().norm();  // who is not present has zeros
  return scale > 0 ? (S_ - G_).colwise().sum().norm() / scale : 0;
}

std::pair<double, double> Agents::witness(std::uint64_t seed) const {
  const auto S = S_.row(present_.front()), G = G_.row(present_.front());
  double off = 0;
  std::uint64_t signs = 0;
  for (Index j = 0; j < S.cols(); ++j) {
    if (j % 64 == 0) {  // splitmix64
      seed += 0x9e3779b97f4a7c15ull;
      signs = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ull;
      signs = (signs ^ signs >> 27) * 0x94d049bb133111ebull;
      signs ^= signs >> 31;
    }
    const double apart = S(j) - G(j);
    off += (signs >> (j % 64) & 1) != 0 ? apart : -apart;
  }
  return {off, S.norm() + G.norm()};
}

void Agents::require_sound_state() {
  const Index p = method_.p, k = method_.k;
  require_sound(p >= k && p <= method_.d && (method_.ritz ? p > k + 1 : p <= k + 1), "the number of columns");
  for (const Block<double>* stack : {&X_, &X_prev_, &G_, &S_})
    require_sound(stack->rows() == count() && stack->cols() == method_.d * p && stack->allFinite(), "a block");
  for (Block<double>* stack : {&Z_, &Y_}) stack->setZero(count(), method_.d * p);
  const auto is = [](const Small<double>& M, Index rows, Index cols) {
    return M.rows() == rows && M.cols() == cols && M.allFinite();
  };
  for (const State& agent : states_) {
    require_sound(is(agent.lead, p, k) && agent.ritz.values.size() == k && agent.ritz.values.allFinite(),
                  "the answer so far");
    // Of a block that is narrow the top is replaced at every step, and the rest is what it was.
    const double off = (agent.lead.transpose() * agent.lead - Small<double>::Identity(k, k)).norm();
    require_sound(off <= not_orthonormal && (method_.ritz || agent.lead.bottomRows(p - k).isZero(0)),
                  "the answer within the block");
    require_sound(divided_ || (is(agent.R_0, p, p) && (!method_.polar || is(agent.T, turned(), turned()))),
                  "the factor of the last step");
    require_sound(std::isfinite(agent.beta) && std::isfinite(agent.edge) && std::isfinite(agent.shift), "the momentum");
  }
}

}  // namespace hearsay::detail

#include "experiments/promise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/gossip.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/random.hpp"
#include "hearsay/theory.hpp"

namespace hearsay::experiments {
namespace {

// Constants of the proof (Proposition adepm_lemma).
constexpr double c_3 = 1.0 / 1250, c_4 = 1.0 / 200;

struct Problem {
  const Agents& agents;
  Index k;
  double l_k, beta, gap;
  theory::Target target;  // of the mean iterate: half the level, because the theorem's agents end within twice epsilon
};

// X_t, X_{t-1} and R_t of one iterate, an agent's or the mean one.
struct Iterate {
  Block<double> X, X_prev;
  Small<double> R = {};

  // A X_t - beta X_{t-1} R_t^{-1}, from A X_t.
  void subtract_momentum(double beta, Block<double>& AX) const {
    Block<double> back = X_prev;
    solve_right<double>(R, back);
    AX -= beta * back;
  }

  void step(Block<double> Y) {
    X_prev = std::move(X);
    thin_qr<double>(Y, R);
    X = std::move(Y);
  }
};

// The iterates of all agents, made anew beside the run, and the mean one.
class Shadow {
 public:
  Shadow(const Problem& problem, GossipKind gossip, Index rounds, std::uint64_t seed)
      : problem_(problem),
        A_(problem.agents.operators()),
        net_(problem.agents.gossip_matrix(), problem.agents.spectrum()),
        gossip_(gossip),
        rounds_(rounds),
        U_(problem.agents.leading(problem.k)),
        d_(problem.agents.dim()),
        alpha_0_(theory::alpha_0(problem.target)),
        allowed_(theory::noise_anpm(problem.l_k, problem.beta, problem.target.epsilon, 1).outside) {
    const Block<double> X_0 = random_orthonormal<double>(d_, problem.k, {.seed = seed});
    iterates_.assign(A_.size(), {.X = X_0, .X_prev = {}});
    mean_ = {.X = X_0, .X_prev = {}};
    for (std::size_t i = 0; i < A_.size(); ++i) half(i) = product(i, X_0) / 2;
    advance();
  }

  // From X_t to X_{t+1}, t >= 1, with (P_t) on the way; returns sin(theta_k) of the worst agent at X_t.
  double follow() {
    const double M = problem_.agents.largest_norm(), gap = problem_.gap, epsilon = problem_.target.epsilon;
    const double X_allowed = c_4 / M * gap * std::pow(alpha_0_, 2) * epsilon;
    double worst = 0;
    for (std::size_t i = 0; i < A_.size(); ++i) {
      worst = std::max(worst, sin_theta<double>(U_, iterates_[i].X));
      Y_over_ = std::max(Y_over_, (gossiped(i) - Y_mean_).norm() / Y_allowed());
      X_over_ = std::max(X_over_, (iterates_[i].X - mean_.X).norm() / X_allowed);
    }

    Block<double> exact = Block<double>::Zero(d_, problem_.k);  // A Xbar_t, then the whole step without noise
    for (std::size_t i = 0; i < A_.size(); ++i) {
      exact += product(i, mean_.X) / static_cast<double>(A_.size());
      Block<double> AX = product(i, iterates_[i].X);
      iterates_[i].subtract_momentum(problem_.beta, AX);
      half(i) = AX;
    }
    mean_.subtract_momentum(problem_.beta, exact);
    const double cosine = cos_theta<double>(U_, mean_.X);
    advance();
    noise_over_ = std::max(noise_over_, spectral_norm<double>(Y_mean_ - exact) / (allowed_ * cosine));
    return worst;
  }

  void tell(std::map<std::string, double>& facts) const {
    facts["Y_over_allowed"] = Y_over_;
    facts["Y_allowed"] = Y_allowed();
    facts["X_over_allowed"] = X_over_;
    facts["noise_over_allowed"] = noise_over_;
  }

 private:
  double Y_allowed() const {
    return c_3 * problem_.l_k * std::pow(alpha_0_, 5) / problem_.agents.largest_norm() * problem_.gap *
           problem_.target.epsilon;
  }

  using View = Eigen::Map<Block<double>>;

  View block(Block<double>& stack, std::size_t i) {
    stack.resize(std::ssize(A_), d_ * problem_.k);  // nothing where it has that shape
    return {stack.row(static_cast<Index>(i)).data(), d_, problem_.k};
  }
  View half(std::size_t i) { return block(half_, i); }          // Y_{i,t+1/2}
  View gossiped(std::size_t i) { return block(gossiped_, i); }  // Y_{i,t}

  Block<double> product(std::size_t i, const Block<double>& X) const {
    Block<double> AX(d_, problem_.k);
    A_[i].apply(X, AX);
    return AX;
  }

  // Gossips the steps and factors what comes of them; the mean is that before the gossip, which does not change it.
  void advance() {
    Y_mean_ = Block<double>::Zero(d_, problem_.k);
    for (std::size_t i = 0; i < A_.size(); ++i) Y_mean_ += half(i) / static_cast<double>(A_.size());
    gossiped_ = gossip(net_, gossip_, rounds_, half_);
    for (std::size_t i = 0; i < A_.size(); ++i) iterates_[i].step(gossiped(i));
    mean_.step(Y_mean_);
  }

  Problem problem_;
  std::vector<OperatorRef<double>> A_;
  LocalNetwork net_;
  GossipKind gossip_;
  Index rounds_;
  Block<double> U_;
  Index d_;
  double alpha_0_, allowed_;
  std::vector<Iterate> iterates_;
  Iterate mean_;
  Block<double> half_, gossiped_, Y_mean_;
  double Y_over_ = 0, X_over_ = 0, noise_over_ = 0;
};

void audit(const PromiseRun& run, const Problem& problem, Index rounds, std::uint64_t seed, Trace& trace) {
  Shadow shadow(problem, run.agents.gossip, rounds, seed);
  double deviation = 0;
  for (std::size_t t = 1; t < trace.error.size(); ++t)
    deviation = std::max(deviation, std::abs(shadow.follow() - trace.error[t]));
  trace.facts["shadow_deviation"] = deviation;
  shadow.tell(trace.facts);
}

}  // namespace

Trace trace(const PromiseRun& run, std::uint64_t seed) {
  require(run.level > 0 && run.level < 1, fmt::format("level = {}: must lie between 0 and 1", run.level));
  AgentsRun one = run.agents;
  one.algorithm = Algorithm::adepm;
  one.momentum = AgentsRun::Rule::optimal;
  one.rounds = one.iterations = 1;
  const double sine_0 = experiments::trace(one, seed).error.front();

  const Agents& agents = *run.agents.agents;
  const double l_k = agents.eigenvalue(one.rank - 1), l_next = agents.eigenvalue(one.rank);
  const Problem problem{.agents = agents,
                        .k = one.rank,
                        .l_k = l_k,
                        .beta = theory::optimal_beta(l_next),
                        .gap = l_k - l_next,
                        .target = {.epsilon = run.level / 2, .h0 = sine_0 / std::sqrt((1 - sine_0) * (1 + sine_0))}};
  const theory::NetworkFacts network{
      .agents = agents.gossip_matrix().agents(), .gamma = agents.spectrum().gap(), .local_norm = agents.largest_norm()};
  const double T = theory::iterations_anpm(l_k, problem.beta, problem.target);
  const double L = theory::gossip_rounds_adepm(network, one.rank, l_k, problem.beta, problem.target);
  one.rounds = run.rounds > 0 ? run.rounds : static_cast<Index>(std::ceil(L));
  one.iterations = 2 * static_cast<Index>(std::ceil(T));

  Trace trace = experiments::trace(one, seed);
  const auto from = trace.error.begin() + static_cast<std::ptrdiff_t>(std::ceil(T));
  trace.facts["T"] = T;
  trace.facts["promised_rounds"] = L;
  trace.facts["worst_over_level"] = *std::max_element(from, trace.error.end()) / run.level;
  if (run.audit) audit(run, problem, one.rounds, seed, trace);
  return trace;
}

}  // namespace hearsay::experiments

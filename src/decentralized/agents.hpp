// What each agent does by itself, between two gossips.
//
// Legend      X  d x p orthonormal | G  the step before gossip, A_i X_t - M_i | M  shift X_t + beta X_{t-1} R_t^{-1}
//             Z  what goes into the gossip, S what comes out | P = S + M, which approximates A X_t | H = X'P
//             S = X_{t+1} R_{t+1}, R = T'R_0: a QR (T = I), or a polar factor of the first k columns, or of all (Ritz)
//             V = X lead, the answer: lead has the Ritz vectors of H, carried along from X_t to X_{t+1}
#pragma once

#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/decentralized.hpp"
#include "hearsay/linalg.hpp"

namespace hearsay::detail {

/// Everything chosen before the first step; the same at every agent.
struct Method {
  Index d = 0, k = 0, p = 0;
  bool tracked = false;      ///< gossip corrects S instead of starting from G
  bool polar = false;        ///< factor by polar decomposition, so that columns do not turn from step to step
  bool nonnegative = false;  ///< A is known to have no eigenvalue below zero
  bool ritz = false;         ///< the answer is the leading k Ritz vectors of the block; else its first k columns
  int exponent = 0;          ///< all A_i are divided by 2^exponent, and so is the momentum's edge
  Momentum momentum = {};    ///< none for the plain methods
  Damping damping = Damping::symmetric;
};

/// What an agent can tell of its own X_t once it has P.
struct Measured {
  double residual = 0;  ///< ||P - X X'P||_F / ||P||_F over the first k columns
  double spread = 0;    ///< ||(I - X X')(Z - S)||_F / ||P||_F: how far its block was from what gossip made of it
  double unsent = 0;    ///< the same of what rounding kept from the neighbours in the last round
  double beta = 0;      ///< of the step that ends here
  double edge = 0;      ///< b, as this agent estimates it
  double lambda_k = 0;  ///< as this agent estimates it
  double sine = 0;      ///< the residual over the gap below lambda_k, where the block can see it; at most 1
  bool finite = true;
};

/// X_0, the same at every agent: random, or a start given, and something random of every direction.
Block<double> first_block(const Method& method, std::uint64_t seed, const Block<double>* start);

/// The local agents' blocks, stacked as Network wants them: row i is agent i's d x p block.
class Agents {
 public:
  Agents(const Method& method, std::span<const OperatorRef<double>> A, const Block<double>& X_0);

  /// Z_i <- G_i or, tracked and not afresh, S_i + G_{i,t} - G_{i,t-1}.
  void prepare(bool afresh);

  /// From S_i: P_i, what it tells, the next momentum, and X_{i,t+1}, R_{i,t+1}. `unsent` is the network's. One entry
  /// for every agent here; those that are not present tell nothing.
  std::vector<Measured> advance(ConstBlockView<double> unsent);

  /// The least b and lambda_k that any agent estimated, some steps ago. Once estimates no longer rise all use the same
  /// b, for then M is the same linear map everywhere, and P = S + M owes nothing to differences between the agents; and
  /// one that does not move for a small part of the gap, for then G and so S come to rest.
  void agree_on_edge(double b, double lambda_k);

  /// The next step is a first one again: no momentum, and S starts from G.
  void restart() { first_ = true; }

  /// The agents present from now on, by their place here. What was estimated is forgotten, and X_t, with the same
  /// random block added everywhere, is the X_0 of a new beginning: X_t alone may be invariant under A without being
  /// what is looked for, and no step would leave it.
  void begin_anew(const std::vector<Index>& present, const Block<double>& random);

  /// How the columns of agent i's block are to be turned for the answer to become the first k of k + 1: p x (k + 1).
  const Small<double>& turn(Index i) const { return states_[static_cast<std::size_t>(i)].turn; }

  /// Turns every block by the same W, orthonormal. Being common it commutes with gossip: S, G and the momentum go on as
  /// if nothing had happened, only that the block is narrower, and the answer its first k columns.
  void narrow(const Small<double>& W);

  /// Keeps X_t, which the latest measurements are of, for as long as others may decide by them.
  void keep();

  /// The answer that was kept, as eigenvectors(), eigenvalues() and next_eigenvalue() give the latest.
  Block<double> kept_eigenvectors(Index i) const;
  const Vector<double>& kept_eigenvalues(Index i) const { return kept_ritz_[static_cast<std::size_t>(i)].values; }
  double kept_next(Index i) const { return kept_next_[static_cast<std::size_t>(i)]; }
  void return_to_kept();

  Index count() const { return static_cast<Index>(A_.size()); }
  const std::vector<Index>& present() const { return present_; }
  Block<double>& X() { return X_; }
  const Block<double>& Z() const { return Z_; }
  Block<double>& S() { return S_; }

  /// V of agent i: approximate eigenvectors, orthonormal, and their Ritz values by the latest H.
  Block<double> eigenvectors(Index i) const;
  Vector<double> eigenvalues(Index i) const { return states_[static_cast<std::size_t>(i)].ritz.values; }

  /// The Ritz value after the k-th, where there is a column to spare; else NaN.
  double next_eigenvalue(Index i) const { return states_[static_cast<std::size_t>(i)].next; }

  /// ||mean S_i - mean G_i||_F / ||mean G_i||_F, over the agents here and present.
  double conservation_error() const;

  /// Random signs, the same at every agent, times S_i - G_i, and ||S_i|| + ||G_i||, of the first agent here.
  std::pair<double, double> witness(std::uint64_t seed) const;

  /// All that the next step needs: see kept_state.hpp.
  template <class Archive>
  void fields(Archive& archive) {
    archive(method_.p), archive(method_.ritz);
    for (Block<double>* stack : {&X_, &X_prev_, &G_, &S_}) archive(*stack);
    for (State& agent : states_) {
      archive(agent.R_0), archive(agent.T), archive(agent.singular), archive(agent.low_rank), archive(agent.shift);
      archive(agent.beta), archive(agent.edge), archive(agent.next), archive(agent.ritz), archive(agent.lead);
      archive(agent.turn);
    }
    archive(agreed_edge_), archive(rising_), archive(first_), archive(divided_);
  }

  /// After reading them: every shape is what it must be, or DataError.
  void require_sound_state();
  const Method& method() const { return method_; }

 private:
  struct State {
    Small<double> R_0, T;        // R^{-1} = R_0^{-1} T
    bool singular = false;       // R_0 is, and momentum must skip a step
    bool low_rank = false;       // S has columns that others span but for rounding, or that are rounding themselves
    double shift = 0, beta = 0;  // of the step in progress
    double edge = 0;             // b, for the next one
    double next = std::numeric_limits<double>::quiet_NaN();  // the Ritz value after the k-th
    SmallEigen<double> ritz = {};  // the k leading pairs of H, or all of its leading k x k part
    Small<double> lead;            // p x k
    Small<double> turn;            // p x (k + 1): lead, and the next Ritz vector
  };

  Eigen::Map<Block<double>> block(Block<double>& stack, Index i) const {
    return {stack.row(i).data(), method_.d, method_.p};
  }
  State& state(Index i) { return states_[static_cast<std::size_t>(i)]; }

  void subtract_momentum(Index i);
  Measured measure(Index i, ConstBlockView<double> unsent);
  SmallEigen<double> leading_ritz(const Small<double>& H, const Small<double>& lead) const;
  double edge(const Small<double>& H, double next) const;
  Block<double> answer(const Block<double>& X, Index i, const Small<double>& lead) const;
  void factor(Index i);
  void carry_lead(Index i);
  void divide_previous(Index i);
  Index turned() const { return method_.ritz ? method_.p : method_.k; }  // columns of the polar factor

  Method method_;
  std::span<const OperatorRef<double>> A_;
  Block<double> X_, X_prev_, G_, Z_, S_, Y_;  // Y: A_i X_i, then the new G, then P
  std::vector<State> states_;
  std::vector<Index> present_;
  Block<double> kept_X_;
  std::vector<SmallEigen<double>> kept_ritz_;
  std::vector<double> kept_next_;
  double agreed_edge_ = 0;
  bool rising_ = true;  // agreed values are out of date, and each agent goes by its own
  bool first_ = true;
  bool divided_ = false;  // X_prev is X_{t-1} R_t^{-1} already
};

}  // namespace hearsay::detail

// Below the noise floor: averages of a power iteration's blocks, the answer they hold, and how far off it is.
//
// Method      While the transient runs, the block is wide. When it is over, X turns to its k + 1 leading Ritz vectors,
//             the recurrence goes on with momentum, and every step adds to sums, with C = X'ref and H = X'(A X + Xi):
//               S += X C,    G += C'HC,    W += C'C
//             The answer: sym(G) a_i = theta_i W a_i,  V = orth(S [a_1 .. a_k]).
//             Epochs double in length. The first is forgotten, and later ones that disagree with those after them, so
//             that what was averaged too early does not count.
// Reference   docs/algorithms/noise.md
// Legend      p  columns of the block, k + 1 | ref  d x p, the averaged Ritz basis of earlier epochs | n  steps so far
#pragma once

#include <optional>
#include <string>

#include "solver/power_run.hpp"

namespace hearsay::detail {

/// What the averages say.
template <class S>
struct Averaged {
  Block<S> V;            ///< d x k, orthonormal, by decreasing theta
  Vector<double> theta;  ///< p of them, in the units of the state
  ErrorBar bar = {};     ///< eigenvalues in the units of the state
};

template <class S>
class Averaging {
 public:
  explicit Averaging(PowerRun<S>& run) : run_(run), state_(run.state.averaging) {}

  /// Whether the solve ends by averages: products are noisy, and the method is not the paper's.
  bool applies() const { return run_.plan.averages && run_.products_are_noisy() && run_.k() < run_.d(); }
  bool begun() const { return state_.begun(); }
  Index steps() const;
  /// Numbers held for the averages, and for a look at them.
  Index workspace_numbers() const { return begun() ? 8 * run_.d() * run_.p() : 0; }

  /// X_t and its H join the averages; a new epoch begins where one is full.
  void take(const Small<S>& H);

  /// b of the step to come, where the block's least Ritz value is so much.
  double edge(double least) const { return begun() && state_.edge > 0 ? std::min(state_.edge, least) : least; }

  /// V by the averages so far, where anybody looks at it.
  Block<S> basis() const;

  /// Why to stop, or nothing.
  std::optional<Status> verdict();

  /// Columns leave the block: those that do not pay while the transient runs, all but k + 1 when it is over, from where
  /// on steps are averaged.
  void choose_columns();

  /// What the averages say at the end.
  Averaged<S> answer() const;
  /// And in words.
  std::vector<std::string> notes(const ErrorBar& bar) const;

 private:
  struct Extraction {
    Block<S> Q;            // d x p, the span of S
    Small<double> U;       // p x p: the Ritz basis is Q U
    Small<double> R;       // S = Q R
    Vector<double> theta;  // of sym(G) a = theta W a
  };
  Extraction extract(const EpochSums<S>& sums) const;
  EpochSums<S> sum_of(std::size_t first, std::size_t last) const;
  std::size_t first_of_use() const;
  double difference(const Extraction& at, const EpochSums<S>& one, const EpochSums<S>& other, Block<S>& D) const;
  double outside(const Extraction& at, std::size_t first, Vector<double>& columns) const;
  Small<double> describe_inside(const Extraction& at, std::size_t first, ErrorBar& bar) const;
  bool drifts(const Small<double>& variance) const;
  Small<double> cosines_squared(const Block<S>& V, const EpochSums<S>& sums) const;
  void look_for_bias(const EpochSums<S>& sums, ErrorBar& bar) const;
  void make_room();
  void begin_epoch();
  std::optional<Status> look_at_the_bar();
  double steps_needed(const ErrorBar& bar) const;
  Index best_width() const;
  Index most_steps() const;
  Index default_steps() const;
  bool transient_is_over() const;
  double progress() const;
  bool budget_is_spent(Index columns) const;

  PowerRun<S>& run_;
  AveragingState<S>& state_;
  Block<S> step_;  // X C
};

}  // namespace hearsay::detail

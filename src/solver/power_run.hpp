// What the parts of a power iteration share: what is settled before it, the state of the recurrence, and the latest
// look.
//
// Legend      d, k, p  dimension, rank, block columns now | X  d x p orthonormal | Y  A X_t, then Y_{t+1} | R  p x p
// upper
//             triangular | V  d x k, the answer so far
#pragma once

#include "hearsay/linalg.hpp"
#include "solver/certificate.hpp"
#include "solver/choices.hpp"
#include "solver/extract.hpp"
#include "solver/outcome.hpp"
#include "solver/stopping.hpp"

namespace hearsay::detail {

template <class S>
struct PowerRun {
  /// X_0, or the state that is to be gone on from.
  PowerRun(OperatorRef<S> matrix, const PowerOptions& options, const Hooks<S>& hooks, const Known& known);

  // ---- Settled before the first step, and the same to the end

  const OperatorRef<S> A;
  const PowerOptions& options;
  const Hooks<S>& hooks;
  const Known known;  ///< of a solve that this one goes on from
  const OperatorFacts facts;
  const Plan plan;
  const StoppingFacts stopping;
  const Goal goal;

  // ---- The recurrence

  PowerState<S> state;
  Block<S> Y;
  int exponent = 0;  ///< the units of theta, of the state and of the operator together: 2^exponent
  bool widened = false;
  int joins = 0;  ///< times that columns which were missed have joined the block

  // ---- The latest look

  SmallEigen<S> rotation;    ///< from X's columns to the Ritz vectors
  Extracted<S> now;          ///< Ritz values and residuals of X_t; V where has_basis
  bool has_basis = true;     ///< else V is left for when it is needed
  double best_absolute = 0;  ///< the absolute residual of state.best_basis

  Index d() const { return plan.d; }
  Index k() const { return plan.k; }
  Index p() const { return state.X.cols(); }
  const HistoryEntry& latest() const { return state.history.back(); }

  /// Columns that were missed are no continuation of the first k: of a block they have joined, Ritz vectors are taken.
  Extraction extraction() const {
    const bool joined = joins > 0 || p() > plan.p;
    return plan.extraction == Extraction::nested && joined ? Extraction::ritz : plan.extraction;
  }
  bool sees_gap() const { return p() > k() && extraction() == Extraction::ritz; }
  bool edge_is_fixed() const { return options.momentum.rule == Momentum::Rule::fixed; }
  bool cooling() const { return state.cooldown_left >= 0; }
  bool start_is_unsound() const { return hooks.start != nullptr && !known.sound_start; }
  bool products_are_noisy() const { return detail::products_are_noisy(stopping, state.history); }
  ResidualScale scale() const { return residual_scale(facts, state.exponent); }  ///< in the units of Y

  /// Y <- A X_t in the units of the state, which the first product chooses.
  void multiply();
  void count_products(Index columns, Index passes = 1) {
    state.products += columns;
    state.passes += passes;
  }

  /// X turns to its q leading Ritz vectors, and X_{t-1} R_t^{-1} with it, so that the recurrence goes on.
  void narrow_to(Index q);
  /// Random columns join X up to q of them; the recurrence begins anew.
  void widen_to(Index q);
  /// The same with V and columns that were missed in front.
  void join(const Block<S>& V, const Block<S>& columns);

 private:
  void start();
  void resume();
  void find_scale();
  void turn(Block<S>& block, Index columns);
};

}  // namespace hearsay::detail

// When a power iteration stops, and what may be said of its basis then.
#pragma once

#include <optional>

#include "solver/averaging.hpp"
#include "solver/power_run.hpp"

namespace hearsay::detail {

template <class S>
class Judge {
 public:
  Judge(PowerRun<S>& run, Averaging<S>& averaging) : run_(run), averaging_(averaging) {}

  /// Why to stop after the latest look, or nothing. May cost products: a claim rests on a product of the very basis
  /// that is returned, and on a look for what a start that was given may have missed.
  std::optional<Status> verdict();

  /// Whether columns that were missed have joined the block since it was last asked; their product is still to be made.
  bool take_joined();

  /// What the steps since X_0 prove, as long as the block is what they made of it.
  void note_what_is_proven();

  /// The block's Ritz values and residuals with what rounding may hide.
  RitzPairs pairs() const;

  /// The status and the basis to be returned where the solve ends with this verdict: the basis is measured where it has
  /// not been, and a claim that does not outlive this is taken back.
  Status confirm(Status status);
  /// The same for what the averages say; their Ritz values are better than those of one product.
  void confirm_averages(const Averaged<S>& averaged);
  /// The same after a product that was not finite: what is left is not measured again.
  void confirm_without_products();

  const Extracted<S>& confirmed() const { return confirmed_; }
  Extracted<S>& confirmed() { return confirmed_; }
  bool start_is_unproven() const { return unproven_; }

  /// The estimate is in proportion to the residual, where that has grown.
  double sine_of_confirmed() const;

  /// For the certificate of a result with this estimate.
  Evidence evidence(double estimate) const;

 private:
  bool confirm();
  std::optional<Status> claim();
  std::optional<Status> judge_noise_floor();
  std::optional<Status> judge_rounding_floor();
  std::optional<Status> look_for_what_was_missed();
  std::optional<Status> judge_what_was_seen(double nothing_above, bool must_prove);
  void estimate_from_outside(const Vector<double>& theta, const Vector<double>& residuals);
  double sine_beside_outside() const;
  Status measure_rounding();
  void refuse_hopeless_momentum() const;
  bool budget_is_spent() const;

  bool reached(double residual, double sine) const;
  bool resolved(double sine) const { return run_.k() == run_.d() || sine < resolved_sine; }
  double known_sine(Index count, double above) const;
  double depth();

  double frobenius() const;
  double largest_rounding() const;
  double unavoidable_rounding() const;
  double expected_rounding() const;

  PowerRun<S>& run_;
  Averaging<S>& averaging_;
  Extracted<S> confirmed_;  ///< the basis that is returned, measured
  RitzPairs outside_;       ///< of a block of k columns and what was seen beside it
  double measured_rounding_ = 0;
  std::optional<double> depth_;  ///< no eigenvalue lies below minus this; empty: nobody has asked
  bool joined_ = false;
  bool claimed_ = false;   ///< the verdict is about the basis as confirmed
  bool unproven_ = false;  ///< a start that was given may have missed something
};

}  // namespace hearsay::detail

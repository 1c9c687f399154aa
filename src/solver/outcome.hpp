// How a result is put together from what a solver has in its hands when it ends; the same for the power iteration and
// the Krylov space. And what both ask of a basis before they call it the answer.
#pragma once

#include <vector>

#include "hearsay/power.hpp"
#include "solver/certificate.hpp"

namespace hearsay::detail {

/// What was asked for.
struct Goal {
  double tolerance = 0;  ///< on the residual
  double sine = 0;       ///< on the sine; 0: not asked for

  bool met(double residual, double estimate) const { return residual <= tolerance && (sine == 0 || estimate <= sine); }

  /// The sine below which a bound is worth having.
  double sine_or_resolved() const { return sine > 0 ? sine : resolved_sine; }

  /// No residual that rounding leaves, over the largest gap that the residuals allow, is as small as asked for.
  bool out_of_reach(const RitzPairs& pairs, Index k, double residual, double rounding) const;
};

/// In double precision the most that rounding can do is little; in single it would hide everything, so that it is
/// measured at the end.
template <class S>
double expected_rounding(double largest, double unavoidable, double measured) {
  return std::max(measured, sizeof(S) == sizeof(double) ? largest : unavoidable);
}

/// ||A||_F, about, from the images of random orthonormal columns: E ||A x||^2 = ||A||_F^2 / d for a random unit vector
/// x.
double frobenius_from_images(Index d, Index columns, double norm_of_images);

template <class S>
struct Ending {
  Status status = Status::iteration_limit;
  SolveMethod method = SolveMethod::anpm;
  Block<S> basis;   ///< d x k
  Vector<S> theta;  ///< k Ritz values, of 2^-exponent A
  double residual = 0;
  double theta_next = 0;  ///< what the gap is to
  Index iterations = 0, columns = 0, products = 0, passes = 0;
  std::int64_t workspace_numbers = 0;
  bool exact = true;
  bool unproven_start = false;  ///< a start was given, and what it missed is not known
  int exponent = 0;
};

/// Everything of a result but its certificate and what only one of the solvers knows.
template <class S>
PowerResult<S> result_of(Ending<S>&& ending, const OperatorFacts& facts, const std::vector<HistoryEntry>& history);

/// Throws DataError for a solve whose very first product was not finite: there is no basis to return.
void require_a_basis(const std::vector<HistoryEntry>& history);

}  // namespace hearsay::detail

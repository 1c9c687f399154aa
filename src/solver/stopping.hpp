// When to stop: convergence, the noise floor and the rounding floor, judged from the history alone, so that a resumed
// solve judges as the uninterrupted one did.
#pragma once

#include <vector>

#include "hearsay/power.hpp"

namespace hearsay::detail {

struct StoppingFacts {
  Index d = 0, k = 0;
  double epsilon = 0;  ///< of the scalar type
  bool noisy = false;  ///< said by the operator or the caller
  bool watch = true;   ///< products may turn out to be noisy
  Damping damping = Damping::symmetric;
};

/// The standard deviation of an entry's error, as the asymmetry of H = X'(A X + Xi) betrays it: an exact symmetric A
/// leaves none, and i.i.d. errors leave E ||H - H'||_F^2 = 2 p (p - 1) sigma^2.
template <class S>
double noise_from_asymmetry(const Small<S>& H);

/// The median of the noise seen in the latest iterations.
double recent_noise(const std::vector<HistoryEntry>& history);

/// Whether the products are noisy, as far as one was told or can see.
bool products_are_noisy(const StoppingFacts& facts, const std::vector<HistoryEntry>& history);

/// Whether the residual has stopped falling: its least value in the last quarter of the run is no better than 0.8 times
/// the quarter before it.
bool stagnant(const std::vector<HistoryEntry>& history);

/// Whether, at the rate the Ritz values promise, the error of a random start has by now sunk below anything the
/// measured noise permits. The residual alone cannot tell: it meets the noise long before the subspace does.
bool transient_is_over(const StoppingFacts& facts, const std::vector<HistoryEntry>& history);

/// -log of the factor by which one step shrinks tan(theta_k), judging by the Ritz values; a gap below `resolution`
/// counts as that.
double rate(const StoppingFacts& facts, const HistoryEntry& now, double resolution);

/// Whether the residual stands at what rounding permits.
bool at_rounding_floor(const StoppingFacts& facts, const std::vector<HistoryEntry>& history);

}  // namespace hearsay::detail

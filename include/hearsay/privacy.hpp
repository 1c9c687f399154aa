// What a release costs: gaussian differential privacy (Dong, Roth and Su, 2022), exactly.
//
//   mu      a release is mu-GDP where telling two neighbouring data sets apart by it is no easier than telling
//           N(0, 1) from N(mu, 1); gaussian noise of standard deviation sigma on what a neighbour can move by Delta
//           has mu = Delta / sigma, and releases together have the root of the sum of their squares
//   delta   = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)      (Balle and Wang, 2018): not a bound
#pragma once

#include "hearsay/export.hpp"

namespace hearsay {

/// What may be spent, or was: (epsilon, delta).
struct PrivacyBudget {
  double epsilon = 0;
  double delta = 0;
};

/// delta of a mu-GDP release at this epsilon, to some 15 digits, however small it is; 0 below 1e-307.
HEARSAY_API double gaussian_delta(double mu, double epsilon);

/// The smallest epsilon, 0 at least, whose delta is at most this one.
HEARSAY_API double gaussian_epsilon(double mu, double delta);

/// The largest mu that keeps a budget; rounded down, so that gaussian_delta() of it is at most delta. Throws
/// InvalidArgument unless epsilon is in (0, 100] and delta in [1e-300, 0.5], or where mu would be below 1e-6.
HEARSAY_API double gaussian_mu(const PrivacyBudget& budget);

}  // namespace hearsay

// The theorems behind a certificate, each a function of what was measured (docs/algorithms/certificate.md).
//
// Legend   theta_i, r_i  Ritz values, descending, and the norms of their residuals, rounding included | k  wanted
//          q  Ritz vectors set aside, q >= k | x  where at most q eigenvalues lie above it
#pragma once

#include <cmath>

#include "hearsay/certificate.hpp"
#include "hearsay/power.hpp"

namespace hearsay::detail {

/// What may be missed once in so many runs.
inline constexpr double miss_probability = 1e-6;

struct RitzPairs {
  Vector<double> theta, residuals;
  double coupling =
      0;  ///< of two Ritz vectors, v_i'A v_j: zero but for rounding, which turns close ones into each other
  Index most_copies = -1;  ///< of an eigenvalue that the space can hold; -1: any number
  double norm = 0;         ///< the largest magnitude of an eigenvalue that was seen, where that is none of theta

  Index size() const { return theta.size(); }
};

/// At most `count` eigenvalues lie above `above`.
struct Statement {
  Index count = 0;
  double above = std::numeric_limits<double>::infinity();
  double probability = miss_probability;  ///< of being wrong; 0 where the whole space was seen
};

/// What a solve is told by the one whose answer it goes on from.
struct Known {
  bool sound_start = false;  ///< the start block grew from random columns, and holds what they showed
  Statement statement = {};  ///< of the same matrix
  double frobenius = 0;      ///< ||A||_F, about
  Index columns = 0;         ///< random columns that it grew from: copies of an eigenvalue that it can hold
  int exponent = 0;          ///< both are of 2^-exponent A
  bool goes_on = false;      ///< another solve starts from the result, and measures what rounding does

  double in_units_of(int other_exponent, double value) const { return std::ldexp(value, exponent - other_exponent); }
};

/// The number that the least singular value of a columns x directions matrix of independent N(0, 1) entries stays below
/// with at most this probability: what any `directions` orthonormal vectors must show in so many random columns.
double least_shadow(Index columns, Index directions, double probability);

/// sin(theta_k) of the first k Ritz vectors where at most q eigenvalues lie above x; infinite where that proves no gap.
double sine_bound(const RitzPairs& pairs, Index k, const Statement& statement);

/// The same where no eigenvalue of A beside the first q Ritz vectors (of A compressed to their complement) exceeds nu.
double sine_bound_deflated(const RitzPairs& pairs, Index k, Index q, double nu);

/// The same with the Ritz value after the q-th, plus its residual, in the place of what is proved, for the best q; at
/// least `damped`, where the iteration damps what it leaves out. 1 where the Ritz values show no gap.
double sin_theta_estimate(const RitzPairs& pairs, Index k, double damped = 0);

/// A sine that says something: below, the k-th eigenvalue is told from the next.
inline constexpr double resolved_sine = 0.5;

/// Where it is not proved that nothing was missed, an estimate must be below this, and the Ritz value after the k-th
/// must have come to rest: else it may still rise into the gap.
inline constexpr double believed_sine = 0.05;
bool believable(const RitzPairs& pairs, Index k, double estimate);

/// Whether the Ritz value after the k-th lies below `value` and has come to rest there.
bool at_rest_below(const RitzPairs& pairs, Index k, double value);

/// Where the eigenvalue after the k-th lies at most: as the estimate takes it, and what is proved; infinite where
/// nothing is.
double surely_below(const RitzPairs& pairs, Index k);
double largest_next(const RitzPairs& pairs, Index k, const Statement& statement);

/// The Ritz values around k that their residuals do not keep apart, in the order of the pairs. `all` where the pairs
/// are all that there are.
Cluster cluster_at(const RitzPairs& pairs, Index k, bool all);

/// The certificate of what is known, in the solver's own scale; what it rests on is named by the caller.
/// `rounded` are the same pairs with the most that rounding can hide; the estimate is of `pairs`.
struct Evidence {
  RitzPairs pairs = {};          ///< residuals with what rounding is seen or expected to hide
  double rounding = 0;           ///< the most it can hide, of one column
  double rounding_expected = 0;  ///< of that, what `pairs` count already
  Index k = 0, d = 0;
  bool exact = true;
  bool all = false;     ///< the pairs are all there are
  double estimate = 1;  ///< of sin(theta_k); NaN where there is none
  std::optional<Statement> statement = {};
  double frobenius = 0;
  Index random_columns = 0, probe_passes = 0, probe_products = 0;
};
Certificate certificate_of(const Evidence& evidence, Certify level, bool ambiguous);

/// Of 2^-exponent A, as it is of A.
Certificate unscaled(Certificate certificate, int exponent);

/// What rounding may do to a product with a unit vector: u n ||A||_F, n the terms of a sum, in the units of 2^-exponent
/// A. A shift is added to the product of a matrix that may be larger than the sum.
template <class S>
double product_rounding(const OperatorFacts& facts, Index d, double frobenius, int exponent) {
  const auto terms = static_cast<double>(facts.terms > 0 ? facts.terms : d);
  const double shift = std::ldexp(std::abs(facts.shift), -exponent) * std::sqrt(static_cast<double>(d));
  return 0.5 * std::numeric_limits<S>::epsilon() * (terms + 1) * (frobenius + shift);
}

}  // namespace hearsay::detail

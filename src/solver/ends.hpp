// The ends of a spectrum that an answer is taken from, as one Krylov space shows them: the high one, or both.
//
// Each end is looked at from outside, as the leading eigenvalues of sign * A, and every theorem is asked at each on its
// own. With V = [V_high V_low], sin^2(theta) <= sin^2(theta_high) + sin^2(theta_low), because what V_high lacks of all
// wanted eigenvectors it lacks of those at its own end.
//
// Of the largest in magnitude, how many come from which end is read from the Ritz values. That choice is right if what
// is left out at either end is smaller than the least that is taken at the other (`limit`).
#pragma once

#include <optional>
#include <vector>

#include "solver/certificate.hpp"

namespace hearsay::detail {

inline bool takes_both_ends(Which which) { return which == Which::magnitude || which == Which::both_ends; }

struct End {
  double sign = 1;
  Index k = 0;           ///< wanted here
  Index kept = 0;        ///< Ritz vectors that outlive a restart
  RitzPairs pairs = {};  ///< of sign * A
  double limit = std::numeric_limits<double>::infinity();
  double sine = 1;  ///< as estimated, of the k wanted here
  std::optional<Statement> proof = {};
};

/// What a Krylov space shows: Ritz values, descending, and their residuals as the relation has them.
struct SpaceSeen {
  Vector<double> theta, residuals;
  double rounding = 0;  ///< that is added to each residual
  double norm = 0;      ///< the largest magnitude of a Ritz value so far
  Index most_copies = -1, kept = 0;
};

class Ends {
 public:
  Ends(Which which, Index k, Index d);

  void look(const SpaceSeen& seen);

  /// Of one end: where the estimate says nothing and the proof does, that is believed. Whether it was.
  bool take_proof();

  std::vector<End>& all() { return ends_; }
  const std::vector<End>& all() const { return ends_; }
  const End& high() const { return ends_.front(); }
  bool both() const { return ends_.size() > 1; }
  Index wanted_low() const { return both() ? ends_.back().k : 0; }  ///< of the k

  /// Estimated, of all that is wanted; 1 where the Ritz values do not even say which those are.
  double sine() const;
  bool resolved() const { return sine() < resolved_sine; }
  /// The same as a bound; infinite where not all of it is proved.
  double bound() const;
  bool proved() const;
  /// An estimate is enough where an end is not proved.
  bool believed() const;
  /// How many eigenvalues at this end a proof must leave no room beside.
  Index to_prove(const End& end) const;
  /// The least distance that the answer hangs on, of Ritz values.
  double gap() const;
  /// The Ritz value that is wanted and nearest to one that is not, and that one; of A.
  std::pair<double, double> cut() const;
  /// The wanted Ritz values, descending, or what belongs to them.
  Vector<double> wanted(const Vector<double>& of_all) const;

  /// Residuals of the wanted ones were measured, in that order, with rounding included: they are no less.
  void raise_residuals(const Vector<double>& measured);
  void add_rounding(double more, double coupling);

  /// Of both ends together; `evidence` is of the whole, and is completed for each.
  Certificate certificate(Evidence evidence, Certify level, bool ambiguous) const;

 private:
  void split(const Vector<double>& theta);
  void estimate();
  bool chosen() const;
  bool chosen_for_certain(const Evidence& evidence) const;
  bool proved(const End& end) const;
  RitzPairs by_magnitude() const;
  Cluster cluster(const Evidence& evidence) const;
  Certificate of_end(const End& end, Evidence evidence, Certify level) const;

  Which which_;
  Index k_, d_;
  std::vector<End> ends_;
};

}  // namespace hearsay::detail

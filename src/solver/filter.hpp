// What the power iteration proves about the eigenvalues it does not show.
//
// Without noise X_t = f(A) X_0 M with M regular and f a polynomial that is known, step by step. If q + 1 eigenvalues
// were at least x, the space f(A) X_0 would hold q + 1 dimensions in which f has outgrown everything below y < x, so
// that the (q+1)-st Ritz value would be at least y / (1 + tau^2), tau = max_[0,y] |f| / f(x) times ||Omega|| over the
// least shadow of q + 1 directions on the random columns Omega = X_0 R_0. A smaller Ritz value proves that they are
// not. Where A has eigenvalues down to -s, the maximum is that on [-s, y], and they pull the Ritz value down, to
// (y - s tau^2) / (1 + tau^2): without a bound on s nothing is proved.
#pragma once

#include <vector>

#include "solver/certificate.hpp"

namespace hearsay::detail {

/// One stretch of the recurrence f_{s+1} = (x - shift) f_s - beta f_{s-1}; `afresh` begins it with f_1 = (x - shift)/2
/// f_0.
struct FilterStep {
  double shift = 0, beta = 0;
  Index steps = 1;
  bool afresh = false;
};

/// As a PowerState keeps them, four numbers each.
void append(std::vector<double>& numbers, const FilterStep& step);
std::vector<FilterStep> filter_steps(const std::vector<double>& numbers);

class Filter {
 public:
  /// The steps taken from X_0 on, made of so many random columns Omega of norm `norm_of_start`. No eigenvalue lies
  /// below -depth.
  Filter(std::vector<FilterStep> steps, Index columns, double norm_of_start, double depth);

  /// The least x for which at most q eigenvalues lie above x, given the (q+1)-st Ritz value; infinite where there is
  /// none below `largest`.
  double nothing_above(Index q, double theta_next, double largest) const;

 private:
  std::vector<FilterStep> steps_;
  Index columns_;
  double norm_of_start_;
  double depth_;
  double edge_ = 0;        // nothing is damped above it
  double log_damped_ = 0;  // log max |f| on [-depth_, edge_]
};

}  // namespace hearsay::detail

// References   Davis and Kahan (1970) for the sine theorem; Kahan (1967) and Cauchy's interlacing for the eigenvalues;
//              Nakatsukasa (2020) for Ritz vectors within a larger space; Chen and Dongarra (2005) for random matrices.
#include "solver/certificate.hpp"

#include <algorithm>
#include <cmath>

namespace hearsay {

const char* name(Certify level) {
  switch (level) {
    case Certify::none:
      return "none";
    case Certify::residual:
      return "residual";
    case Certify::full:
      return "full";
  }
  return "unknown";
}

const char* name(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::unknown:
      return "unknown";
    case Knowledge::estimate:
      return "estimate";
    case Knowledge::bound:
      return "bound";
  }
  return "unknown";
}

namespace detail {

namespace {

constexpr double nothing = std::numeric_limits<double>::infinity();

}  // namespace

// The density of the least eigenvalue of G'G is at most L lambda^{(w-s-1)/2}, with equality at s = 1.
double least_shadow(Index columns, Index directions, double probability) {
  if (directions > columns) return 0;
  const auto w = static_cast<double>(columns), s = static_cast<double>(directions);
  const double log_L =
      (w - s - 1) / 2 * std::log(2.0) + std::lgamma((w + 1) / 2) - std::lgamma(s / 2) - std::lgamma(w - s + 1);
  return std::exp((std::log(probability * (w - s + 1) / 2) - log_L) / (w - s + 1));
}

// With the block structure A = [Theta_1 c' R_1'; c Theta_2 R_2'; R_1 R_2 C] in the basis [V_k, other q - k, the rest],
// where c is rounding, an invariant subspace [X_1; X_2; X_3] of eigenvalues >= theta_k obeys, row by row,
//   |X_2 row j| <= (r_j |X_3| + |c|) / (theta_k - theta_j),     |X_3| <= (|R_1| + sum_j r_j |X_2 row j|) / (theta_k -
//   nu).
double sine_bound_deflated(const RitzPairs& pairs, Index k, Index q, double nu) {
  if (q > pairs.size()) return nothing;
  const double theta_k = pairs.theta(k - 1), c = pairs.coupling * std::sqrt(static_cast<double>(k));
  double back = 0, into = 0;
  for (Index j = k; j < q; ++j) {
    const double gap = theta_k - pairs.theta(j), r = pairs.residuals(j);
    if (!(gap > 0)) return nothing;
    back += r * r / gap;
    into += r * c / gap;
  }
  const double gap = theta_k - nu - back;
  if (!(gap > 0)) return nothing;
  const double X3 = (pairs.residuals.head(k).norm() + into) / gap;
  double total = X3 * X3;
  for (Index j = k; j < q; ++j) total += std::pow((pairs.residuals(j) * X3 + c) / (theta_k - pairs.theta(j)), 2);
  return std::sqrt(total);
}

double sine_bound(const RitzPairs& pairs, Index k, const Statement& statement) {
  const auto [q, x, probability] = statement;
  if (k == 0) return 0;
  if (q < k || q > pairs.size() || !std::isfinite(x)) return nothing;
  if (q == k) {  // each column on its own: |column i of U_-k'V| <= r_i / (theta_i - lambda_{k+1})
    double total = 0;
    for (Index i = 0; i < k; ++i) {
      const double gap = pairs.theta(i) - x;
      if (!(gap > 0)) return nothing;
      total += (pairs.residuals(i) / gap) * (pairs.residuals(i) / gap);
    }
    return std::sqrt(total);
  }
  // An eigenvalue nu of C above x would, with the first q Ritz vectors, make q + 1 eigenvalues above x, unless the
  // residuals push one of them down: nu <= x + sum r_i^2 / (theta_i - x).
  double nu = x;
  for (Index i = 0; i < q; ++i) {
    const double gap = pairs.theta(i) - x;
    if (!(gap > 0)) return nothing;
    nu += pairs.residuals(i) * pairs.residuals(i) / gap;
  }
  return sine_bound_deflated(pairs, k, q, nu);
}

namespace {

// Residuals that are added to the first Ritz value left out, which is not the largest eigenvalue left out.
constexpr double slack_of_next = 2;

// A Ritz vector is set aside where its residual is below this part of its distance from the wanted ones: else it may
// still be on its way to one of them.
constexpr double converged_enough = 0.25;

// A gap beyond k counts where the first Ritz value below it has a residual below this part of it: else that one may
// still rise into the gap.
constexpr double settled = 0.5;

// What an estimate from beyond the gap at k is multiplied by: without it 2% of the adversary's solves exceed theirs, by
// up to 2.1 times.
constexpr double safety = 2;

// How far below a cluster the next eigenvalue must be for the cluster to count as one, in widths of it.
constexpr double narrow = 0.5;

// Whether the q-th Ritz value belongs to a cluster of as many as the space can hold, with the next one or as its end:
// there may be more of them outside, on either side of the cut. nu is what lies below the q-th, residual included.
bool may_hide_copies(const RitzPairs& pairs, Index q, double nu) {
  const Index copies = pairs.most_copies;
  if (copies < 0) return false;
  for (Index first = std::max<Index>(0, q - copies); first < q && first + copies < pairs.size(); ++first) {
    const Index end = first + copies;
    const double last = pairs.theta(end - 1);
    const double below = end == q ? nu : pairs.theta(end) + slack_of_next * pairs.residuals(end);
    if (pairs.theta(first) - last <= narrow * std::max(0.0, last - below)) return true;
  }
  return false;
}

}  // namespace

namespace {

// Of a matrix with negative eigenvalues the lowest Ritz values come to rest as the leading ones do, and what the space
// does not hold lies between them: about where residuals are largest. A gap beyond that is none to what is left out.
Index last_before_the_middle(const RitzPairs& pairs, Index k) {
  const Index n = pairs.size();
  if (!(pairs.theta(n - 1) < -pairs.residuals(n - 1))) return n;
  Index at = 0;
  pairs.residuals.tail(n - k).maxCoeff(&at);
  return k + at + 1;
}

}  // namespace

double sin_theta_estimate(const RitzPairs& pairs, Index k, double damped) {
  const Index n = pairs.size();
  if (n <= k) return 1;
  const Index end = last_before_the_middle(pairs, k);
  const double c = pairs.coupling;
  // the sums of sine_bound_deflated, for each column
  Vector<double> back = Vector<double>::Zero(k), into = back, squares = back, mixed = back, alone = back;
  double best = 1;
  for (Index q = k; q < end; ++q) {
    const double nu = damped > 0 ? std::max(damped, pairs.theta(q))  // what is damped does not converge
                                 : pairs.theta(q) + slack_of_next * pairs.residuals(q);
    if (may_hide_copies(pairs, q, nu)) return best;
    double total = 0;
    for (Index i = 0; i < k && total < best * best; ++i) {
      const double gap = pairs.theta(i) - nu - back(i);
      const double X3 = gap > 0 ? (pairs.residuals(i) + into(i)) / gap : nothing;
      total += X3 * X3 * (1 + squares(i)) + 2 * X3 * mixed(i) + alone(i);
    }
    if (q > k) total *= safety * safety;
    if (q > k && !(pairs.residuals(q) <= settled * (pairs.theta(q - 1) - pairs.theta(q)))) total = nothing;
    if (total < best * best) best = std::sqrt(total);
    for (Index i = 0; i < k; ++i) {  // the q-th joins those set aside
      const double gap = pairs.theta(i) - pairs.theta(q), r = pairs.residuals(q);
      if (!(r <= converged_enough * gap)) return best;
      back(i) += r * r / gap;
      into(i) += r * c / gap;
      squares(i) += (r / gap) * (r / gap);
      mixed(i) += (r / gap) * (c / gap);
      alone(i) += (c / gap) * (c / gap);
    }
  }
  return best;
}

bool believable(const RitzPairs& pairs, Index k, double estimate) {
  if (!(estimate < believed_sine)) return false;
  return pairs.size() <= k || at_rest_below(pairs, k, pairs.theta(k - 1));
}

bool at_rest_below(const RitzPairs& pairs, Index k, double value) {
  return pairs.residuals(k) <= converged_enough * (value - pairs.theta(k));
}

double surely_below(const RitzPairs& pairs, Index k) { return pairs.theta(k) + slack_of_next * pairs.residuals(k); }

// With C, the rest beside q Ritz vectors, below theta_q, the first q eigenvalues differ from the Ritz values by no more
// than the residuals together (Weyl).
double largest_next(const RitzPairs& pairs, Index k, const Statement& statement) {
  const auto [q, x, probability] = statement;
  if (q < k || q > pairs.size() || !std::isfinite(x)) return nothing;
  if (q == k) return x;
  double nu = x;
  for (Index i = 0; i < q; ++i) {
    const double gap = pairs.theta(i) - x;
    if (!(gap > 0)) return nothing;
    nu += pairs.residuals(i) * pairs.residuals(i) / gap;
  }
  return nu < pairs.theta(q - 1) ? pairs.theta(k) + pairs.residuals.head(q).norm() : nothing;
}

Cluster cluster_at(const RitzPairs& pairs, Index k, bool all) {
  const auto touch = [&](Index i) {  // the i-th and the next, counted from zero
    return pairs.theta(i) - pairs.theta(i + 1) <= 2 * (pairs.residuals(i) + pairs.residuals(i + 1));
  };
  const Index n = pairs.size();
  Cluster cluster{.first = k, .last = std::min(n, k + 1)};
  while (cluster.first > 1 && touch(cluster.first - 2)) --cluster.first;
  while (cluster.last < n && touch(cluster.last - 1)) ++cluster.last;
  const double below = cluster.last < n ? pairs.theta(cluster.last) : -nothing;
  // as many as the space can hold of one eigenvalue: what is like them may be missing, however far apart they seem
  const bool many = pairs.most_copies >= 0 && cluster.last - cluster.first + 1 >= pairs.most_copies;
  cluster.open = !all && (cluster.last == n || many || may_hide_copies(pairs, cluster.last, below));
  // an eigenvalue is at least its Ritz value; it exceeds it by no more than all residuals together
  const double top = pairs.theta(cluster.first - 1) + 2 * pairs.residuals.head(cluster.last).norm();
  const double bottom = pairs.theta(cluster.last - 1) - pairs.coupling;
  const double size = std::max({pairs.norm, std::abs(pairs.theta(0)), std::abs(pairs.theta(n - 1))});
  cluster.spread = size > 0 ? (top - bottom) / size : 0;
  return cluster;
}

namespace {

// A larger space is offered as certain below this sine.
constexpr double certain_sine = 0.01;

// The same pairs with the most that rounding can hide.
RitzPairs with_all_rounding(const Evidence& evidence) {
  const double rounding = evidence.rounding;
  RitzPairs rounded = evidence.pairs;
  rounded.residuals.array() += rounding - evidence.rounding_expected;
  rounded.coupling = std::max(rounded.coupling, rounding);
  rounded.theta.head(evidence.k).array() -= 2 * rounding;  // of every gap below the wanted ones
  return rounded;
}

void say_how_near(const Evidence& evidence, const RitzPairs& rounded, Certificate& certificate) {
  const auto& statement = evidence.statement;
  const double estimate = evidence.estimate;
  certificate.sin_theta_estimate = estimate;
  if (std::isfinite(estimate) && estimate < 1) certificate.sin_theta = Knowledge::estimate;
  if (evidence.exact && statement && std::isfinite(statement->above)) {
    certificate.nothing_missed = Knowledge::bound;
    certificate.nothing_missed_above = statement->above;
    certificate.nothing_missed_count = statement->count;
    certificate.nothing_missed_probability = statement->probability;
    certificate.sin_theta_bound = sine_bound(rounded, evidence.k, *statement);
  }
  if (evidence.exact && evidence.k == evidence.d) certificate.sin_theta_bound = 0;
  if (certificate.sin_theta_bound < certificate.sin_theta_estimate)
    certificate.sin_theta_estimate = certificate.sin_theta_bound;
  if (certificate.sin_theta_bound < 1)
    certificate.sin_theta = Knowledge::bound;
  else
    certificate.sin_theta_bound = nothing;
}

// The Ritz values that k cuts in two, and how near the space is that holds all of them.
Cluster cluster_of(const Evidence& evidence, const RitzPairs& rounded) {
  const RitzPairs& pairs = evidence.pairs;
  const auto& statement = evidence.statement;
  const bool estimated = std::isfinite(evidence.estimate);
  Cluster cluster = cluster_at(pairs, evidence.k, evidence.all);
  const Index last = cluster.last;
  if (!cluster.open && last < evidence.d && last < pairs.size()) {
    // only as proved: where k cuts through a cluster, too much is unsettled below it for an estimate to be taken at its
    // word. A Ritz value that seems at rest there may hold a share of one more member.
    const double bound = evidence.exact && statement ? sine_bound(rounded, last, *statement) : nothing;
    if (bound < certain_sine) cluster.sin_theta = bound, cluster.kind = Knowledge::bound;
  } else if (last == evidence.d) {
    cluster.sin_theta = 0;
    cluster.kind = Knowledge::bound;
  }
  const bool unproved = !statement || !std::isfinite(statement->above);
  // the space ends within the cluster: it may lack members of what lies above as well, which would move all places
  if (cluster.last == pairs.size() && last < evidence.d && cluster.first > 1 && unproved)
    cluster.spread = std::numeric_limits<double>::quiet_NaN();
  if (!estimated && !statement) {  // a start that was given, and taken at its word
    cluster.open = true;
    cluster.spread = std::numeric_limits<double>::quiet_NaN();
    cluster.kind = Knowledge::unknown;
  }
  return cluster;
}

void say_what_it_rests_on(const Evidence& evidence, Certificate& certificate) {
  auto& words = certificate.assumptions;
  if (!evidence.exact) {
    words.push_back("products carry errors: the residual is measured with them, and sin(theta) is an estimate at best");
    return;
  }
  words.push_back("every product is A x to rounding, at most u n ||A||_F with n the terms of a sum");
  if (certificate.nothing_missed == Knowledge::bound && certificate.nothing_missed_probability > 0)
    words.push_back("the random columns were independent of the matrix");
}

}  // namespace

Certificate certificate_of(const Evidence& evidence, Certify level, bool ambiguous) {
  Certificate certificate{.level = level};
  certificate.frobenius_norm = evidence.frobenius;  // facts that a solve which goes on from here leans on
  certificate.random_columns = evidence.random_columns;
  if (level == Certify::none) return certificate;
  const RitzPairs& pairs = evidence.pairs;
  const Index k = evidence.k;
  certificate.rounding = std::sqrt(static_cast<double>(k)) * evidence.rounding;
  certificate.residual = (pairs.residuals.head(k).array() - evidence.rounding_expected).max(0.0).matrix().norm();
  certificate.probe_passes = evidence.probe_passes;
  certificate.probe_products = evidence.probe_products;
  const RitzPairs rounded = with_all_rounding(evidence);
  say_how_near(evidence, rounded, certificate);
  if (ambiguous && pairs.size() > k) certificate.cluster = cluster_of(evidence, rounded);
  say_what_it_rests_on(evidence, certificate);
  return certificate;
}

Certificate unscaled(Certificate certificate, int exponent) {
  for (double* value : {&certificate.residual, &certificate.rounding, &certificate.frobenius_norm,
                        &certificate.nothing_missed_above, &certificate.nothing_missed_below})
    *value = std::ldexp(*value, exponent);
  return certificate;
}

}  // namespace detail

}  // namespace hearsay

#include "solver/ends.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hearsay::detail {

namespace {

constexpr double beyond_all = std::numeric_limits<double>::infinity();

// How many of the k largest in magnitude lie at the high end.
Index largest_at_high_end(const Vector<double>& theta, Index k) {
  const Index n = theta.size();
  Index high = 0;
  for (Index low = 0; high + low < k;)
    if (std::abs(theta(high)) >= std::abs(theta(n - 1 - low)))
      ++high;
    else
      ++low;
  return high;
}

RitzPairs pairs_of(const SpaceSeen& seen, double sign) {
  const bool mirrored = sign < 0;
  RitzPairs pairs{.theta = mirrored ? Vector<double>(-seen.theta.reverse()) : seen.theta,
                  .residuals = mirrored ? Vector<double>(seen.residuals.reverse()) : seen.residuals,
                  .coupling = seen.rounding,
                  .most_copies = seen.most_copies,
                  .norm = seen.norm};
  pairs.residuals.array() += seen.rounding;
  return pairs;
}

}  // namespace

Ends::Ends(Which which, Index k, Index d) : which_(which), k_(k), d_(d), ends_{End{.sign = 1, .k = k}} {
  if (takes_both_ends(which)) ends_.push_back({.sign = -1, .k = 0});
}

void Ends::split(const Vector<double>& theta) {
  if (!both()) return;
  const Index high = which_ == Which::both_ends ? (k_ + 1) / 2 : largest_at_high_end(theta, k_);
  ends_[0].k = high;
  ends_[1].k = k_ - high;
}

void Ends::look(const SpaceSeen& seen) {
  split(seen.theta);
  const Index extra = (seen.kept - k_) / 2;
  for (End& end : ends_) {
    end.kept = both() ? (end.sign < 0 ? end.k + extra : seen.kept - (k_ - end.k) - extra) : seen.kept;
    end.pairs = pairs_of(seen, end.sign);
    if (end.pairs.most_copies >= 0)
      end.pairs.most_copies = std::min(end.pairs.most_copies, std::max<Index>(1, end.kept));
  }
  estimate();
}

void Ends::estimate() {
  for (End& end : ends_)
    end.sine = end.k == 0 || k_ == d_ ? 0.0 : end.pairs.size() > end.k ? sin_theta_estimate(end.pairs, end.k) : 1.0;
  take_proof();
  if (which_ != Which::magnitude || !both()) return;
  for (std::size_t i = 0; i < 2; ++i) {
    const End& other = ends_[1 - i];
    ends_[i].limit = other.k > 0 ? other.pairs.theta(other.k - 1) - 2 * other.pairs.coupling : beyond_all;
  }
}

bool Ends::take_proof() {
  End& end = ends_.front();
  if (both() || resolved() || !end.proof) return false;
  end.sine = std::min(end.sine, sine_bound(end.pairs, end.k, *end.proof));
  return resolved();
}

// ---- What may be said of all of them

bool Ends::chosen() const {
  return std::all_of(ends_.begin(), ends_.end(), [](const End& end) {
    return end.limit == beyond_all || surely_below(end.pairs, end.k) < end.limit;
  });
}

double Ends::sine() const {
  if (!chosen()) return 1;
  double total = 0;
  for (const End& end : ends_) total = std::hypot(total, end.sine);
  return both() ? std::min(1.0, total) : ends_[0].sine;
}

double Ends::bound() const {
  double total = 0;
  for (const End& end : ends_) {
    if (!end.proof) return beyond_all;
    if (end.k > 0) total = std::hypot(total, sine_bound(end.pairs, end.k, *end.proof));
  }
  return total;
}

// Everything down to the last wanted Ritz value, or down to the cluster that k cuts.
bool Ends::proved(const End& end) const {
  if (!end.proof || !std::isfinite(end.proof->above)) return false;
  if (!resolved()) return end.proof->count >= to_prove(end);
  if (end.proof->count < end.k) return false;
  return end.limit == beyond_all || largest_next(end.pairs, end.k, *end.proof) <= end.limit;
}

bool Ends::proved() const {
  return std::all_of(ends_.begin(), ends_.end(), [this](const End& end) { return proved(end); });
}

bool Ends::believed() const {
  const double estimate = sine();
  return std::all_of(ends_.begin(), ends_.end(), [&](const End& end) {
    if (proved(end)) return true;
    if (end.k > 0 && !believable(end.pairs, end.k, estimate)) return false;
    return end.limit == beyond_all || at_rest_below(end.pairs, end.k, end.limit);
  });
}

Index Ends::to_prove(const End& end) const {
  if (which_ == Which::magnitude && !resolved()) {
    const RitzPairs merged = by_magnitude();
    const Index first = cluster_at(merged, k_, false).first;
    const double outside = first > 1 ? merged.theta(first - 2) : beyond_all;
    Index count = 0;
    while (count < end.k && end.pairs.theta(count) >= outside) ++count;
    return count;
  }
  return end.sine < resolved_sine ? end.k : cluster_at(end.pairs, end.k, false).first - 1;
}

double Ends::gap() const {
  double least = beyond_all;
  for (const End& end : ends_) {
    if (end.k >= end.pairs.size()) continue;
    if (end.k > 0) least = std::min(least, end.pairs.theta(end.k - 1) - end.pairs.theta(end.k));
    if (end.limit < beyond_all) least = std::min(least, end.limit - end.pairs.theta(end.k));
  }
  return std::isfinite(least) ? least : std::numeric_limits<double>::quiet_NaN();
}

std::pair<double, double> Ends::cut() const {
  const End* narrowest = nullptr;
  double least = beyond_all;
  for (const End& end : ends_) {
    if (end.k == 0 || end.k >= end.pairs.size()) continue;
    const double gap = end.pairs.theta(end.k - 1) - end.pairs.theta(end.k);
    if (narrowest == nullptr || gap < least) narrowest = &end, least = gap;
  }
  if (narrowest == nullptr) {  // all there are
    const RitzPairs& pairs = ends_[0].pairs;
    return {pairs.theta(pairs.size() - 1), std::numeric_limits<double>::quiet_NaN()};
  }
  const auto& [sign, k, kept, pairs, limit, sine, proof] = *narrowest;
  return {sign * pairs.theta(k - 1), sign * pairs.theta(k)};
}

Vector<double> Ends::wanted(const Vector<double>& of_all) const {
  const Index low = wanted_low();
  Vector<double> out(k_);
  out << of_all.head(k_ - low), of_all.tail(low);
  return out;
}

// ---- What was measured at the end

void Ends::raise_residuals(const Vector<double>& measured) {
  for (End& end : ends_) {
    const Vector<double> here =
        end.sign > 0 ? Vector<double>(measured.head(end.k)) : Vector<double>(measured.tail(end.k).reverse());
    end.pairs.residuals.head(end.k) = end.pairs.residuals.head(end.k).cwiseMax(here);
  }
  estimate();
}

void Ends::add_rounding(double more, double coupling) {
  for (End& end : ends_) {
    end.pairs.residuals.array() += more;
    end.pairs.coupling = coupling;
  }
  estimate();
}

// ---- The certificate

// From both ends inwards, as far as they meet.
RitzPairs Ends::by_magnitude() const {
  const RitzPairs &high = ends_[0].pairs, &low = ends_[1].pairs;
  const Index n = high.size();
  RitzPairs merged = high;
  for (Index i = 0, j = 0; i + j < n;) {
    const Index at = i + j;
    const bool from_high = std::abs(high.theta(i)) >= std::abs(low.theta(j));
    merged.theta(at) = std::abs(from_high ? high.theta(i) : low.theta(j));
    merged.residuals(at) = from_high ? high.residuals(i++) : low.residuals(j++);
  }
  merged.most_copies = std::min(high.most_copies, low.most_copies);
  return merged;
}

// The space of a cluster that takes its members from both ends is not spoken of.
Cluster Ends::cluster(const Evidence& evidence) const {
  const End& end = ends_[0].sine < resolved_sine ? ends_[1] : ends_[0];
  const bool by_size = which_ == Which::magnitude;
  Cluster cluster = cluster_at(by_size ? by_magnitude() : end.pairs, by_size ? k_ : end.k, evidence.all);
  cluster.low = !by_size && end.sign < 0;
  const bool proved = std::any_of(ends_.begin(), ends_.end(), [](const End& each) { return !!each.proof; });
  if (std::isnan(evidence.estimate) && !proved) {  // a start that was given, and taken at its word
    cluster.open = true;
    cluster.spread = std::numeric_limits<double>::quiet_NaN();
  }
  return cluster;
}

Certificate Ends::of_end(const End& end, Evidence evidence, Certify level) const {
  evidence.pairs = end.pairs;
  evidence.k = end.k;
  evidence.statement = end.proof;
  if (both() && evidence.estimate < 1) evidence.estimate = end.sine;
  return certificate_of(evidence, level, false);
}

// With the most that rounding can hide.
bool Ends::chosen_for_certain(const Evidence& evidence) const {
  return std::all_of(ends_.begin(), ends_.end(), [&](const End& end) {
    if (end.limit == beyond_all) return true;
    return end.proof && largest_next(end.pairs, end.k, *end.proof) + 4 * evidence.rounding <= end.limit;
  });
}

Certificate Ends::certificate(Evidence evidence, Certify level, bool ambiguous) const {
  if (!both()) {
    evidence.pairs = ends_[0].pairs;
    evidence.statement = ends_[0].proof;
    return certificate_of(evidence, level, ambiguous);
  }
  Certificate out = of_end(ends_[0], evidence, level);
  const Certificate low = of_end(ends_[1], evidence, level);
  if (level == Certify::none) return out;
  out.residual = std::hypot(out.residual, low.residual);
  out.rounding = std::sqrt(static_cast<double>(k_)) * evidence.rounding;
  out.nothing_missed_below = -low.nothing_missed_above;
  out.nothing_missed_count_below = low.nothing_missed_count;
  out.nothing_missed_probability += low.nothing_missed_probability;
  out.nothing_missed = std::min(out.nothing_missed, low.nothing_missed);
  const double bound = std::hypot(out.sin_theta_bound, low.sin_theta_bound);
  out.sin_theta_bound = bound < 1 && chosen_for_certain(evidence) ? bound : beyond_all;
  const double estimate = chosen() ? std::hypot(out.sin_theta_estimate, low.sin_theta_estimate) : 1;
  out.sin_theta_estimate = std::isnan(evidence.estimate) ? evidence.estimate : std::min(1.0, estimate);
  if (out.sin_theta_bound < 1) out.sin_theta_estimate = std::fmin(out.sin_theta_bound, out.sin_theta_estimate);
  out.sin_theta = out.sin_theta_bound < 1      ? Knowledge::bound
                  : out.sin_theta_estimate < 1 ? Knowledge::estimate
                                               : Knowledge::unknown;
  if (low.assumptions.size() > out.assumptions.size()) out.assumptions = low.assumptions;
  if (ambiguous) out.cluster = cluster(evidence);
  return out;
}

}  // namespace hearsay::detail

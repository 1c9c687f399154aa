#include "solver/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/qr.hpp"
#include "solver/filter.hpp"
#include "solver/negated.hpp"
#include "solver/probe.hpp"
#include "solver/tuning.hpp"

namespace hearsay::detail {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// ---- When to stop

template <class S>
std::optional<Status> Judge<S>::verdict() {
  PowerState<S>& state = run_.state;
  if (reached(run_.latest().residual, run_.latest().sin_theta_estimate) &&
      state.t >= state.last_recheck + tuning::recheck_after) {
    if (confirm()) {
      const auto said = claim();
      claimed_ = said.has_value();
      if (said || joined_) return said;
    }
    state.last_recheck = state.t;
  }
  if (averaging_.applies()) return averaging_.verdict();
  const bool at_limit = state.t >= iteration_limit(run_.options) || budget_is_spent();
  if (state.cooldown_left > 0 && !at_limit) return --state.cooldown_left, std::nullopt;
  if (run_.cooling()) return Status::noise_floor;
  refuse_hopeless_momentum();
  if (run_.options.stop_at_noise_floor) {
    const auto floor = run_.products_are_noisy() ? judge_noise_floor() : judge_rounding_floor();
    if (floor || joined_ || run_.cooling()) return floor;
  }
  return at_limit ? std::optional(Status::iteration_limit) : std::nullopt;
}

// With what the answer's own product will cost.
template <class S>
bool Judge<S>::budget_is_spent() const {
  const auto& budget = run_.options.product_budget;
  return budget && run_.state.products + run_.p() + run_.k() > *budget;
}

template <class S>
std::optional<Status> Judge<S>::judge_rounding_floor() {
  const PowerState<S>& state = run_.state;
  const bool floor =
      at_rounding_floor(run_.stopping, state.history) ||
      (run_.goal.sine > 0 && run_.goal.out_of_reach(pairs(), run_.k(), run_.latest().residual, expected_rounding()));
  if (!floor) return std::nullopt;
  if (run_.start_is_unsound() && !unproven_) {
    if (state.t < state.last_recheck + tuning::recheck_after && state.t < iteration_limit(run_.options))
      return std::nullopt;
    confirm();
    claimed_ = true;
    const auto said = look_for_what_was_missed();
    if (joined_) claimed_ = false;
    if (joined_ || (said && *said != Status::converged)) return said;
  }
  return !run_.sees_gap() || resolved(run_.latest().sin_theta_estimate) ? Status::rounding_floor : Status::ambiguous;
}

template <class S>
std::optional<Status> Judge<S>::judge_noise_floor() {
  PowerState<S>& state = run_.state;
  if (!stagnant(state.history) || !transient_is_over(run_.stopping, state.history)) return std::nullopt;
  const bool cools = run_.options.momentum.rule != Momentum::Rule::none && run_.options.cooldown > 0;
  if (!cools || state.t >= iteration_limit(run_.options)) return Status::noise_floor;
  state.cooldown_left = run_.options.cooldown - 1;
  state.has_previous = false;
  return std::nullopt;
}

// With 2 sqrt(beta) >= lambda_k the wanted eigenvalues are damped with the others and nothing converges. A Ritz value
// proves only that lambda_k is no less, so this waits for a long time without progress.
template <class S>
void Judge<S>::refuse_hopeless_momentum() const {
  if (!run_.options.check_momentum || !run_.edge_is_fixed() || run_.state.t < tuning::hopeless_after) return;
  const HistoryEntry& now = run_.latest();
  if (now.edge >= now.theta_k && stagnant(run_.state.history))
    throw InvalidArgument(fmt::format(
        "momentum = {:.6g}: 2 sqrt(momentum) = {:.6g} must lie below lambda_k, which measures {:.6g} after {} "
        "iterations without progress; `momentum` auto finds a value",
        std::ldexp(now.edge * now.edge / 4, 2 * run_.exponent), std::ldexp(now.edge, run_.exponent),
        std::ldexp(now.theta_k, run_.exponent), run_.state.t));
}

template <class S>
bool Judge<S>::take_joined() {
  return std::exchange(joined_, false);
}

// ---- What may be said of the best basis

// A block that sees no gap is asked for its sine when it claims something.
template <class S>
bool Judge<S>::reached(double residual, double sine) const {
  const bool asked_later = !run_.sees_gap() && !run_.plan.noisy && std::isnan(sine);
  return asked_later ? residual <= run_.goal.tolerance : run_.goal.met(residual, sine);
}

// Claims rest on a product of the very basis that is returned. A X U is one where products are exact, as long as
// rounding is far below what is claimed.
template <class S>
bool Judge<S>::confirm() {
  PowerState<S>& state = run_.state;
  const Extracted<S>& now = run_.now;
  const Index k = run_.k();
  const bool latest_is_best = state.best_residual == run_.latest().residual;
  if (!run_.has_basis) {  // rounding is far below: of the columns only the answer's are needed
    extract<S>(state.X, run_.Y, {run_.rotation.values.head(k), run_.rotation.vectors.leftCols(k)}, k, run_.scale(),
               confirmed_);
    state.best_residual = state.history.back().residual = confirmed_.residual;
    state.best_sine = run_.latest().sin_theta_estimate;
    state.best_basis.resize(0, 0);
  } else if (run_.facts.exact && !run_.plan.noisy && latest_is_best &&
             state.best_residual > tuning::near_rounding * run_.stopping.epsilon) {
    confirmed_.V = state.best_basis.leftCols(k);
    confirmed_.theta = now.theta.head(k);
    confirmed_.residuals = now.residuals.head(k);
    confirmed_.residual = now.residual;
    confirmed_.absolute_residual = now.absolute_residual;
  } else {
    confirmed_ = measure<S>(run_.A, state.best_basis.leftCols(k), state.exponent);
    run_.count_products(k);
  }
  return reached(confirmed_.residual, sine_of_confirmed());
}

template <class S>
double Judge<S>::sine_of_confirmed() const {
  const PowerState<S>& state = run_.state;
  const bool grown = state.best_residual > 0 && confirmed_.residual > state.best_residual;
  return state.best_sine * (grown ? confirmed_.residual / state.best_residual : 1);
}

// What may be said of a basis whose residual, and sine where it was asked for, are confirmed; nothing where columns
// that were missed have joined the block.
template <class S>
std::optional<Status> Judge<S>::claim() {
  const PowerState<S>& state = run_.state;
  const Index k = run_.k();
  if (run_.plan.noisy || run_.products_are_noisy()) return Status::converged;
  const bool sees_gap = run_.sees_gap(), estimate_counts = sees_gap && !run_.start_is_unsound();
  if (estimate_counts && !resolved(sine_of_confirmed())) {
    note_what_is_proven();
    return resolved(known_sine(state.proven_count, state.proven_above)) ? Status::converged : Status::ambiguous;
  }
  if (k == run_.d()) return Status::converged;
  const bool asked = run_.options.certify == Certify::full || (run_.goal.sine > 0 && !estimate_counts);
  if (asked) note_what_is_proven();
  if (estimate_counts && state.proven_count >= k) return Status::converged;
  if (estimate_counts && !believable(pairs(), k, sine_of_confirmed())) return std::nullopt;
  if (!asked || (run_.known.sound_start && sees_gap)) return Status::converged;
  return look_for_what_was_missed();
}

// ---- That nothing was missed

template <class S>
void Judge<S>::note_what_is_proven() {
  PowerState<S>& state = run_.state;
  if (!(state.start_norm > 0) || run_.plan.noisy || run_.options.certify != Certify::full) return;
  const Filter filter(filter_steps(state.filter), state.start_columns, state.start_norm, depth());
  const Vector<double> theta = run_.now.theta.template cast<double>();
  double best = known_sine(state.proven_count, state.proven_above);
  for (Index q = run_.k(); q < std::min({theta.size(), run_.p(), run_.k() + tuning::counts_to_try}); ++q) {
    const double above = filter.nothing_above(q, theta(q) + expected_rounding(), theta(q - 1));
    const double sine = known_sine(q, above);
    if (!(sine < best) && state.proven_count >= run_.k()) continue;
    if (!std::isfinite(above)) continue;
    best = sine;
    state.proven_count = q;
    state.proven_above = above;
  }
}

// How far below zero the spectrum may reach, which the block does not show: random columns of their own do, as a bound
// that fails as rarely as the others.
template <class S>
double Judge<S>::depth() {
  if (run_.facts.positive_semidefinite) return 0;
  if (depth_) return *depth_;
  PowerState<S>& state = run_.state;
  const Index most = std::max(tuning::least_proof_passes, state.passes / tuning::proof_share);
  const auto& budget = run_.options.product_budget;
  if (budget && state.products + tuning::proof_columns * most + run_.k() > *budget)
    return std::numeric_limits<double>::infinity();
  const Negated<S> minus(run_.A);
  const auto found =
      probe<S>(minus, ConstBlockView<S>(state.X.leftCols(0)), state.exponent, tuning::proof_columns, 1, most,
               tuning::deep_beside_wanted * static_cast<double>(run_.now.theta(run_.k() - 1)), run_.options.seed);
  run_.count_products(found.products, found.passes);
  state.probe_passes += found.passes;
  state.probe_products += found.products;
  depth_ =
      found.finite ? std::max(0.0, found.nothing_above) + largest_rounding() : std::numeric_limits<double>::infinity();
  return *depth_;
}

template <class S>
double Judge<S>::known_sine(Index count, double above) const {
  return sine_bound(pairs(), run_.k(), {.count = count, .above = above});
}

template <class S>
std::optional<Status> Judge<S>::look_for_what_was_missed() {
  PowerState<S>& state = run_.state;
  const Index k = run_.k();
  const bool has_gap = run_.sees_gap(), must_prove = run_.start_is_unsound() || !has_gap;
  const auto theta_k = static_cast<double>(confirmed_.theta(k - 1));
  const double next = has_gap ? static_cast<double>(run_.now.theta(k)) : 0.0;
  const auto found = probe<S>(
      run_.A, confirmed_.V, state.exponent, tuning::proof_columns, tuning::least_proof_passes,
      must_prove ? tuning::most_probe_passes : std::max(tuning::least_proof_passes, state.passes / tuning::proof_share),
      has_gap ? (theta_k + next) / 2 : theta_k, run_.options.seed);
  run_.count_products(found.products, found.passes);
  state.probe_passes += found.passes;
  state.probe_products += found.products;
  if (!found.finite) return Status::iteration_limit;
  state.frobenius = std::max(state.frobenius, found.frobenius);
  const double seen = found.theta.size() > 0 ? std::max(0.0, found.theta(0)) : 0.0;
  if (seen > theta_k + confirmed_.absolute_residual + 2 * expected_rounding()) {
    if (++run_.joins > tuning::most_joins) {
      unproven_ = true;
      return Status::iteration_limit;
    }
    run_.join(confirmed_.V, found.vectors);
    joined_ = true;
    return std::nullopt;
  }
  if (found.nothing_above < theta_k) {
    state.proven_count = k;
    state.proven_above = found.nothing_above + expected_rounding();
  }
  if (!has_gap)
    estimate_from_outside(found.theta, found.residuals);
  else if (seen > next)
    state.best_sine = std::max(state.best_sine, sin_theta_estimate(pairs(), k, seen));
  return judge_what_was_seen(found.nothing_above, must_prove);
}

template <class S>
std::optional<Status> Judge<S>::judge_what_was_seen(double nothing_above, bool must_prove) {
  const double known = known_sine(run_.state.proven_count, run_.state.proven_above);
  const double sine = std::min(known, sine_of_confirmed());
  if (!resolved(sine)) return Status::ambiguous;
  if (run_.goal.sine > 0 && !(sine <= run_.goal.sine)) return std::nullopt;
  const auto theta_k = static_cast<double>(confirmed_.theta(run_.k() - 1));
  const bool lacks_proof =
      run_.start_is_unsound() ? !(known <= run_.goal.sine_or_resolved()) : must_prove && !(nothing_above < theta_k);
  if (!lacks_proof) return Status::converged;
  unproven_ = true;
  return Status::iteration_limit;
}

// A block of k columns sees no gap; the look for what was missed does.
template <class S>
void Judge<S>::estimate_from_outside(const Vector<double>& theta, const Vector<double>& residuals) {
  const Index k = run_.k(), more = theta.size();
  if (more == 0) {  // k is all there is
    run_.state.best_sine = 0;
    return;
  }
  RitzPairs both = pairs();
  both.theta.conservativeResize(k + more);
  both.residuals.conservativeResize(k + more);
  both.most_copies = tuning::proof_columns;
  both.theta.tail(more) = theta;
  both.residuals.tail(more) = residuals.array() + expected_rounding();
  for (Index i = 0; i < std::min(k, confirmed_.residuals.size()); ++i)
    both.residuals(i) = std::max(both.residuals(i), confirmed_.residuals(i) + expected_rounding());
  both.coupling = both.residuals.head(k).maxCoeff();
  outside_ = both;
  run_.state.best_sine = sine_beside_outside();
}

// What was seen outside is orthogonal to V, but V's residuals may lie along it.
template <class S>
double Judge<S>::sine_beside_outside() const {
  const Index k = run_.k();
  const double next = outside_.theta(k) + outside_.residuals(k);
  return std::min(1.0, sine_bound(outside_, k, {.count = k, .above = next}));
}

// ---- Rounding, of one column, in the units of theta

template <class S>
RitzPairs Judge<S>::pairs() const {
  const bool from_probe = run_.joins > 0 || run_.start_is_unsound();
  return {.theta = run_.now.theta.template cast<double>(),
          .residuals = (run_.now.residuals.array() + expected_rounding()).matrix(),
          .coupling = expected_rounding(),
          .most_copies = from_probe                    ? tuning::proof_columns
                         : run_.hooks.start == nullptr ? -1
                                                       : run_.known.columns};
}

template <class S>
double Judge<S>::frobenius() const {
  return std::hypot(run_.state.frobenius, run_.now.theta.template cast<double>().norm());
}

// The most: the sums of a product, and the matrix itself rounded to S.
template <class S>
double Judge<S>::largest_rounding() const {
  return product_rounding<S>(run_.facts, run_.d(), frobenius(), run_.state.exponent) + unavoidable_rounding();
}

template <class S>
double Judge<S>::unavoidable_rounding() const {
  return 0.5 * run_.stopping.epsilon * frobenius();
}

template <class S>
double Judge<S>::expected_rounding() const {
  return detail::expected_rounding<S>(largest_rounding(), unavoidable_rounding(), measured_rounding_);
}

// ---- The end

template <class S>
Status Judge<S>::confirm(Status status) {
  if (!claimed_) {
    const bool met = confirm();
    if (met && status != Status::ambiguous && status != Status::stopped_by_observer) status = claim().value_or(status);
  }
  return status == Status::converged ? measure_rounding() : status;
}

template <class S>
void Judge<S>::confirm_averages(const Averaged<S>& averaged) {
  confirmed_ = measure<S>(run_.A, averaged.V, run_.state.exponent);
  run_.count_products(run_.k());
  confirmed_.V = averaged.V;
  confirmed_.theta = averaged.theta.head(run_.k()).template cast<S>();
  claimed_ = true;
}

template <class S>
void Judge<S>::confirm_without_products() {
  PowerState<S>& state = run_.state;
  if (state.best_basis.size() == 0) {  // no V yet: the columns of a QR are nested
    state.best_basis = all_finite<S>(state.X) ? state.X : state.X_prev;
    thin_qr<S>(state.best_basis, state.R);
  }
  confirmed_.V = state.best_basis.leftCols(run_.k());
  confirmed_.residual = state.best_residual;
  confirmed_.absolute_residual = run_.best_absolute;
  confirmed_.theta = Vector<S>::Constant(run_.k(), std::numeric_limits<S>::quiet_NaN());
}

// In single precision what rounding does is measured, and a claim that does not outlive this is taken back.
template <class S>
Status Judge<S>::measure_rounding() {
  PowerState<S>& state = run_.state;
  const Index k = run_.k();
  if (sizeof(S) == sizeof(double) || run_.plan.noisy || run_.products_are_noisy() ||
      run_.options.certify == Certify::none)
    return Status::converged;
  const double before = expected_rounding();
  measured_rounding_ = unavoidable_rounding() +
                       tuning::rounding_beyond_measured *
                           detail::measured_rounding<S>(run_.A, confirmed_.V, state.exponent, run_.options.seed);
  run_.count_products(2 * (k + 1), 2);
  if (!std::isfinite(state.best_sine) || k == run_.d() || run_.latest().sin_theta_estimate == 0)
    return Status::converged;
  if (outside_.size() > 0) {
    outside_.residuals.array() += expected_rounding() - before;
    state.best_sine = sine_beside_outside();
  } else {
    state.best_sine *= sin_theta_estimate(pairs(), k) / run_.latest().sin_theta_estimate;
  }
  const double sine = sine_of_confirmed();
  if (!resolved(sine)) return Status::ambiguous;
  return run_.goal.sine == 0 || sine <= run_.goal.sine ? Status::converged : Status::rounding_floor;
}

template <class S>
Evidence Judge<S>::evidence(double estimate) const {
  const PowerState<S>& state = run_.state;
  const Index k = run_.k();
  const bool exact = !run_.plan.noisy && !run_.products_are_noisy(), all = run_.p() == run_.d();
  Evidence evidence{.pairs = outside_.size() > 0 ? outside_ : pairs(),
                    .rounding = std::max(largest_rounding(), expected_rounding()),
                    .rounding_expected = expected_rounding(),
                    .k = k,
                    .d = run_.d(),
                    .exact = exact,
                    .all = all,
                    .estimate = estimate,
                    .frobenius = frobenius(),
                    .random_columns = state.start_norm > 0     ? state.start_columns
                                      : state.probe_passes > 0 ? tuning::proof_columns
                                                               : 0,
                    .probe_passes = state.probe_passes,
                    .probe_products = state.probe_products};
  // the basis returned may be an earlier one than the block's
  const double now = run_.now.absolute_residual;
  if (confirmed_.absolute_residual > now)
    evidence.pairs.residuals.head(k) *= now > 0 ? confirmed_.absolute_residual / now : 1.0;
  if (all && exact && evidence.pairs.size() > k)  // nested columns have k Ritz values and no more
    evidence.statement = Statement{.count = k,
                                   .above = evidence.pairs.theta(k) + evidence.pairs.residuals(k) + largest_rounding(),
                                   .probability = 0};
  else if (state.proven_count > 0)
    evidence.statement = Statement{
        .count = state.proven_count, .above = state.proven_above, .probability = miss_probability * (depth_ ? 2 : 1)};
  if (run_.start_is_unsound() && !evidence.statement) evidence.estimate = unknown;
  return evidence;
}

template class Judge<float>;
template class Judge<double>;

}  // namespace hearsay::detail

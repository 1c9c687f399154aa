// Accelerated Noisy Power Method (ANPM).
//   X_1, R_1 = QR(A X_0 / 2 + Xi_0)
//   Y_{t+1}  = A X_t - beta X_{t-1} R_t^{-1} + Xi_t,    X_{t+1}, R_{t+1} = QR(Y_{t+1}),    t >= 1
//
// Reference   Aguie, Even, Massoulie (2026), Section 2.
// Departures  Centred damping runs the same recurrence on A - (b/2) I with beta = (b/4)^2, which damps [0, b] instead
//             of [-b, b]. The noise is the product's own, so that the first step halves it with the product. The paper
//             runs T steps; we stop on a residual that costs no extra product, confirm it with one where products may
//             err, and under noise stop at the floor, after a few steps without momentum. Where products are exact and
//             cheap beside a QR, several steps run between two QRs: a QR only changes the basis, and R undoes that.
// Legend      d, k, p  dimension, rank, block columns | X  d x p orthonormal | Y  A X_t, then Y_{t+1} | R  p x p upper
//             triangular | H  X'AX | b  edge of the damped interval | beta  momentum | V  d x k, the answer so far
#include "hearsay/power.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/random.hpp"
#include "linalg/memory.hpp"
#include "solver/certificate.hpp"
#include "solver/extract.hpp"
#include "solver/filter.hpp"
#include "solver/power.hpp"
#include "solver/probe.hpp"
#include "solver/resume.hpp"
#include "solver/scale.hpp"
#include "solver/settle.hpp"
#include "solver/stopping.hpp"

namespace hearsay {

namespace {

using detail::Known;
using detail::Plan;
using detail::qr_is_dear;
using detail::RitzPairs;
using detail::Statement;
using detail::whole_lines;

// Random columns of a look for what was missed, and the passes that a start that was given may cost: without them
// nothing is known of what it left out.
constexpr Index probe_columns = 8;
constexpr Index most_probe_passes = 200;
constexpr int most_joins = 10;  // of what was found so

// Where the Ritz values of the whole block cannot be told apart, the edge is put here.
constexpr double edge_without_gap = 0.5;

template <class S>
class Solve {
 public:
  Solve(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks, const Known& known)
      : A_(A),
        options_(options),
        hooks_(hooks),
        known_(known),
        facts_(A.facts()),
        plan_(detail::settle(A.dim(), facts_, options)),
        stopping_{.d = plan_.d,
                  .k = plan_.k,
                  .p = plan_.p,
                  .epsilon = std::numeric_limits<S>::epsilon(),
                  .noisy = plan_.noisy,
                  .watch = options.products == Products::automatic && !facts_.exact,
                  .damping = plan_.damping} {
    if (options.check_momentum && edge_is_fixed()) require_momentum_below(std::ldexp(A.norm_bound(), facts_.exponent));
    require(!hooks.checkpoint || hooks.checkpoint_every >= 1,
            fmt::format("checkpoint_every = {}: must be at least 1", hooks.checkpoint_every));
    if (hooks.reference != nullptr)
      require(hooks.reference->rows() == plan_.d,
              fmt::format("reference of {} rows: must have {}, as the matrix has", hooks.reference->rows(), plan_.d));
    start();
  }

  PowerResult<S> run() {
    for (Index saved = 0;;) {
      if (hooks_.checkpoint && state_.t / hooks_.checkpoint_every > saved / hooks_.checkpoint_every) save();
      saved = state_.t;
      multiply();  // A X_t + Xi_t
      if (state_.t == 0) {
        state_.exponent = exponent_to_begin_with();
        total_exponent_ = facts_.exponent + state_.exponent;
      }
      detail::rescale<S>(Y_, state_.exponent);
      if (hooks_.resume != nullptr && state_.t == hooks_.resume->t) detail::require_its_scale<S>(Y_, state_.exponent);
      if (state_.t == 0) {
        state_.frobenius = std::max(state_.frobenius, known_.in_units_of(total_exponent_, known_.frobenius));
        state_.proven_count = known_.statement.count;
        state_.proven_above = known_.in_units_of(total_exponent_, known_.statement.above);
      }
      if (state_.t == 0 && state_.start_norm > 0)  // E ||A x||^2 = ||A||_F^2 / d for a random unit vector x
        state_.frobenius = std::sqrt(static_cast<double>(plan_.d) / static_cast<double>(plan_.p)) *
                           static_cast<double>(frobenius_norm<S>(Y_));
      const Small<S> H = gram<S>(state_.X, Y_);
      if (!H.allFinite()) return break_down();  // X has no zero column: whatever is not finite in Y shows here
      const SmallEigen<S> ritz = symmetric_eigen<S>(H);
      require_no_negative_eigenvalue(H, ritz.values);
      look(H, ritz);
      look_for_a_gap();
      const Recurrence recurrence = damping(edge(H, ritz.values));
      remember(H, ritz.values, recurrence);

      if (hooks_.observe && !observe(recurrence.shift)) return finish(Status::stopped_by_observer);
      if (const auto verdict = judge()) return finish(*verdict);
      if (std::exchange(joined_, false)) continue;
      if (widen()) {
        if (!step(damping(0.9 * recurrence.edge))) return break_down();  // low enough for the new columns to rise
        continue;
      }
      narrow();
      if (!step(recurrence)) return break_down();
    }
  }

 private:
  // What is damped, and how: Y_{t+1} = (A - shift I) X_t - beta X_{t-1} R_t^{-1}.
  struct Recurrence {
    double edge, shift, beta;
  };

  Recurrence damping(double b) const {
    if (plan_.damping == Damping::centred) return {.edge = b, .shift = b / 2, .beta = b * b / 16};
    return {.edge = b, .shift = 0, .beta = b * b / 4};
  }

  double shift() const { return std::ldexp(facts_.shift, -state_.exponent); }  // of A, in the units of Y

  void multiply() {
    A_.apply(state_.X, Y_);
    count_product();
  }

  // A start that was given may be taken to nothing: a random column says what the matrix does.
  int exponent_to_begin_with() {
    if (hooks_.start == nullptr || plan_.noisy || known_.sound_start || hooks_.start->cols() < plan_.p)
      return detail::exponent_for<S>(Y_);
    Block<S> both(plan_.d, plan_.p + 1);
    both << Y_, detail::image_of_random_column<S>(A_, options_.seed);
    ++state_.products;
    ++state_.passes;
    const int exponent = detail::exponent_for<S>(both);
    detail::rescale<S>(both, exponent);
    state_.frobenius = std::sqrt(static_cast<double>(plan_.d)) * static_cast<double>(both.rightCols(1).norm());
    return exponent;
  }

  void count_product() {
    state_.products += plan_.p;
    ++state_.passes;
  }

  bool edge_is_fixed() const { return options_.momentum.rule == Momentum::Rule::fixed; }

  void start() {
    detail::resize_large<S>(Y_, plan_.d, plan_.p);
    if (hooks_.resume != nullptr) {
      detail::require_resumable<S>(*hooks_.resume, plan_, options_);
      state_ = *hooks_.resume;
      widened_ = state_.X.cols() > plan_.p;
      if (widened_ && plan_.extraction == Extraction::nested) plan_.extraction = Extraction::ritz;  // as join() does
      plan_.p = stopping_.p = state_.X.cols();
      Y_.resize(plan_.d, plan_.p);
      A_.seek(state_.operator_position);
      total_exponent_ = facts_.exponent + state_.exponent;
      return;
    }
    detail::resize_large<S>(state_.X, plan_.d, plan_.p);
    detail::resize_large<S>(state_.X_prev, plan_.d, plan_.p);
    fill_normal<S>({.seed = options_.seed, .stream = Stream::start_block}, state_.X);  // X_0
    if (hooks_.start != nullptr) {
      const Index given = std::min(hooks_.start->cols(), plan_.p);
      require(hooks_.start->rows() == plan_.d,
              fmt::format("start block of {} rows: must have {}, as the matrix has", hooks_.start->rows(), plan_.d));
      require(all_finite<S>(*hooks_.start), "start block: has a value that is not finite");
      state_.X.leftCols(given) = hooks_.start->leftCols(given);
    }
    thin_qr<S>(state_.X, state_.R);
    if (hooks_.start == nullptr) {
      state_.start_norm = static_cast<double>(spectral_norm<S>(Block<S>(state_.R)));
      state_.start_columns = plan_.p;
    }
  }

  void require_no_negative_eigenvalue(const Small<S>& H, const Vector<S>& theta) const {
    const double scale = std::max(static_cast<double>(H.norm()), state_.frobenius);
    double slack = 1e3 * stopping_.epsilon * scale +
                   30 * std::sqrt(static_cast<double>(plan_.p)) *
                       std::max(detail::noise_from_asymmetry<S>(H), plan_.noisy ? 1e-12 * scale : 0.0);
    const auto least = static_cast<double>(theta(theta.size() - 1));
    if (least < -slack)
      slack = std::max(slack, detail::slack_of_norm(A_.norm_bound(), stopping_.epsilon, state_.exponent));
    detail::require_no_negative_eigenvalue(least, slack, total_exponent_);
  }

  double edge(const Small<S>& H, const Vector<S>& theta) const {
    if (state_.cooldown_left >= 0) return 0;
    switch (options_.momentum.rule) {
      case Momentum::Rule::automatic:
        return (state_.no_gap ? edge_without_gap : 1.0) * std::max(0.0, static_cast<double>(theta(theta.size() - 1)));
      case Momentum::Rule::paper:
        return std::abs(static_cast<double>(H.diagonal().minCoeff()));
      case Momentum::Rule::fixed:
        return std::ldexp(options_.momentum.edge, -total_exponent_);
      case Momentum::Rule::none:
        break;
    }
    return 0;
  }

  // Whether all columns from the k-th on belong to one cluster of eigenvalues, as far as their residuals tell: an edge
  // that close to lambda_k would damp what is wanted.
  void look_for_a_gap() {
    if (plan_.noisy || plan_.extraction != Extraction::ritz || plan_.p == plan_.k) return;
    const auto gap = static_cast<double>(now_.theta(plan_.k - 1) - now_.theta(plan_.p - 1));
    const double residuals = now_.residuals(plan_.k - 1) + now_.residuals(plan_.p - 1);
    if (state_.no_gap) {
      state_.no_gap = !(gap > 0.1 * residuals);  // there is one after all
    } else if (now_.residual <= 1e-2) {
      const bool slow = state_.t >= 20 && gap <= 1e-3 * residuals;
      state_.no_gap = slow || (gap <= 0.01 * residuals && detail::stagnant(state_.history));
    }
  }

  // V and its residuals. Where blocks are large and nobody needs V yet, r_i^2 = u_i'Y'Y u_i - theta_i^2 says as
  // much for a fifth of the work, as long as it is not lost in rounding.
  void look(const Small<S>& H, const SmallEigen<S>& ritz) {
    rotation_ = detail::extraction_rotation<S>(H, ritz, plan_.k, plan_.extraction);
    has_basis_ = !(free_to_save() && plan_.extraction == Extraction::ritz && hooks_.reference == nullptr &&
                   (!hooks_.observe || !hooks_.observe_basis) &&
                   detail::residuals_from_gram<S>(rotation_, Y_, plan_.k, shift(), now_));
    if (has_basis_) detail::extract<S>(state_.X, Y_, rotation_, plan_.k, shift(), now_);
  }

  void remember(const Small<S>& H, const Vector<S>& theta, const Recurrence& recurrence) {
    const double b = recurrence.edge;
    HistoryEntry entry{.t = state_.t,
                       .momentum = recurrence.beta,
                       .edge = b,
                       .residual = now_.residual,
                       .noise = detail::noise_from_asymmetry<S>(H),
                       .theta_1 = static_cast<double>(theta(0)),
                       .theta_k = static_cast<double>(theta(plan_.k - 1)),
                       .theta_next = plan_.p > plan_.k ? static_cast<double>(theta(plan_.k))
                                                       : std::numeric_limits<double>::quiet_NaN()};
    if (hooks_.reference != nullptr)
      entry.sin_theta = static_cast<double>(sin_theta<S>(*hooks_.reference, now_.V.leftCols(plan_.k)));
    if (!plan_.noisy && plan_.extraction == Extraction::ritz && plan_.p > plan_.k) {
      // What a fixed edge damps has not converged: lambda_{k+1} may be anywhere below it.
      const double damped = edge_is_fixed() && b < entry.theta_k ? b : 0;
      entry.sine_estimate = detail::sine_estimate(pairs(), plan_.k, damped);
    }
    if (plan_.k == plan_.d && !plan_.noisy) entry.sine_estimate = 0;
    state_.history.push_back(entry);
    // Under noise a small residual is luck; the latest basis is the best one there.
    if (!has_basis_) {
      state_.best_residual = std::numeric_limits<double>::infinity();  // what comes next is better than nothing
    } else if (plan_.noisy || entry.residual <= state_.best_residual || state_.best_basis.size() == 0) {
      state_.best_residual = entry.residual;
      state_.best_sine = entry.sine_estimate;
      state_.best_basis.swap(now_.V);
      absolute_residual_ = now_.absolute_residual;
    }
  }

  bool observe(double shift) {
    const auto in_users_scale = detail::unscaled(state_.history.back(), total_exponent_);
    return hooks_.observe({.entry = in_users_scale,
                           .X = state_.X,
                           .basis = has_basis_ ? state_.best_basis.leftCols(plan_.k) : state_.X.leftCols(0),
                           .shift = std::ldexp(shift, total_exponent_),
                           .cooling = state_.cooldown_left >= 0});
  }

  std::optional<Status> judge() {
    const auto& history = state_.history;
    if (reached(history.back().residual, history.back().sine_estimate) && state_.t >= state_.last_recheck + 5) {
      if (confirmed()) {
        const auto verdict = claim();
        claimed_ = verdict.has_value();
        if (verdict || joined_) return verdict;
      }
      state_.last_recheck = state_.t;
    }
    if (state_.cooldown_left > 0 && state_.t < options_.max_iterations) return --state_.cooldown_left, std::nullopt;
    if (state_.cooldown_left >= 0) return Status::noise_floor;
    refuse_hopeless_momentum();
    if (options_.stop_at_noise_floor) {
      const bool noisy = detail::products_are_noisy(stopping_, history);
      if (!noisy && (detail::at_rounding_floor(stopping_, history) || goal_is_out_of_reach())) {
        if (unsound_start() && !unproven_) {
          if (state_.t < state_.last_recheck + 5 && state_.t < options_.max_iterations) return std::nullopt;
          confirmed();
          claimed_ = true;
          const auto verdict = look_for_what_was_missed(sees_gap());
          if (joined_) claimed_ = false;
          if (joined_ || (verdict && *verdict != Status::converged)) return verdict;
        }
        return !sees_gap() || resolved(history.back().sine_estimate) ? Status::rounding_floor : Status::ambiguous;
      }
      if (noisy && detail::stagnant(history) && detail::transient_is_over(stopping_, history)) {
        const bool cools = options_.momentum.rule != Momentum::Rule::none && options_.cooldown > 0;
        if (!cools || state_.t >= options_.max_iterations) return Status::noise_floor;
        state_.cooldown_left = options_.cooldown - 1;
        state_.has_previous = false;
        return std::nullopt;
      }
    }
    if (state_.t >= options_.max_iterations) return Status::iteration_limit;
    return std::nullopt;
  }

  // ---- That nothing was missed

  bool unsound_start() const { return hooks_.start != nullptr && !known_.sound_start; }

  bool products_are_noisy() const { return detail::products_are_noisy(stopping_, state_.history); }

  bool resolved(double sine) const { return plan_.k == plan_.d || sine < detail::resolved_sine; }

  // No residual that rounding leaves, over the largest gap that the residuals allow, is as small as asked for.
  bool goal_is_out_of_reach() const {
    if (options_.sine_goal == 0 || plan_.p == plan_.k || plan_.extraction != Extraction::ritz) return false;
    if (state_.history.back().residual > options_.tolerance) return false;
    const RitzPairs now = pairs();
    const Index k = plan_.k;
    const double gap = now.theta(k - 1) + now.residuals(k - 1) - now.theta(k) + now.residuals(k);
    return expected_rounding() >= 2 * options_.sine_goal * gap;
  }

  // The block's Ritz values and residuals with what rounding may hide.
  RitzPairs pairs() const {
    return {.theta = now_.theta.template cast<double>(),
            .residuals = (now_.residuals.array() + expected_rounding()).matrix(),
            .coupling = expected_rounding(),
            .most_copies = joins_ > 0                ? probe_columns
                           : hooks_.start == nullptr ? -1
                           : known_.sound_start      ? known_.columns
                                                     : probe_columns};
  }

  double frobenius() const { return std::hypot(state_.frobenius, now_.theta.template cast<double>().norm()); }
  // The most: the sums of a product, and the matrix itself rounded to S.
  double largest_rounding() const {
    return detail::product_rounding<S>(facts_, plan_.d, frobenius()) + unavoidable_rounding();
  }
  double unavoidable_rounding() const { return 0.5 * stopping_.epsilon * frobenius(); }
  // In double the most is little; in single it would hide everything, so that it is measured at the end.
  double expected_rounding() const {
    return std::max(measured_rounding_, sizeof(S) == sizeof(double) ? largest_rounding() : unavoidable_rounding());
  }

  // What may be said of a basis whose residual, and sine where it was asked for, are confirmed; nothing where columns
  // that were missed have joined the block.
  std::optional<Status> claim() {
    if (plan_.noisy || products_are_noisy()) return Status::converged;
    const bool unsound = unsound_start();
    if (sees_gap() && !resolved(sine_of_confirmed()) && !unsound) {
      note_what_is_proven();
      return resolved(known_sine(state_.proven_count, state_.proven_above)) ? Status::converged : Status::ambiguous;
    }
    if (plan_.k == plan_.d) return Status::converged;
    const bool asked = options_.certify == Certify::full || (options_.sine_goal > 0 && (unsound || !sees_gap()));
    if (asked) note_what_is_proven();
    if (state_.proven_count >= plan_.k && sees_gap() && !unsound) return Status::converged;
    if (sees_gap() && !unsound && !detail::believable(pairs(), plan_.k, sine_of_confirmed())) return std::nullopt;
    if (!asked || (known_.sound_start && sees_gap())) return Status::converged;
    return look_for_what_was_missed(sees_gap());
  }

  // From the steps since X_0, as long as the block is what they made of it.
  void note_what_is_proven() {
    if (!(state_.start_norm > 0) || plan_.noisy || options_.certify != Certify::full) return;
    const detail::Filter filter(detail::filter_steps(state_.filter), state_.start_columns, state_.start_norm,
                                facts_.positive_semidefinite);
    const Vector<double> theta = now_.theta.template cast<double>();
    double best = known_sine(state_.proven_count, state_.proven_above);
    for (Index q = plan_.k; q < std::min({theta.size(), plan_.p, plan_.k + 5}); ++q) {
      const double above = filter.nothing_above(q, theta(q) + expected_rounding(), theta(q - 1));
      const double sine = known_sine(q, above);
      if (!(sine < best) && state_.proven_count >= plan_.k) continue;
      if (!std::isfinite(above)) continue;
      best = sine;
      state_.proven_count = q;
      state_.proven_above = above;
    }
  }

  double known_sine(Index count, double above) const {
    return detail::sine_bound(pairs(), plan_.k, {.count = count, .above = above});
  }

  std::optional<Status> look_for_what_was_missed(bool has_gap) {
    const bool must_prove = unsound_start() || !has_gap;
    const Index k = plan_.k;
    const double theta_k = static_cast<double>(confirmed_.theta(k - 1));
    const double next = has_gap ? static_cast<double>(now_.theta(k)) : 0.0;
    const auto found = detail::probe<S>(A_, confirmed_.V, state_.exponent, probe_columns, 2,
                                        must_prove ? most_probe_passes : std::max<Index>(2, state_.passes / 10),
                                        has_gap ? (theta_k + next) / 2 : theta_k, options_.seed);
    state_.passes += found.passes;
    state_.products += found.products;
    state_.probe_passes += found.passes;
    state_.probe_products += found.products;
    if (!found.finite) return Status::iteration_limit;
    state_.frobenius = std::max(state_.frobenius, found.frobenius);
    seen_outside_ = found.theta.size() > 0 ? std::max(0.0, found.theta(0)) : 0.0;
    if (seen_outside_ > theta_k + confirmed_.absolute_residual + 2 * expected_rounding()) {
      if (++joins_ <= most_joins) {
        join(found.vectors);
        return std::nullopt;
      }
      unproven_ = true;
      return Status::iteration_limit;
    }
    if (found.nothing_above < theta_k) {
      state_.proven_count = k;
      state_.proven_above = found.nothing_above + expected_rounding();
    }
    if (!has_gap)
      estimate_from_outside(found.theta, found.residuals);
    else if (seen_outside_ > next)
      state_.best_sine = std::max(state_.best_sine, detail::sine_estimate(pairs(), k, seen_outside_));
    const double known = known_sine(state_.proven_count, state_.proven_above);
    const double sine = std::min(known, sine_of_confirmed());
    if (!resolved(sine)) return Status::ambiguous;
    if (options_.sine_goal > 0 && !(sine <= options_.sine_goal)) return std::nullopt;
    const double goal = options_.sine_goal > 0 ? options_.sine_goal : detail::resolved_sine;
    if (unsound_start() ? !(known <= goal) : must_prove && !(found.nothing_above < theta_k)) {
      unproven_ = true;
      return Status::iteration_limit;
    }
    return Status::converged;
  }

  // A block of k columns sees no gap; the look for what was missed does.
  void estimate_from_outside(const Vector<double>& theta, const Vector<double>& residuals) {
    RitzPairs both = pairs();
    const Index k = plan_.k, more = theta.size();
    both.theta.conservativeResize(k + more);
    both.residuals.conservativeResize(k + more);
    both.most_copies = probe_columns;
    both.theta.tail(more) = theta;
    both.residuals.tail(more) = residuals.array() + expected_rounding();
    for (Index i = 0; i < k; ++i) both.residuals(i) = std::max(both.residuals(i), residual_of_column(i));
    both.coupling = both.residuals.head(k).maxCoeff();
    outside_ = both;
    state_.best_sine = sine_beside_outside();
  }

  // What was seen outside is orthogonal to V, but V's residuals may lie along it.
  double sine_beside_outside() const {
    const double next = outside_.theta(plan_.k) + outside_.residuals(plan_.k);
    return std::min(1.0, detail::sine_bound(outside_, plan_.k, {.count = plan_.k, .above = next}));
  }

  double residual_of_column(Index i) const {
    return confirmed_.residuals.size() > i ? confirmed_.residuals(i) + expected_rounding() : 0.0;
  }

  // Columns that were missed: the recurrence starts again from the wider block.
  void join(const Block<S>& columns) {
    const Index wider = std::min(plan_.d, plan_.k + columns.cols() + std::max<Index>(1, plan_.p - plan_.k));
    Block<S> block(plan_.d, wider);
    fill_normal<S>(
        {.seed = options_.seed, .stream = Stream::probe, .iteration = static_cast<std::uint32_t>(state_.t + 1)}, block);
    block.leftCols(plan_.k) = confirmed_.V;
    const Index fit = std::min(columns.cols(), wider - plan_.k);
    block.middleCols(plan_.k, fit) = columns.leftCols(fit);
    thin_qr<S>(block, state_.R);
    state_.X.swap(block);
    state_.X_prev.resize(plan_.d, wider);
    Y_.resize(plan_.d, wider);
    state_.has_previous = false;
    state_.start_norm = 0;
    state_.best_residual = std::numeric_limits<double>::infinity();
    state_.best_basis.resize(0, 0);
    plan_.p = stopping_.p = wider;
    if (plan_.extraction == Extraction::nested) plan_.extraction = Extraction::ritz;
    state_.last_recheck = state_.t;
    joined_ = widened_ = true;
  }

  void require_momentum_below(double bound) const {
    const double b = options_.momentum.edge;
    require(b < bound, fmt::format("momentum = {:.6g}: 2 sqrt(momentum) = {:.6g} must lie below lambda_k, and no "
                                   "eigenvalue exceeds {:.6g}",
                                   b * b / 4, b, bound));
  }

  // With 2 sqrt(beta) >= lambda_k the wanted eigenvalues are damped with the others and nothing converges. A Ritz value
  // proves only that lambda_k is no less, so this waits for a long time without progress.
  void refuse_hopeless_momentum() const {
    if (!options_.check_momentum || !edge_is_fixed() || state_.t < 500) return;
    const HistoryEntry& now = state_.history.back();
    if (now.edge >= now.theta_k && detail::stagnant(state_.history))
      throw InvalidArgument(fmt::format(
          "momentum = {:.6g}: 2 sqrt(momentum) = {:.6g} must lie below lambda_k, which measures {:.6g} after {} "
          "iterations without progress; `momentum` auto finds a value",
          std::ldexp(now.edge * now.edge / 4, 2 * total_exponent_), std::ldexp(now.edge, total_exponent_),
          std::ldexp(now.theta_k, total_exponent_), state_.t));
  }

  bool latest_is_best() const { return state_.best_residual == state_.history.back().residual; }

  bool sees_gap() const { return plan_.p > plan_.k && plan_.extraction == Extraction::ritz; }

  // A block that sees no gap is asked for its sine when it claims something.
  bool reached(double residual, double sine) const {
    return residual <= options_.tolerance &&
           (options_.sine_goal == 0 || sine <= options_.sine_goal || (!sees_gap() && !plan_.noisy && std::isnan(sine)));
  }

  // Claims rest on a product of the very basis that is returned. A X U is one where products are exact, as long as
  // rounding is far below what is claimed.
  bool confirmed() {
    if (!has_basis_) {  // rounding is far below: of the columns only the answer's are needed
      detail::extract<S>(state_.X, Y_, {rotation_.values.head(plan_.k), rotation_.vectors.leftCols(plan_.k)}, plan_.k,
                         shift(), confirmed_);
      state_.best_residual = state_.history.back().residual = confirmed_.residual;
      state_.best_sine = state_.history.back().sine_estimate;
      state_.best_basis.resize(0, 0);
    } else if (facts_.exact && !plan_.noisy && latest_is_best() && state_.best_residual > 1e4 * stopping_.epsilon) {
      confirmed_.V = state_.best_basis.leftCols(plan_.k);
      confirmed_.theta = now_.theta.head(plan_.k);
      confirmed_.residuals = now_.residuals.head(plan_.k);
      confirmed_.residual = now_.residual;
      confirmed_.absolute_residual = now_.absolute_residual;
    } else {
      confirmed_ = detail::measure<S>(A_, state_.best_basis.leftCols(plan_.k), state_.exponent);
      state_.products += plan_.k;
      ++state_.passes;
    }
    return reached(confirmed_.residual, sine_of_confirmed());
  }

  // The estimate is in proportion to the residual, where that has grown.
  double sine_of_confirmed() const {
    const bool grown = state_.best_residual > 0 && confirmed_.residual > state_.best_residual;
    return state_.best_sine * (grown ? confirmed_.residual / state_.best_residual : 1);
  }

  // Work is saved where there is some, products are exact, and nobody has asked for the paper's steps.
  bool free_to_save() const {
    return facts_.exact && !plan_.noisy && options_.momentum.rule == Momentum::Rule::automatic &&
           plan_.d * plan_.p >= 50000;
  }

  // At the pace that the Ritz values promise.
  double steps_to_goal() const {
    const HistoryEntry& now = state_.history.back();
    const double distance = std::max(now.residual / options_.tolerance,
                                     options_.sine_goal > 0 ? now.sine_estimate / options_.sine_goal : 0.0);
    return std::log(distance) / detail::rate(stopping_, now, 1e-15 * now.theta_k);
  }

  // How many steps to take to the next QR. The leading column outgrows the damped ones by exp(acosh(..)) a step, and
  // the block is kept well within what two passes of CholeskyQR can put right. The edge is learnt from the Ritz values,
  // so a stride is at most twice the last, and short again where the recurrence has just begun anew; and none goes
  // beyond where the end is expected.
  Index stride(double beta) const {
    if (plan_.noisy || state_.cooldown_left >= 0) return 1;
    const HistoryEntry& now = state_.history.back();
    const Index left = options_.max_iterations - state_.t;
    if (options_.qr_every > 0) return std::clamp<Index>(options_.qr_every, 1, std::max<Index>(1, left));
    if (!qr_is_dear(plan_.d, plan_.p, facts_) || !free_to_save() || !(beta > 0)) return 1;
    constexpr bool single = sizeof(S) == 4;
    const double growth = std::acosh(1 + (now.theta_1 - now.edge) / (2 * std::sqrt(beta)));
    const double by_condition = std::log(single ? 1e2 : 1e6) / growth;
    const double by_range = (single ? 12 : 100) / std::max(0.1, std::abs(std::log(std::sqrt(beta))));
    const Index last = state_.history.size() < 2 ? 1 : now.t - (state_.history.rbegin() + 1)->t;
    const auto by_edge = static_cast<double>(last > 1 && !state_.has_previous ? 6 : 2 * last);
    const double steps =
        std::min({by_condition, by_range, std::ceil(steps_to_goal()), by_edge, 16.0, static_cast<double>(left)});
    return std::max<Index>(1, static_cast<Index>(steps));
  }

  // A product costs about p + 4, by whole cache lines, and a wide block buys a low edge b = theta_p. Where the Ritz
  // values show that fewer columns get there sooner, the block is turned to its Ritz vectors and the last ones are let
  // go; X_{t-1} R_t^{-1} turns with it, so that the recurrence goes on.
  void narrow() {
    if (!free_to_save() || options_.oversample >= 0 || plan_.extraction != Extraction::ritz || state_.t < 4) return;
    HistoryEntry narrower = state_.history.back();
    const auto cost = [&](Index q) {
      narrower.edge = std::max(0.0, static_cast<double>(now_.theta(q - 1)));
      return static_cast<double>(whole_lines(q) + 4) / detail::rate(stopping_, narrower, 1e-15 * narrower.theta_k);
    };
    const double now = cost(plan_.p);
    Index best = plan_.p;
    for (Index q = plan_.k + 2; q < plan_.p; ++q)
      if (cost(q) < std::min(0.85 * now, cost(best))) best = q;
    if (best == plan_.p) return;
    note_what_is_proven();
    state_.start_norm = 0;
    if (state_.has_previous) {
      solve_right<S>(state_.R, state_.X_prev);
      turn(state_.X_prev, best);
      state_.R = Small<S>::Identity(best, best);
    } else {
      state_.X_prev.resize(plan_.d, best);
    }
    turn(state_.X, best);
    turn(Y_, best);
    plan_.p = stopping_.p = best;
  }

  // Where columns are few because a QR is dear, and the Ritz values have settled without a gap below the k-th, random
  // ones join the block for a lower edge, and the recurrence starts again from there.
  bool widen() {
    const Index wider = std::min(plan_.d, whole_lines(plan_.k + std::max<Index>(plan_.k / 3, 8)));
    if (widened_ || wider <= plan_.p || options_.oversample >= 0 || plan_.extraction != Extraction::ritz ||
        !free_to_save() || !qr_is_dear(plan_.d, plan_.p, facts_) || state_.history.size() < 2)
      return false;
    const HistoryEntry &now = state_.history.back(), &before = *(state_.history.rbegin() + 1);
    const bool settled = now.residual <= 1e-2 && std::abs(now.theta_k - before.theta_k) <= 0.05 * std::abs(now.theta_k);
    if (!settled || detail::rate(stopping_, now, 1e-15 * now.theta_k) > 0.35 || steps_to_goal() < 16) return false;
    note_what_is_proven();
    state_.start_norm = 0;
    Block<S> block;
    detail::resize_large<S>(block, plan_.d, wider);
    fill_normal<S>(
        {.seed = options_.seed, .stream = Stream::start_block, .iteration = static_cast<std::uint32_t>(state_.t)},
        block);
    block.leftCols(plan_.p) = state_.X;
    thin_qr<S>(block, state_.R);
    state_.X.swap(block);
    detail::resize_large<S>(state_.X_prev, plan_.d, wider);
    detail::resize_large<S>(Y_, plan_.d, wider);
    state_.has_previous = false;
    plan_.p = stopping_.p = wider;
    widened_ = true;
    multiply();
    detail::rescale<S>(Y_, state_.exponent);
    return true;
  }

  void turn(Block<S>& block, Index columns) {
    Block<S> turned;
    detail::resize_large<S>(turned, plan_.d, columns);
    hearsay::multiply<S>(block, Small<S>(rotation_.vectors.leftCols(columns)), turned);
    block.swap(turned);
  }

  // To the next QR; false where a product on the way was not finite.
  bool step(const Recurrence& recurrence) {
    const Index steps = stride(recurrence.beta);
    auto shift = static_cast<S>(recurrence.shift), beta = static_cast<S>(recurrence.beta);
    if (state_.cooldown_left >= 0) shift = beta = S(0);
    if (state_.start_norm > 0)
      detail::append(state_.filter, {.shift = static_cast<double>(shift),
                                     .beta = static_cast<double>(beta),
                                     .steps = steps,
                                     .afresh = !state_.has_previous});
    first_step(shift, beta);
    for (Index i = 1; i < steps; ++i) {
      state_.X_prev.swap(state_.X);
      state_.X.swap(Y_);
      ++state_.t;
      if (state_.exponent == 0 && A_.apply_step(state_.X, shift, beta, state_.X_prev, Y_)) {
        count_product();
        continue;
      }
      multiply();
      detail::rescale<S>(Y_, state_.exponent);
      subtract_momentum<S>(shift, state_.X, beta, state_.X_prev, Y_);
    }
    ++state_.t;
    if (steps > 1 && !all_finite<S>(Y_)) return false;
    const QrReport<S> qr = thin_qr<S>(Y_, state_.R);  // X_{t+1}, R_{t+1}
    state_.householder_steps += qr.method == QrMethod::householder ? 1 : 0;
    state_.has_previous = !qr.rank_deficient;
    state_.X_prev.swap(state_.X);
    state_.X.swap(Y_);
    return true;
  }

  void first_step(S shift, S beta) {
    if (state_.has_previous) {
      subtract_momentum<S>(shift, state_.X, beta, state_.X_prev, state_.R, Y_);  // - beta X_{t-1} R_t^{-1}
    } else {
      if (shift != S(0)) Y_ -= shift * state_.X;
      Y_ /= S(2);  // p_1 = x/2, so that p_t is a Chebyshev polynomial of the first kind
    }
  }

  void save() {
    state_.operator_position = A_.position();
    hooks_.checkpoint(state_);
  }

  PowerResult<S> break_down() {
    if (state_.history.empty())
      throw DataError(
          "product: the first product with the matrix is not finite; a value overflows or the operator is faulty");
    PowerResult<S> result = finish(Status::breakdown);
    result.notes.push_back(
        fmt::format("the product of iteration {} was not finite; this is the best basis before it", state_.t));
    return result;
  }

  PowerResult<S> finish(Status status) {
    if (status == Status::breakdown) {
      if (state_.best_basis.size() == 0) {  // no V yet: the columns of a QR are nested
        state_.best_basis = all_finite<S>(state_.X) ? state_.X : state_.X_prev;
        thin_qr<S>(state_.best_basis, state_.R);
      }
      confirmed_.V = state_.best_basis.leftCols(plan_.k);
      confirmed_.residual = state_.best_residual;
      confirmed_.absolute_residual = absolute_residual_;
      confirmed_.theta = Vector<S>::Constant(plan_.k, std::numeric_limits<S>::quiet_NaN());
    } else if (!claimed_) {
      const bool met = confirmed();
      if (met && status != Status::ambiguous && status != Status::stopped_by_observer)
        status = claim().value_or(status);
    }
    if (status == Status::converged) status = measure_rounding();
    const bool ambiguous = status == Status::ambiguous;
    canonical_signs<S>(confirmed_.V);

    const HistoryEntry last = state_.history.back();
    const auto accelerated =
        std::find_if(state_.history.rbegin(), state_.history.rend(), [](const auto& entry) { return entry.edge > 0; });
    const HistoryEntry pace = accelerated == state_.history.rend() ? last : *accelerated;
    PowerResult<S> result;
    result.status = status;
    result.iterations = state_.t;
    result.residual = confirmed_.residual;
    if (status == Status::noise_floor) result.noise_floor = confirmed_.residual;
    result.noise_level = std::ldexp(detail::recent_noise(state_.history), total_exponent_);
    // A fixed edge may lie above theta_{k+1}: what it damps has not converged, and lambda_{k+1} may be anywhere below
    // it.
    const double next =
        edge_is_fixed() && pace.edge < last.theta_k ? std::max(last.theta_next, pace.edge) : last.theta_next;
    const double gap = last.theta_k - next;
    result.gap = std::ldexp(gap, total_exponent_);
    if (std::isfinite(state_.best_sine) && !plan_.noisy)
      result.sin_theta_estimate = std::min(1.0, sine_of_confirmed());
    else if (plan_.p > plan_.k && gap > 0)
      result.sin_theta_estimate = std::min(1.0, confirmed_.absolute_residual / gap);
    result.momentum = detail::unscaled(pace, total_exponent_).momentum;
    result.edge = detail::unscaled(pace, total_exponent_).edge;
    result.damping = plan_.damping;
    result.extraction = plan_.extraction;
    result.columns = plan_.p;
    result.cooldown_steps = state_.cooldown_left >= 0 ? options_.cooldown - state_.cooldown_left : 0;
    result.products = state_.products;
    result.passes = state_.passes + A_.facts().extra_passes;
    result.householder_steps = state_.householder_steps;
    result.workspace_bytes = static_cast<std::int64_t>(sizeof(S)) * (3 * plan_.d * plan_.p + 3 * plan_.d * plan_.k);
    for (const HistoryEntry& entry : state_.history) result.history.push_back(detail::unscaled(entry, total_exponent_));
    if (facts_.positive_semidefinite && !plan_.noisy) confirmed_.theta = confirmed_.theta.cwiseMax(S(0));
    add_notes(result);
    detail::set_eigenvalues<S>(result, confirmed_.theta, total_exponent_);
    certify(result, ambiguous);
    result.basis = std::move(confirmed_.V);
    result.block = std::move(state_.X);
    return result;
  }

  // In single precision what rounding does is measured, and a claim that does not outlive this is taken back.
  Status measure_rounding() {
    if (sizeof(S) == sizeof(double) || plan_.noisy || products_are_noisy() || options_.certify == Certify::none)
      return Status::converged;
    const double before = expected_rounding();
    measured_rounding_ =
        unavoidable_rounding() + 3 * detail::measured_rounding<S>(A_, confirmed_.V, state_.exponent, options_.seed);
    state_.products += 2 * (plan_.k + 1);
    state_.passes += 2;
    if (!std::isfinite(state_.best_sine) || plan_.k == plan_.d || state_.history.back().sine_estimate == 0)
      return Status::converged;
    if (outside_.size() > 0) {
      outside_.residuals.array() += expected_rounding() - before;
      state_.best_sine = sine_beside_outside();
    } else {
      state_.best_sine *= detail::sine_estimate(pairs(), plan_.k) / state_.history.back().sine_estimate;
    }
    const double sine = sine_of_confirmed();
    if (!resolved(sine)) return Status::ambiguous;
    return options_.sine_goal == 0 || sine <= options_.sine_goal ? Status::converged : Status::rounding_floor;
  }

  void certify(PowerResult<S>& result, bool ambiguous) {
    if (result.status == Status::breakdown || now_.theta.size() < plan_.k) return;
    const bool noisy = plan_.noisy || products_are_noisy();
    if (!noisy && plan_.extraction == Extraction::ritz && plan_.p > plan_.k) note_what_is_proven();
    detail::Evidence evidence{.pairs = outside_.size() > 0 ? outside_ : pairs(),
                              .rounding = std::max(largest_rounding(), expected_rounding()),
                              .rounding_expected = expected_rounding(),
                              .k = plan_.k,
                              .d = plan_.d,
                              .exact = !noisy,
                              .all = plan_.p == plan_.d,
                              .sound = !unsound_start(),
                              .estimate = result.sin_theta_estimate,
                              .frobenius = frobenius(),
                              .random_columns = state_.start_norm > 0     ? state_.start_columns
                                                : state_.probe_passes > 0 ? probe_columns
                                                                          : 0,
                              .probe_passes = state_.probe_passes,
                              .probe_products = state_.probe_products};
    // the basis returned may be an earlier one than the block's
    const double now = now_.absolute_residual;
    if (confirmed_.absolute_residual > now)
      evidence.pairs.residuals.head(plan_.k) *= now > 0 ? confirmed_.absolute_residual / now : 1.0;
    if (plan_.p == plan_.d && !noisy && plan_.k < plan_.d)
      evidence.statement =
          Statement{.count = plan_.k,
                    .above = evidence.pairs.theta(plan_.k) + evidence.pairs.residuals(plan_.k) + largest_rounding(),
                    .probability = 0};
    else if (state_.proven_count > 0)
      evidence.statement = Statement{.count = state_.proven_count, .above = state_.proven_above};
    const bool unknown_start = unsound_start() && !evidence.statement;
    if (unknown_start) evidence.estimate = std::numeric_limits<double>::quiet_NaN();
    result.certificate = detail::unscaled(detail::certificate_of(evidence, options_.certify, ambiguous),
                                          total_exponent_ - result.exponent);
  }

  void add_notes(PowerResult<S>& result) const {
    if (result.status == Status::rounding_floor)
      result.notes.push_back("rounding allows no better: what was asked for is more than the arithmetic holds");
    if (unproven_) result.notes.push_back("the start block was given, and it is not proved that it missed nothing");
    if (!plan_.noisy && detail::products_are_noisy(stopping_, state_.history))
      result.notes.push_back(fmt::format("X'AX is asymmetric: products seem to carry errors of about {:.2g} an entry",
                                         result.noise_level));
    if (result.cooldown_steps > 0)
      result.notes.push_back(
          fmt::format("cool-down: the last {} steps ran without momentum, which lowers a white-noise floor",
                      result.cooldown_steps));
    const HistoryEntry& last = state_.history.back();
    if (result.status == Status::ambiguous && !(last.theta_k - last.theta_next > 1e-13 * std::abs(last.theta_k)))
      result.notes.push_back(
          "the k-th and the next eigenvalue agree to rounding: the subspace is one of many with the same residual");
  }

  OperatorRef<S> A_;
  const PowerOptions& options_;
  const Hooks<S>& hooks_;
  const Known known_;
  const OperatorFacts facts_;
  Plan plan_;
  detail::StoppingFacts stopping_;
  PowerState<S> state_;
  Block<S> Y_;
  SmallEigen<S> rotation_;
  detail::Extracted<S> now_, confirmed_;
  bool has_basis_ = true;  // now_ has V
  bool widened_ = false;
  bool joined_ = false;    // what was missed has joined the block, whose product is still to be made
  bool claimed_ = false;   // the verdict is about the basis as confirmed
  bool unproven_ = false;  // a start that was given may have missed something
  int joins_ = 0;
  double seen_outside_ = 0;
  double measured_rounding_ = 0;
  RitzPairs outside_;  // of a block of k columns and what was seen beside it
  double absolute_residual_ = 0;
  int total_exponent_ = 0;
};

}  // namespace

template <class S>
PowerResult<S> detail::power_iteration(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks,
                                       const Known& known) {
  return Solve<S>(A, options, hooks, known).run();
}

template <class S>
PowerResult<S> accelerated_power(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks) {
  return detail::power_iteration<S>(A, options, hooks, {});
}

template PowerResult<float> detail::power_iteration<float>(OperatorRef<float>, const PowerOptions&, const Hooks<float>&,
                                                           const Known&);
template PowerResult<double> detail::power_iteration<double>(OperatorRef<double>, const PowerOptions&,
                                                             const Hooks<double>&, const Known&);

template PowerResult<float> accelerated_power<float>(OperatorRef<float>, const PowerOptions&, const Hooks<float>&);
template PowerResult<double> accelerated_power<double>(OperatorRef<double>, const PowerOptions&, const Hooks<double>&);

}  // namespace hearsay

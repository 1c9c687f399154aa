// Accelerated Noisy Power Method (ANPM).
//   X_1, R_1 = QR(A X_0 / 2 + Xi_0)
//   Y_{t+1}  = A X_t - beta X_{t-1} R_t^{-1} + Xi_t,    X_{t+1}, R_{t+1} = QR(Y_{t+1}),    t >= 1
//
// Reference   Aguie, Even, Massoulie (2026), Section 2.
// Departures  Centred damping runs the same recurrence on A - (b/2) I with beta = (b/4)^2, which damps [0, b] instead
//             of [-b, b]. The noise is the product's own, so that the first step halves it with the product. The paper
//             runs T steps; we stop on a residual that costs no extra product, confirm it with one where products may
//             err, and under noise stop at the floor, after a few steps without momentum (judge.cpp), or go on below it
//             by averages (averaging.cpp), which is what principal_subspace() does. Where products
//             are exact and cheap beside a QR, several steps run between two QRs (savings.cpp): a QR only changes the
//             basis, and R undoes that.
// Legend      d, k, p  dimension, rank, block columns | X  d x p orthonormal | Y  A X_t, then Y_{t+1} | R  p x p upper
//             triangular | H  X'AX | b  edge of the damped interval | beta  momentum | V  d x k, the answer so far
#include "hearsay/power.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "solver/averaging.hpp"
#include "solver/filter.hpp"
#include "solver/judge.hpp"
#include "solver/power.hpp"
#include "solver/recurrence.hpp"
#include "solver/savings.hpp"
#include "solver/scale.hpp"
#include "solver/tuning.hpp"

namespace hearsay {

namespace {

using detail::PowerRun;
using detail::Recurrence;

template <class S>
class PowerIteration {
 public:
  PowerIteration(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks, const detail::Known& known)
      : run_(A, options, hooks, known),
        state_(run_.state),
        X_(state_.X),
        X_prev_(state_.X_prev),
        Y_(run_.Y),
        averaging_(run_),
        judge_(run_, averaging_) {
    if (options.check_momentum && run_.edge_is_fixed())
      require_momentum_below(std::ldexp(A.norm_bound(), run_.facts.exponent));
  }

  PowerResult<S> run() {
    for (;;) {
      save_when_due();
      run_.multiply();  // Y <- A X_t + Xi_t
      const Small<S> H = gram<S>(X_, Y_);
      if (!H.allFinite()) return break_down();  // X has no zero column: whatever is not finite in Y shows here
      if (averaging_.begun()) averaging_.take(H);
      const Recurrence planned = look(H);
      if (!observe(planned)) return finish(Status::stopped_by_observer);
      if (const auto verdict = judge_.verdict()) return finish(*verdict);
      if (judge_.take_joined()) continue;  // columns that were missed: their product first

      const Recurrence recurrence = choose_columns(planned);
      const auto shift = static_cast<S>(recurrence.shift), beta = static_cast<S>(recurrence.beta);
      const Index steps = steps_to_next_qr(recurrence);
      if (state_.has_previous)
        subtract_momentum<S>(shift, X_, beta, X_prev_, state_.R, Y_);  // Y <- (A - shift I) X_t - beta X_{t-1} R_t^{-1}
      else
        halve(shift);  // Y <- (A - shift I) X_t / 2
      go_on_without_qr(steps - 1, shift, beta);
      if (!orthonormalize(steps)) return break_down();  // X_{t+1}, R_{t+1} <- QR(Y)
    }
  }

 private:
  // ---- The recurrence

  // p_1 = x/2, so that p_t is a Chebyshev polynomial of the first kind.
  void halve(S shift) {
    if (shift != S(0)) Y_ -= shift * X_;
    Y_ /= S(2);
  }

  // The same recurrence with R = I.
  void go_on_without_qr(Index steps, S shift, S beta) {
    for (Index i = 0; i < steps; ++i) {
      X_prev_.swap(X_);
      X_.swap(Y_);
      ++state_.t;
      if (state_.exponent == 0 && run_.A.apply_step(X_, shift, beta, X_prev_, Y_)) {
        run_.count_products(run_.p());
      } else {
        run_.multiply();
        subtract_momentum<S>(shift, X_, beta, X_prev_, Y_);
      }
    }
  }

  // False where a product since the last QR was not finite; the first of them has been looked at.
  bool orthonormalize(Index steps) {
    ++state_.t;
    if (steps > 1 && !all_finite<S>(Y_)) return false;
    const QrReport<S> qr = thin_qr<S>(Y_, state_.R);
    state_.householder_steps += qr.method == QrMethod::householder ? 1 : 0;
    state_.has_previous = !qr.rank_deficient;
    X_prev_.swap(X_);
    X_.swap(Y_);
    return true;
  }

  // ---- Momentum

  Recurrence damping(double b) const { return detail::damped_below(b, run_.plan.damping); }

  double edge(const Small<S>& H, const Vector<S>& theta) const {
    if (run_.cooling()) return 0;
    switch (run_.options.momentum.rule) {
      case Momentum::Rule::automatic:
        return (state_.no_gap ? detail::tuning::edge_without_gap : 1.0) *
               averaging_.edge(std::max(0.0, static_cast<double>(theta(theta.size() - 1))));
      case Momentum::Rule::paper:
        return std::abs(static_cast<double>(H.diagonal().minCoeff()));
      case Momentum::Rule::fixed:
        return std::ldexp(run_.options.momentum.edge, -run_.exponent);
      case Momentum::Rule::none:
        break;
    }
    return 0;
  }

  void require_momentum_below(double bound) const {
    const double b = run_.options.momentum.edge;
    require(b < bound, fmt::format("momentum = {:.6g}: 2 sqrt(momentum) = {:.6g} must lie below lambda_k, and no "
                                   "eigenvalue exceeds {:.6g}",
                                   b * b / 4, b, bound));
  }

  // ---- What a step may save

  // Columns join the block or leave it where that gets there sooner; cool-down, where it has begun, damps nothing.
  Recurrence choose_columns(const Recurrence& planned) {
    if (run_.cooling()) return {};
    if (averaging_.applies()) {
      if (!averaging_.begun()) averaging_.choose_columns();
      return planned;
    }
    if (const auto q = detail::wider(run_)) {
      judge_.note_what_is_proven();
      run_.widen_to(*q);
      return damping(detail::tuning::edge_after_widening * planned.edge);
    }
    if (const auto q = detail::narrower(run_)) {
      judge_.note_what_is_proven();
      run_.narrow_to(*q);
    }
    return planned;
  }

  Index steps_to_next_qr(const Recurrence& recurrence) {
    const Index steps = detail::stride(run_, recurrence.beta);
    if (state_.start_norm > 0)
      detail::append(state_.filter, {.shift = static_cast<double>(static_cast<S>(recurrence.shift)),
                                     .beta = static_cast<double>(static_cast<S>(recurrence.beta)),
                                     .steps = steps,
                                     .afresh = !state_.has_previous});
    return steps;
  }

  // ---- What is measured at X_t

  // Ritz values, V and its residuals, and from them the momentum of the step to come.
  Recurrence look(const Small<S>& H) {
    const SmallEigen<S> ritz = symmetric_eigen<S>(H);
    require_no_negative_eigenvalue(H, ritz.values);
    extract(H, ritz);
    look_for_a_gap();
    const Recurrence recurrence = damping(edge(H, ritz.values));
    remember(H, ritz.values, recurrence);
    return recurrence;
  }

  void require_no_negative_eigenvalue(const Small<S>& H, const Vector<S>& theta) const {
    const double scale = std::max(static_cast<double>(H.norm()), state_.frobenius);
    // of two columns a single H may look symmetric by chance
    const double noise = std::max({detail::noise_from_asymmetry<S>(H), detail::recent_noise(state_.history),
                                   run_.plan.noisy ? detail::tuning::least_noise * scale : 0.0});
    double slack = detail::tuning::negative_by_rounding * run_.stopping.epsilon * scale +
                   detail::tuning::negative_by_noise * std::sqrt(static_cast<double>(run_.p())) * noise;
    const auto least = static_cast<double>(theta(theta.size() - 1));
    if (least < -slack)
      slack = std::max(slack, detail::slack_of_norm(run_.A.norm_bound(), run_.stopping.epsilon, state_.exponent));
    detail::require_no_negative_eigenvalue(least, slack, run_.exponent, state_.products, state_.passes);
  }

  // Where blocks are large and nobody needs V yet, r_i^2 = u_i'Y'Y u_i - theta_i^2 says as much for a fifth of the
  // work, as long as it is not lost in rounding.
  void extract(const Small<S>& H, const SmallEigen<S>& ritz) {
    const Hooks<S>& hooks = run_.hooks;
    const Extraction extraction = run_.extraction();
    run_.rotation = detail::extraction_rotation<S>(H, ritz, run_.k(), extraction);
    const bool needs_basis = hooks.reference != nullptr || (hooks.observe && hooks.observe_basis);
    run_.has_basis = needs_basis || extraction != Extraction::ritz || !detail::free_to_save(run_) ||
                     !detail::residuals_from_gram<S>(run_.rotation, Y_, run_.k(), run_.scale(), run_.now);
    if (run_.has_basis) detail::extract<S>(X_, Y_, run_.rotation, run_.k(), run_.scale(), run_.now);
    if (needs_basis && averaging_.begun()) run_.now.V.leftCols(run_.k()) = averaging_.basis();
  }

  // Whether all columns from the k-th on belong to one cluster of eigenvalues, as far as their residuals tell: an edge
  // that close to lambda_k would damp what is wanted.
  void look_for_a_gap() {
    using namespace detail::tuning;
    if (run_.plan.noisy || !run_.sees_gap()) return;
    const Index k = run_.k(), p = run_.p();
    const auto gap = static_cast<double>(run_.now.theta(k - 1) - run_.now.theta(p - 1));
    const double residuals = run_.now.residuals(k - 1) + run_.now.residuals(p - 1);
    if (state_.no_gap) {
      state_.no_gap = !(gap > cluster_ends * residuals);
    } else if (run_.now.residual <= cluster_residual) {
      const bool at_once = state_.t >= cluster_patience && gap <= cluster_gap_at_once * residuals;
      state_.no_gap = at_once || (gap <= cluster_gap * residuals && detail::stagnant(state_.history));
    }
  }

  void remember(const Small<S>& H, const Vector<S>& theta, const Recurrence& recurrence) {
    const Index k = run_.k(), p = run_.p();
    const double b = recurrence.edge;
    HistoryEntry entry{.t = state_.t,
                       .momentum = recurrence.beta,
                       .edge = b,
                       .residual = run_.now.residual,
                       .noise = detail::noise_from_asymmetry<S>(H),
                       .theta_1 = static_cast<double>(theta(0)),
                       .theta_k = static_cast<double>(theta(k - 1)),
                       .theta_next = p > k ? static_cast<double>(theta(k)) : std::numeric_limits<double>::quiet_NaN()};
    if (run_.hooks.reference != nullptr)
      entry.sin_theta = static_cast<double>(sin_theta<S>(*run_.hooks.reference, run_.now.V.leftCols(k)));
    if (!run_.plan.noisy && run_.sees_gap()) {
      // What a fixed edge damps has not converged: lambda_{k+1} may be anywhere below it.
      const double damped = run_.edge_is_fixed() && b < entry.theta_k ? b : 0;
      entry.sin_theta_estimate = detail::sin_theta_estimate(judge_.pairs(), k, damped);
    }
    if (k == run_.d() && !run_.plan.noisy) entry.sin_theta_estimate = 0;
    state_.history.push_back(entry);
    keep_the_best(entry);
  }

  // Under noise a small residual is luck; the latest basis is the best one there.
  void keep_the_best(const HistoryEntry& entry) {
    if (!run_.has_basis) {
      state_.best_residual = std::numeric_limits<double>::infinity();  // what comes next is better than nothing
    } else if (run_.plan.noisy || entry.residual <= state_.best_residual || state_.best_basis.size() == 0) {
      state_.best_residual = entry.residual;
      state_.best_sine = entry.sin_theta_estimate;
      state_.best_basis.swap(run_.now.V);
      run_.best_absolute = run_.now.absolute_residual;
    }
  }

  // ---- Hooks

  bool observe(const Recurrence& planned) {
    if (!run_.hooks.observe) return true;
    const auto in_users_scale = detail::unscaled(run_.latest(), run_.exponent);
    return run_.hooks.observe({.entry = in_users_scale,
                               .X = X_,
                               .basis = run_.has_basis ? state_.best_basis.leftCols(run_.k()) : X_.leftCols(0),
                               .shift = std::ldexp(planned.shift, run_.exponent),
                               .cooling = run_.cooling(),
                               .averaging = averaging_.begun()});
  }

  void save_when_due() {
    const Index before = std::exchange(saved_, state_.t), every = run_.hooks.checkpoint_every;
    if (!run_.hooks.checkpoint || state_.t / every <= before / every) return;
    state_.operator_position = run_.A.position();
    run_.hooks.checkpoint(state_);
  }

  // ---- The result

  PowerResult<S> break_down() {
    detail::require_a_basis(state_.history);
    judge_.confirm_without_products();
    PowerResult<S> result = assemble(Status::breakdown);
    result.block = std::move(X_);
    result.notes.push_back(
        fmt::format("the product of iteration {} was not finite; this is the best basis before it", state_.t));
    return result;
  }

  PowerResult<S> finish(Status status) {
    if (averaging_.begun()) return finish_by_averages(status);
    PowerResult<S> result = assemble(judge_.confirm(status));
    if (run_.now.theta.size() >= run_.k()) certify(result, result.sin_theta_estimate);
    result.block = std::move(X_);
    return result;
  }

  // The averages' basis is measured with a product of its own, whose noise turns none of its vectors.
  PowerResult<S> finish_by_averages(Status status) {
    detail::Averaged<S> averaged = averaging_.answer();
    if (status == Status::iteration_limit) status = Status::noise_floor;
    judge_.confirm_averages(averaged);
    PowerResult<S> result = assemble(status);
    const Index k = run_.k();
    result.method = SolveMethod::averaged;
    result.sin_theta_estimate = averaged.bar.sin_theta;
    const bool believed = averaged.bar.kind == BarKind::calibrated || averaged.bar.kind == BarKind::bound;
    result.gap = std::ldexp(averaged.theta(k - 1) - averaged.theta(k), run_.exponent);
    for (std::string& note : averaging_.notes(averaged.bar)) result.notes.push_back(std::move(note));
    result.bar = std::move(averaged.bar);
    result.bar.eigenvalues *= std::ldexp(1.0, run_.exponent - result.exponent);
    certify(result, believed ? result.sin_theta_estimate : std::numeric_limits<double>::quiet_NaN());
    result.block = std::move(X_);
    return result;
  }

  void certify(PowerResult<S>& result, double estimate) {
    const bool noisy = run_.plan.noisy || run_.products_are_noisy();
    if (!noisy && run_.sees_gap()) judge_.note_what_is_proven();
    const detail::Evidence evidence = judge_.evidence(estimate);
    result.certificate =
        detail::unscaled(detail::certificate_of(evidence, run_.options.certify, result.status == Status::ambiguous),
                         run_.exponent - result.exponent);
  }

  PowerResult<S> assemble(Status status) {
    const Index d = run_.d(), k = run_.k(), p = run_.p();
    const HistoryEntry last = run_.latest(), pace = last_accelerated();
    // What a fixed edge damps has not converged, and lambda_{k+1} may be anywhere below it.
    const double next =
        run_.edge_is_fixed() && pace.edge < last.theta_k ? std::max(last.theta_next, pace.edge) : last.theta_next;
    const double gap = last.theta_k - next, absolute = judge_.confirmed().absolute_residual;
    const double sine = judge_.sine_of_confirmed();
    detail::Ending<S> ending{.status = status,
                             .method = SolveMethod::anpm,
                             .basis = std::move(judge_.confirmed().V),
                             .theta = judge_.confirmed().theta,
                             .residual = judge_.confirmed().residual,
                             .theta_next = next,
                             .iterations = state_.t,
                             .columns = p,
                             .products = state_.products,
                             .passes = state_.passes,
                             .workspace_numbers = 3 * d * p + 3 * d * k + averaging_.workspace_numbers(),
                             .exact = !run_.plan.noisy,
                             .unproven_start = judge_.start_is_unproven(),
                             .exponent = run_.exponent};
    PowerResult<S> result = detail::result_of<S>(std::move(ending), run_.A.facts(), state_.history);
    if (status == Status::noise_floor) result.noise_floor = result.residual;
    if (std::isfinite(state_.best_sine) && !run_.plan.noisy)
      result.sin_theta_estimate = std::min(1.0, sine);
    else if (p > k && gap > 0)
      result.sin_theta_estimate = std::min(1.0, absolute / gap);
    result.momentum = detail::unscaled(pace, run_.exponent).momentum;
    result.edge = detail::unscaled(pace, run_.exponent).edge;
    result.damping = run_.plan.damping;
    result.extraction = run_.extraction();
    result.cooldown_steps = run_.cooling() ? run_.options.cooldown - state_.cooldown_left : 0;
    result.householder_steps = state_.householder_steps;
    add_notes(result);
    return result;
  }

  HistoryEntry last_accelerated() const {
    const auto found =
        std::find_if(state_.history.rbegin(), state_.history.rend(), [](const auto& entry) { return entry.edge > 0; });
    return found == state_.history.rend() ? state_.history.back() : *found;
  }

  void add_notes(PowerResult<S>& result) const {
    if (!run_.plan.noisy && run_.products_are_noisy())
      result.notes.push_back(fmt::format("X'AX is asymmetric: products seem to carry errors of about {:.2g} an entry",
                                         result.noise_level));
    if (result.cooldown_steps > 0)
      result.notes.push_back(
          fmt::format("cool-down: the last {} steps ran without momentum, which lowers a white-noise floor",
                      result.cooldown_steps));
  }

  PowerRun<S> run_;
  PowerState<S>& state_;
  Block<S>&X_, &X_prev_, &Y_;
  detail::Averaging<S> averaging_;
  detail::Judge<S> judge_;
  Index saved_ = 0;  // the t of the last look at the clock of checkpoints
};

}  // namespace

template <class S>
PowerResult<S> detail::power_iteration(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks,
                                       const Known& known) {
  return PowerIteration<S>(A, options, hooks, known).run();
}

template <class S>
PowerResult<S> accelerated_power(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks) {
  PowerOptions papers = options;
  if (!papers.method) papers.method = SolveMethod::anpm;
  require(papers.method != SolveMethod::direct,
          "method = direct: accelerated_power() is anpm or averaged; call principal_subspace()");
  require(papers.method != SolveMethod::krylov,
          "method = krylov: accelerated_power() is anpm or averaged; call principal_subspace()");
  require(papers.which == Which::largest,
          fmt::format("which = {}: accelerated_power() finds the leading end; call principal_subspace()",
                      name(papers.which)));
  require(papers.turning.value_or(Turning::none) == Turning::none,
          fmt::format("turn = {}: accelerated_power() makes its products as they are; call principal_subspace()",
                      name(papers.turning.value_or(Turning::none))));
  return detail::power_iteration<S>(A, papers, hooks, {});
}

template PowerResult<float> detail::power_iteration<float>(OperatorRef<float>, const PowerOptions&, const Hooks<float>&,
                                                           const Known&);
template PowerResult<double> detail::power_iteration<double>(OperatorRef<double>, const PowerOptions&,
                                                             const Hooks<double>&, const Known&);

template PowerResult<float> accelerated_power<float>(OperatorRef<float>, const PowerOptions&, const Hooks<float>&);
template PowerResult<double> accelerated_power<double>(OperatorRef<double>, const PowerOptions&, const Hooks<double>&);

}  // namespace hearsay

// Accelerated Noisy Power Method (ANPM).
//   X_1, R_1 = QR(A X_0 / 2 + Xi_0)
//   Y_{t+1}  = A X_t - beta X_{t-1} R_t^{-1} + Xi_t,    X_{t+1}, R_{t+1} = QR(Y_{t+1}),    t >= 1
//
// Reference   Aguie, Even, Massoulie (2026), Section 2.
// Departures  Centred damping runs the same recurrence on A - (b/2) I with beta = (b/4)^2, which damps [0, b] instead
// of
//             [-b, b]. The noise is the product's own, so that the first step halves it with the product. The paper
//             runs T steps; we stop on a residual that costs no extra product, confirm it with one, and under noise
//             stop at the floor, after a few steps without momentum.
// Legend      d, k, p  dimension, rank, block columns | X  d x p orthonormal | Y  A X_t, then Y_{t+1} | R  p x p upper
//             triangular | H  X'AX | b  edge of the damped interval | beta  momentum | V  d x k, the answer so far
#include "hearsay/power.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/random.hpp"
#include "solver/extract.hpp"
#include "solver/stopping.hpp"

namespace hearsay {

Momentum Momentum::fixed(double beta) {
  require(std::isfinite(beta) && beta >= 0, fmt::format("momentum = {}: must be finite and not negative", beta));
  return beta == 0 ? none() : Momentum{Rule::fixed, 2 * std::sqrt(beta)};
}

Momentum Momentum::optimal(double lambda_next) {
  require(std::isfinite(lambda_next) && lambda_next >= 0,
          fmt::format("lambda_(k+1) = {}: must be finite and not negative", lambda_next));
  return {Rule::fixed, lambda_next};
}

const char* name(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::noise_floor:
      return "noise_floor";
    case Status::iteration_limit:
      return "iteration_limit";
    case Status::stopped_by_observer:
      return "stopped_by_observer";
    case Status::breakdown:
      return "breakdown";
  }
  return "unknown";
}

namespace {

// Everything that is chosen automatically, chosen once.
struct Plan {
  Index d, k, p;
  bool noisy;
  Damping damping;
  Extraction extraction;
};

Plan settle(Index d, const OperatorFacts& facts, const PowerOptions& options) {
  const Index k = options.rank;
  require(k >= 1 && k <= d, fmt::format("rank = {}: must lie in [1, {}]", k, d));
  require(std::isfinite(options.tolerance) && options.tolerance > 0,
          fmt::format("tolerance = {}: must be finite and positive", options.tolerance));
  require(options.max_iterations >= 0,
          fmt::format("max_iterations = {}: must not be negative", options.max_iterations));
  require(options.oversample >= -1, fmt::format("oversample = {}: must not be negative", options.oversample));
  require(options.cooldown >= 0, fmt::format("cooldown = {}: must not be negative", options.cooldown));

  const bool adaptive =
      options.momentum.rule == Momentum::Rule::automatic || options.momentum.rule == Momentum::Rule::paper;
  const bool noisy = options.products == Products::noisy || (options.products == Products::automatic && facts.noisy);
  require(!(adaptive && options.oversample == 0 && k < d),
          "oversample = 0: adaptive momentum needs at least one column more than the rank");
  const Index extra = options.oversample >= 0 ? options.oversample : noisy ? 1 : std::max<Index>(k, 4);
  // A momentum given as a number, and the paper's own rule, mean the paper's recurrence unless told otherwise.
  const bool papers = options.momentum.rule == Momentum::Rule::paper || options.momentum.rule == Momentum::Rule::fixed;
  return {.d = d,
          .k = k,
          .p = std::min(d, k + extra),
          .noisy = noisy,
          .damping = options.damping != Damping::automatic    ? options.damping
                     : facts.positive_semidefinite && !papers ? Damping::centred
                                                              : Damping::symmetric,
          .extraction = options.extraction != Extraction::automatic ? options.extraction
                        : noisy                                     ? Extraction::nested
                                                                    : Extraction::ritz};
}

template <class S>
class Solve {
 public:
  Solve(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks)
      : A_(A),
        options_(options),
        hooks_(hooks),
        facts_(A.facts()),
        plan_(settle(A.dim(), facts_, options)),
        stopping_{.d = plan_.d,
                  .k = plan_.k,
                  .p = plan_.p,
                  .epsilon = std::numeric_limits<S>::epsilon(),
                  .noisy = plan_.noisy,
                  .watch = options.products == Products::automatic,
                  .damping = plan_.damping} {
    if (options.check_momentum && edge_is_fixed()) require_momentum_below(std::ldexp(A.norm_bound(), facts_.exponent));
    if (hooks.reference != nullptr)
      require(hooks.reference->rows() == plan_.d,
              fmt::format("reference of {} rows: must have {}, as the matrix has", hooks.reference->rows(), plan_.d));
    start();
  }

  PowerResult<S> run() {
    for (;; ++state_.t) {
      if (hooks_.checkpoint && state_.t % hooks_.checkpoint_every == 0 && state_.t > 0) save();
      A_.apply(state_.X, Y_);  // A X_t + Xi_t
      state_.products += plan_.p;
      ++state_.passes;
      if (!all_finite<S>(Y_)) return break_down();
      if (state_.t == 0) choose_exponent();
      detail::rescale<S>(Y_, state_.exponent);

      const Small<S> H = gram<S>(state_.X, Y_);
      const SmallEigen<S> ritz = symmetric_eigen<S>(H);
      require_no_negative_eigenvalue(H, ritz.values);
      const double b = edge(H, ritz.values);
      const double shift = plan_.damping == Damping::centred ? b / 2 : 0;
      const double beta = plan_.damping == Damping::centred ? b * b / 16 : b * b / 4;
      detail::extract<S>(state_.X, Y_, detail::extraction_rotation<S>(H, ritz, plan_.k, plan_.extraction), now_);
      remember(H, ritz.values, b, beta);

      if (hooks_.observe && !observe(shift)) return finish(Status::stopped_by_observer);
      if (const auto verdict = judge()) return finish(*verdict);
      step(static_cast<S>(shift), static_cast<S>(beta));
    }
  }

 private:
  bool edge_is_fixed() const { return options_.momentum.rule == Momentum::Rule::fixed; }

  void start() {
    Y_.resize(plan_.d, plan_.p);
    if (hooks_.resume != nullptr) {
      state_ = *hooks_.resume;
      require(state_.X.rows() == plan_.d && state_.X.cols() == plan_.p,
              fmt::format("checkpoint of a {} x {} block: this solve needs {} x {}", state_.X.rows(), state_.X.cols(),
                          plan_.d, plan_.p));
      A_.seek(state_.operator_position);
      total_exponent_ = facts_.exponent + state_.exponent;
      return;
    }
    state_.X.resize(plan_.d, plan_.p);
    state_.X_prev.resize(plan_.d, plan_.p);
    fill_normal<S>({.seed = options_.seed, .stream = Stream::start_block}, state_.X);  // X_0
    if (hooks_.start != nullptr) {
      const Index given = std::min(hooks_.start->cols(), plan_.p);
      require(hooks_.start->rows() == plan_.d,
              fmt::format("start block of {} rows: must have {}, as the matrix has", hooks_.start->rows(), plan_.d));
      require(all_finite<S>(*hooks_.start), "start block: has a value that is not finite");
      state_.X.leftCols(given) = hooks_.start->leftCols(given);
    }
    thin_qr<S>(state_.X, state_.R);
  }

  // A matrix near 1e300 or 1e-300 is solved as 2^-exponent A, exactly, for squares of its entries would be lost.
  void choose_exponent() {
    const S largest = Y_.cwiseAbs().maxCoeff(), limit = std::cbrt(std::numeric_limits<S>::max());
    if (largest > 0 && (largest > limit || largest < 1 / limit))
      state_.exponent = std::clamp(std::ilogb(largest), 2 - std::numeric_limits<S>::max_exponent,
                                   std::numeric_limits<S>::max_exponent - 2);
    total_exponent_ = facts_.exponent + state_.exponent;
  }

  // A Rayleigh quotient below zero, by more than rounding and noise explain, proves a negative eigenvalue.
  void require_no_negative_eigenvalue(const Small<S>& H, const Vector<S>& theta) const {
    const double scale = static_cast<double>(H.norm()), least = static_cast<double>(theta(theta.size() - 1));
    const double slack = 1e3 * stopping_.epsilon * scale +
                         30 * std::sqrt(static_cast<double>(plan_.p)) *
                             std::max(detail::noise_from_asymmetry<S>(H), plan_.noisy ? 1e-12 * scale : 0.0);
    if (least < -slack)
      throw DataError(fmt::format(
          "matrix: has a negative eigenvalue (a Rayleigh quotient of {:.6g} was met), and the method needs a positive "
          "semidefinite one; add a shift of at least its magnitude (--shift)",
          std::ldexp(least, total_exponent_)));
  }

  double edge(const Small<S>& H, const Vector<S>& theta) const {
    if (state_.cooldown_left >= 0) return 0;
    switch (options_.momentum.rule) {
      case Momentum::Rule::automatic:
        return std::max(0.0, static_cast<double>(theta(theta.size() - 1)));
      case Momentum::Rule::paper:
        return std::abs(static_cast<double>(H.diagonal().minCoeff()));
      case Momentum::Rule::fixed:
        return std::ldexp(options_.momentum.edge, -total_exponent_);
      case Momentum::Rule::none:
        break;
    }
    return 0;
  }

  void remember(const Small<S>& H, const Vector<S>& theta, double b, double beta) {
    HistoryEntry entry{.t = state_.t,
                       .momentum = beta,
                       .edge = b,
                       .residual = now_.residual,
                       .noise = detail::noise_from_asymmetry<S>(H),
                       .theta_1 = static_cast<double>(theta(0)),
                       .theta_k = static_cast<double>(theta(plan_.k - 1)),
                       .theta_next = plan_.p > plan_.k ? static_cast<double>(theta(plan_.k))
                                                       : std::numeric_limits<double>::quiet_NaN()};
    if (hooks_.reference != nullptr) entry.sin_theta = static_cast<double>(sin_theta<S>(*hooks_.reference, now_.V));
    state_.history.push_back(entry);
    // Under noise a small residual is luck; the latest basis is the best one there.
    if (plan_.noisy || entry.residual <= state_.best_residual) {
      state_.best_residual = entry.residual;
      state_.best_basis.swap(now_.V);
      absolute_residual_ = now_.absolute_residual;
    }
  }

  bool observe(double shift) {
    const auto in_users_scale = described(state_.history.back());
    return hooks_.observe({.entry = in_users_scale,
                           .X = state_.X,
                           .basis = state_.best_basis,
                           .shift = std::ldexp(shift, total_exponent_),
                           .cooling = state_.cooldown_left >= 0});
  }

  std::optional<Status> judge() {
    const auto& history = state_.history;
    if (history.back().residual <= options_.tolerance && state_.t >= state_.last_recheck + 5) {
      if (confirmed()) return Status::converged;
      state_.last_recheck = state_.t;
    }
    if (state_.cooldown_left > 0 && state_.t < options_.max_iterations) return --state_.cooldown_left, std::nullopt;
    if (state_.cooldown_left >= 0) return Status::noise_floor;
    refuse_hopeless_momentum();
    if (options_.stop_at_noise_floor) {
      const bool noisy = detail::products_are_noisy(stopping_, history);
      if (noisy ? detail::stagnant(history) && detail::transient_is_over(stopping_, history)
                : detail::at_rounding_floor(stopping_, history)) {
        const bool cools = noisy && options_.momentum.rule != Momentum::Rule::none && options_.cooldown > 0;
        if (!cools || state_.t >= options_.max_iterations) return Status::noise_floor;
        state_.cooldown_left = options_.cooldown - 1;
        state_.has_previous = false;
        return std::nullopt;
      }
    }
    if (state_.t >= options_.max_iterations) return Status::iteration_limit;
    return std::nullopt;
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
          "iterations without progress; --momentum auto finds a value",
          std::ldexp(now.edge * now.edge / 4, 2 * total_exponent_), std::ldexp(now.edge, total_exponent_),
          std::ldexp(now.theta_k, total_exponent_), state_.t));
  }

  // Claims rest on a product of the very basis that is returned.
  bool confirmed() {
    confirmed_ = detail::measure<S>(A_, state_.best_basis, state_.exponent);
    state_.products += plan_.k;
    ++state_.passes;
    return confirmed_.residual <= options_.tolerance;
  }

  void step(S shift, S beta) {
    if (state_.cooldown_left >= 0) shift = beta = S(0);
    if (state_.has_previous) {
      subtract_momentum<S>(shift, state_.X, beta, state_.X_prev, state_.R, Y_);  // - beta X_{t-1} R_t^{-1}
    } else {
      if (shift != S(0)) Y_ -= shift * state_.X;
      Y_ /= S(2);  // p_1 = x/2, so that p_t is a Chebyshev polynomial of the first kind
    }
    const QrReport<S> qr = thin_qr<S>(Y_, state_.R);  // X_{t+1}, R_{t+1}
    state_.householder_steps += qr.method == QrMethod::householder ? 1 : 0;
    state_.has_previous = !qr.rank_deficient;
    state_.X_prev.swap(state_.X);
    state_.X.swap(Y_);
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

  // In the scale of A itself, where the solve ran on 2^-exponent A.
  HistoryEntry described(HistoryEntry entry) const {
    entry.momentum = std::ldexp(entry.momentum, 2 * total_exponent_);
    for (double* value : {&entry.edge, &entry.noise, &entry.theta_1, &entry.theta_k, &entry.theta_next})
      *value = std::ldexp(*value, total_exponent_);
    return entry;
  }

  PowerResult<S> finish(Status status) {
    if (status == Status::breakdown) {
      confirmed_.V = state_.best_basis;
      confirmed_.residual = state_.best_residual;
      confirmed_.absolute_residual = absolute_residual_;
      confirmed_.theta = Vector<S>::Constant(plan_.k, std::numeric_limits<S>::quiet_NaN());
    } else if (status != Status::converged && confirmed() && status != Status::stopped_by_observer) {
      status = Status::converged;
    }
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
    if (plan_.p > plan_.k && gap > 0) result.sin_theta_estimate = std::min(1.0, confirmed_.absolute_residual / gap);
    result.momentum = described(pace).momentum;
    result.edge = described(pace).edge;
    result.damping = plan_.damping;
    result.extraction = plan_.extraction;
    result.columns = plan_.p;
    result.cooldown_steps = state_.cooldown_left >= 0 ? options_.cooldown - state_.cooldown_left : 0;
    result.products = state_.products;
    result.passes = state_.passes + A_.facts().extra_passes;
    result.householder_steps = state_.householder_steps;
    result.workspace_bytes = static_cast<std::int64_t>(sizeof(S)) * (3 * plan_.d * plan_.p + 3 * plan_.d * plan_.k);
    for (const HistoryEntry& entry : state_.history) result.history.push_back(described(entry));
    set_eigenvalues(result);
    add_notes(result);
    result.basis = std::move(confirmed_.V);
    result.block = std::move(state_.X);
    return result;
  }

  void set_eigenvalues(PowerResult<S>& result) {
    if (facts_.positive_semidefinite && !plan_.noisy) confirmed_.theta = confirmed_.theta.cwiseMax(S(0));
    result.eigenvalues = confirmed_.theta.unaryExpr([this](S theta) { return std::ldexp(theta, total_exponent_); });
    const bool lost =
        !result.eigenvalues.allFinite() || (total_exponent_ != 0 && confirmed_.theta(0) != S(0) &&
                                            !(std::abs(result.eigenvalues(0)) >= std::numeric_limits<S>::min()));
    if (lost && confirmed_.theta.allFinite()) {
      result.exponent = total_exponent_;
      if (facts_.positive_semidefinite && !plan_.noisy) confirmed_.theta = confirmed_.theta.cwiseMax(S(0));
      result.eigenvalues = confirmed_.theta;
    }
  }

  void add_notes(PowerResult<S>& result) const {
    if (result.status == Status::noise_floor && !detail::products_are_noisy(stopping_, state_.history))
      result.notes.push_back(
          "the residual stands at rounding level: the tolerance asks for more than the arithmetic holds");
    if (!plan_.noisy && detail::products_are_noisy(stopping_, state_.history))
      result.notes.push_back(fmt::format("X'AX is asymmetric: products seem to carry errors of about {:.2g} an entry",
                                         result.noise_level));
    if (result.cooldown_steps > 0)
      result.notes.push_back(
          fmt::format("cool-down: the last {} steps ran without momentum, which lowers a white-noise floor",
                      result.cooldown_steps));
    if (plan_.p > plan_.k && !(result.gap > 1e-13 * std::abs(state_.history.back().theta_k)))
      result.notes.push_back(
          "the k-th and the next eigenvalue agree to rounding: the subspace is one of many with the same residual");
    if (result.exponent != 0)
      result.notes.push_back(fmt::format(
          "the eigenvalues lie outside the range of the number type: they are given divided by 2^{}", result.exponent));
  }

  OperatorRef<S> A_;
  const PowerOptions& options_;
  const Hooks<S>& hooks_;
  const OperatorFacts facts_;
  const Plan plan_;
  const detail::StoppingFacts stopping_;
  PowerState<S> state_;
  Block<S> Y_;
  detail::Extracted<S> now_, confirmed_;
  double absolute_residual_ = 0;
  int total_exponent_ = 0;
};

}  // namespace

template <class S>
PowerResult<S> accelerated_power(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks) {
  return Solve<S>(A, options, hooks).run();
}

template PowerResult<float> accelerated_power<float>(OperatorRef<float>, const PowerOptions&, const Hooks<float>&);
template PowerResult<double> accelerated_power<double>(OperatorRef<double>, const PowerOptions&, const Hooks<double>&);

}  // namespace hearsay

#include "solver/any_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/operators/compose.hpp"
#include "hearsay/random.hpp"
#include "solver/direct.hpp"
#include "solver/extract.hpp"
#include "solver/krylov.hpp"
#include "solver/negated.hpp"
#include "solver/power.hpp"
#include "solver/probe.hpp"
#include "solver/scale.hpp"
#include "solver/tuning.hpp"

namespace hearsay::detail {

namespace {

// How far down a matrix reaches, from a few products, in its own units.
struct LowEnd {
  double depth = 0;  // no eigenvalue lies below -depth, except with probability 1e-6 where `certain`
  double norm = 0;   // the largest magnitude of an eigenvalue, less the shift that A has already, is at least this
  bool certain = false;
  Index products = 0, passes = 0;
};

// A + shift I, and what is known of it.
template <class S>
class Raised {
 public:
  using Scalar = S;

  Raised(OperatorRef<S> A, double shift, const LowEnd& low)
      : A_(A), shifted_(A_, static_cast<S>(shift), low.certain), norm_(std::ldexp(low.norm, -A.facts().exponent)) {}
  Raised(const Raised&) = delete;  // refers to its own member
  Raised& operator=(const Raised&) = delete;

  Index dim() const { return A_.dim(); }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const { shifted_.apply(X, Y); }
  bool apply_step(ConstBlockView<S> X, S shift, S beta, ConstBlockView<S> Z, BlockView<S> Y) const {
    return shifted_.apply_step(X, shift, beta, Z, Y);
  }
  OperatorFacts facts() const {
    OperatorFacts facts = shifted_.facts();
    facts.norm = std::max(facts.norm, norm_);
    return facts;
  }
  double norm_bound() const { return shifted_.norm_bound(); }
  std::uint64_t position() const { return shifted_.position(); }
  void seek(std::uint64_t position) const { shifted_.seek(position); }

 private:
  OperatorRef<S> A_;
  ShiftedOperator<S> shifted_;
  double norm_;
};

template <class S>
LowEnd find_low_end(OperatorRef<S> A, bool noisy, std::uint64_t seed) {
  const Index d = A.dim();
  const FirstScale scale = scale_with_random_column<S>(A, Block<S>(d, 0), seed);
  const auto seen = probe<S>(Negated<S>(A), Block<S>(d, 0), scale.exponent, tuning::proof_columns, tuning::shift_passes,
                             tuning::shift_passes, 0, seed);
  LowEnd low{.products = seen.products + 1, .passes = seen.passes + 1};
  if (!seen.finite) return low;
  const int exponent = scale.exponent + A.facts().exponent;
  const double lowest = std::max(0.0, seen.theta(0)), highest = -seen.theta(seen.theta.size() - 1);
  const double shift = std::ldexp(A.facts().shift, -scale.exponent);
  const double rounding = product_rounding<S>(A.facts(), d, scale.frobenius, scale.exponent);
  low.certain = !noisy;
  low.depth =
      std::ldexp(std::max(noisy ? tuning::shift_beyond_noisy * lowest : 0.0, seen.nothing_above) + rounding, exponent);
  low.norm = std::ldexp(std::max(std::abs(lowest + shift), std::abs(highest - shift)), exponent);
  return low;
}

// What is known of A, as it is of A + shift I.
Known raised(Known known, double shift, Index d) {
  const double scaled = std::ldexp(shift, -known.exponent);
  known.statement.above += scaled;
  if (known.frobenius > 0) known.frobenius += scaled * std::sqrt(static_cast<double>(d));
  return known;
}

// What was found of A + shift I, as it is of A.
template <class S>
void lower(PowerResult<S>& result, double shift, const LowEnd& low) {
  const double scaled = std::ldexp(shift, -result.exponent), sum = static_cast<double>(result.eigenvalues(0));
  result.eigenvalues.array() -= static_cast<S>(scaled);
  Certificate& certificate = result.certificate;
  certificate.nothing_missed_above -= scaled;
  if (low.certain && certificate.nothing_missed == Knowledge::bound && certificate.nothing_missed_probability > 0)
    certificate.nothing_missed_probability += miss_probability;  // that the shift was too small
  result.norm_seen =
      std::max(std::ldexp(low.norm, -result.exponent), static_cast<double>(result.eigenvalues.cwiseAbs().maxCoeff()));
  if (certificate.cluster && result.norm_seen > 0) certificate.cluster->spread *= sum / result.norm_seen;
  for (HistoryEntry& entry : result.history)
    for (double* theta : {&entry.theta_1, &entry.theta_k, &entry.theta_next}) *theta -= shift;
  result.shift_found = shift;
  result.notes.push_back(fmt::format(
      "shift: a negative eigenvalue was met, so that {:g} was added to all of them for the solve; {} passes "
      "found how much is enough{}",
      shift, low.passes, low.certain ? "" : ", as far as can be seen"));
}

// A momentum that was given as a number is that of the matrix as it is.
bool may_shift(const PowerOptions& options, const OperatorFacts& facts) {
  return options.find_shift && options.momentum.rule != Momentum::Rule::fixed && !facts.positive_semidefinite;
}

}  // namespace

template <class S>
PowerResult<S> power_iteration_with_shift(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks,
                                          const Known& known) {
  const OperatorFacts facts = A.facts();
  if (!may_shift(options, facts) || hooks.checkpoint || hooks.resume != nullptr)
    return power_iteration<S>(A, options, hooks, known);
  Index products = 0, passes = 0;
  double shift = 0;
  LowEnd low;
  for (int attempt = 0;; ++attempt) {
    try {
      const Raised<S> sum(A, shift, low);
      PowerResult<S> result = shift == 0 ? power_iteration<S>(A, options, hooks, known)
                                         : power_iteration<S>(sum, options, hooks, raised(known, shift, A.dim()));
      result.products += products;
      result.passes += passes;
      if (shift != 0) lower(result, shift, low);
      return result;
    } catch (const NegativeEigenvalue& met) {
      products += met.products;
      passes += met.passes;
      if (attempt == tuning::most_shifts) throw;
      const bool noisy = options.products.value_or(
                             facts.noisy || facts.approximate ? Products::noisy : Products::exact) == Products::noisy ||
                         options.method == SolveMethod::averaged;
      if (attempt == 0) {
        low = find_low_end<S>(A, noisy, options.seed);
        products += low.products;
        passes += low.passes;
        shift = std::max(low.depth, std::abs(met.least));
      } else {
        low.certain = false;
        shift = 2 * (shift + std::abs(met.least));
      }
      shift = static_cast<double>(static_cast<S>(shift));
      if (!std::isfinite(shift)) throw;
    }
  }
}

namespace {

// The observer of -A's solve is told of A.
template <class S>
Hooks<S> mirrored(const Hooks<S>& hooks) {
  Hooks<S> out = hooks;
  if (hooks.observe)
    out.observe = [&hooks](const Iteration<S>& now) {
      HistoryEntry entry = now.entry;
      for (double* theta : {&entry.theta_1, &entry.theta_k, &entry.theta_next}) *theta = -*theta;
      return hooks.observe({.entry = entry,
                            .X = now.X,
                            .basis = now.basis,
                            .shift = -now.shift,
                            .cooling = now.cooling,
                            .averaging = now.averaging});
    };
  return out;
}

template <class S>
void mirror(PowerResult<S>& result) {
  result.which = Which::smallest;
  result.eigenvalues = S(0) - result.eigenvalues.array();  // no zero gets a sign
  for (HistoryEntry& entry : result.history)
    for (double* theta : {&entry.theta_1, &entry.theta_k, &entry.theta_next}) *theta = -*theta;
  Certificate& certificate = result.certificate;
  certificate.nothing_missed_below =
      -std::exchange(certificate.nothing_missed_above, std::numeric_limits<double>::infinity());
  certificate.nothing_missed_count_below = std::exchange(certificate.nothing_missed_count, 0);
  if (certificate.cluster) certificate.cluster->low = true;
}

}  // namespace

template <class S>
PowerResult<S> low_end(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks, const Known& known) {
  require(!hooks.checkpoint && hooks.resume == nullptr,
          "which = SA: keeps no checkpoint; leave it out, or use `which` LA");
  PowerOptions leading = options;
  leading.which = Which::largest;
  const Negated<S> minus(A);
  PowerResult<S> result = subspace_from<S>(minus, leading, mirrored(hooks), known);
  mirror(result);
  return result;
}

namespace {

template <class S>
void put_in_order(PowerResult<S>& result, Which which) {
  result.which = which;
  if (which != Which::magnitude) return;
  std::vector<Index> order(static_cast<std::size_t>(result.eigenvalues.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return std::abs(result.eigenvalues(a)) > std::abs(result.eigenvalues(b)); });
  const Block<S> basis = std::move(result.basis);
  const Vector<S> eigenvalues = std::move(result.eigenvalues);
  result.basis.resize(basis.rows(), basis.cols());
  result.eigenvalues.resize(eigenvalues.size());
  for (Index i = 0; i < eigenvalues.size(); ++i) {
    result.basis.col(i) = basis.col(order[static_cast<std::size_t>(i)]);
    result.eigenvalues(i) = eigenvalues(order[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

template <class S>
PowerResult<S> both_ends(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks, const Known& known) {
  const OperatorFacts facts = A.facts();
  const char* which = name(options.which);
  const bool one_end =
      options.rank == A.dim() || (options.which == Which::magnitude ? facts.positive_semidefinite : options.rank == 1);
  if (one_end) {  // the largest, or all there are
    PowerOptions leading = options;
    leading.which = Which::largest;
    PowerResult<S> result = subspace_from<S>(A, leading, hooks, known);
    put_in_order(result, options.which);
    return result;
  }
  const bool noisy = options.products.value_or(facts.noisy || facts.approximate ? Products::noisy : Products::exact) ==
                     Products::noisy;
  require(!noisy, fmt::format("which = {}: needs exact products; of noisy ones `which` LA and SA are found", which));
  const SolveMethod method = options.method.value_or(SolveMethod::krylov);
  require(method == SolveMethod::krylov || method == SolveMethod::direct,
          fmt::format("which = {}: takes both ends from one Krylov space, or directly; leave `method` out, or use "
                      "`which` LA and SA",
                      which));
  require(!hooks.checkpoint && hooks.resume == nullptr,
          fmt::format("which = {}: keeps no checkpoint; leave it out, or use `which` LA", which));
  PowerResult<S> result =
      method == SolveMethod::direct ? direct_solve<S>(A, options, hooks) : block_krylov<S>(A, options, hooks, known);
  put_in_order(result, options.which);
  return result;
}

#define HEARSAY_INSTANTIATE(S)                                                                                \
  template PowerResult<S> power_iteration_with_shift<S>(OperatorRef<S>, const PowerOptions&, const Hooks<S>&, \
                                                        const Known&);                                        \
  template PowerResult<S> low_end<S>(OperatorRef<S>, const PowerOptions&, const Hooks<S>&, const Known&);     \
  template PowerResult<S> both_ends<S>(OperatorRef<S>, const PowerOptions&, const Hooks<S>&, const Known&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay::detail

#include "hearsay/subspace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hearsay/error.hpp"
#include "hearsay/operators/turned.hpp"
#include "solver/any_end.hpp"
#include "solver/choices.hpp"
#include "solver/direct.hpp"
#include "solver/ends.hpp"
#include "solver/krylov.hpp"
#include "solver/power.hpp"
#include "solver/tuning.hpp"

namespace hearsay {

template <class S>
SolveMethod choose_method(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks) {
  const OperatorFacts facts = A.facts();
  const bool noisy = options.products.value_or(facts.noisy || facts.approximate ? Products::noisy : Products::exact) ==
                     Products::noisy;
  if (noisy && detail::may_average(options) && options.rank < A.dim()) return SolveMethod::averaged;
  if (detail::takes_both_ends(options.which)) return SolveMethod::krylov;
  const bool free = options.momentum.rule == Momentum::Rule::automatic && !options.damping && !options.extraction &&
                    options.products != Products::noisy && !options.qr_every && !options.oversample &&
                    !hooks.checkpoint && hooks.resume == nullptr;
  if (!facts.exact || !free || iteration_limit(options) < detail::least_blocks(A.dim(), facts, options))
    return SolveMethod::anpm;
  // n vectors kept orthogonal cost 4 d n^2 operations in all, their products 2 n times the multiply-adds; but a sparse
  // product runs at a fraction of the speed, so that orthogonality may cost several times what the product counts.
  const auto d = static_cast<double>(A.dim());
  const auto n = static_cast<double>(detail::krylov_capacity(A.dim(), facts, options));
  return 2 * d * n <= detail::tuning::orthogonality_beside_product * facts.multiply_adds ? SolveMethod::krylov
                                                                                         : SolveMethod::anpm;
}

template <class S>
PowerResult<S> detail::subspace_from(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks,
                                     const Known& known) {
  const Turning turning = options.turning.value_or(A.facts().approximate ? Turning::rotations : Turning::none);
  if (turning != Turning::none) {
    const TurnedOperator<S> turned(A, turning, options.seed);
    PowerOptions as_they_are = options;
    as_they_are.turning = Turning::none;
    PowerResult<S> result = subspace_from<S>(turned, as_they_are, hooks, known);
    result.notes.push_back(
        fmt::format("random {} around each product: errors that are alike every time average out", name(turning)));
    return result;
  }
  if (options.which == Which::smallest) return low_end<S>(A, options, hooks, known);
  if (takes_both_ends(options.which)) return both_ends<S>(A, options, hooks, known);
  const SolveMethod method = options.method ? *options.method : choose_method<S>(A, options, hooks);
  if (method == SolveMethod::direct) return direct_solve<S>(A, options, hooks);
  if (method != SolveMethod::krylov) return power_iteration_with_shift<S>(A, options, hooks, known);
  require(!A.facts().noisy, "method = krylov: needs exact products; use anpm");
  require(!hooks.checkpoint && hooks.resume == nullptr,
          "method = krylov: keeps no checkpoint; leave it out, or use anpm");
  return block_krylov<S>(A, options, hooks, known);
}

template <class S>
detail::Known detail::known_from(const PowerResult<S>& result) {
  const Certificate& certificate = result.certificate;
  Known known{.sound_start = true,
              .frobenius = certificate.frobenius_norm,
              .columns = certificate.random_columns,
              .exponent = result.exponent};
  const bool low = result.which == Which::smallest;  // what is said of A's low end is said of -A
  if (certificate.nothing_missed == Knowledge::bound)
    known.statement = {.count = low ? certificate.nothing_missed_count_below : certificate.nothing_missed_count,
                       .above = low ? -certificate.nothing_missed_below : certificate.nothing_missed_above,
                       .probability = certificate.nothing_missed_probability};
  return known;
}

template <class S>
PowerResult<S> principal_subspace(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks) {
  return detail::subspace_from<S>(A, options, hooks, {});
}

#define HEARSAY_INSTANTIATE(S)                                                                           \
  template SolveMethod choose_method<S>(OperatorRef<S>, const PowerOptions&, const Hooks<S>&);           \
  template detail::Known detail::known_from<S>(const PowerResult<S>&);                                   \
  template PowerResult<S> detail::subspace_from<S>(OperatorRef<S>, const PowerOptions&, const Hooks<S>&, \
                                                   const Known&);                                        \
  template PowerResult<S> principal_subspace<S>(OperatorRef<S>, const PowerOptions&, const Hooks<S>&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay

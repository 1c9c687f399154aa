#include "solver/power_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/error.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/random.hpp"
#include "linalg/large_pages.hpp"
#include "solver/resume.hpp"
#include "solver/scale.hpp"

namespace hearsay::detail {

template <class S>
PowerRun<S>::PowerRun(OperatorRef<S> matrix, const PowerOptions& wanted, const Hooks<S>& with, const Known& earlier)
    : A(matrix),
      options(wanted),
      hooks(with),
      known(earlier),
      facts(A.facts()),
      plan(choose(A.dim(), facts, options)),
      stopping{.d = plan.d,
               .k = plan.k,
               .epsilon = std::numeric_limits<S>::epsilon(),
               .noisy = plan.noisy,
               .watch = !options.products && !facts.exact,
               .damping = plan.damping},
      goal{.tolerance = tolerance_of<S>(options), .sine = options.accuracy.value_or(0)} {
  require(!hooks.checkpoint || hooks.checkpoint_every >= 1,
          fmt::format("checkpoint_every = {}: must be at least 1", hooks.checkpoint_every));
  if (hooks.reference != nullptr)
    require(hooks.reference->rows() == d(),
            fmt::format("reference of {} rows: must have {}, as the matrix has", hooks.reference->rows(), d()));
  if (hooks.resume != nullptr)
    resume();
  else
    start();
}

template <class S>
void PowerRun<S>::resume() {
  require_resumable<S>(*hooks.resume, plan, options);
  state = *hooks.resume;
  widened = p() > plan.p;
  resize_large<S>(Y, d(), p());
  A.seek(state.operator_position);
  exponent = facts.exponent + state.exponent;
}

template <class S>
void PowerRun<S>::start() {
  resize_large<S>(Y, d(), plan.p);
  resize_large<S>(state.X, d(), plan.p);
  resize_large<S>(state.X_prev, d(), plan.p);
  fill_normal<S>({.seed = options.seed, .stream = Stream::start_block}, state.X);  // X_0
  if (hooks.start != nullptr) {
    const Index given = std::min(hooks.start->cols(), p());
    require(hooks.start->rows() == d(),
            fmt::format("start block of {} rows: must have {}, as the matrix has", hooks.start->rows(), d()));
    require(all_finite<S>(*hooks.start), "start block: has a value that is not finite");
    state.X.leftCols(given) = hooks.start->leftCols(given);
  }
  thin_qr<S>(state.X, state.R);
  if (hooks.start == nullptr) {
    state.start_norm = static_cast<double>(spectral_norm<S>(Block<S>(state.R)));
    state.start_columns = p();
  }
}

template <class S>
void PowerRun<S>::multiply() {
  A.apply(state.X, Y);
  count_products(p());
  if (state.t == 0) find_scale();
  rescale<S>(Y, state.exponent);
  if (hooks.resume != nullptr && state.t == hooks.resume->t) require_its_scale<S>(Y, state.exponent);
  if (state.t > 0) return;
  state.frobenius = std::max(state.frobenius, known.in_units_of(exponent, known.frobenius));
  state.proven_count = known.statement.count;
  state.proven_above = known.in_units_of(exponent, known.statement.above);
  if (state.start_norm > 0)
    state.frobenius = frobenius_from_images(d(), p(), static_cast<double>(frobenius_norm<S>(Y)));
}

template <class S>
void PowerRun<S>::find_scale() {
  const bool shows_nothing = hooks.start != nullptr && !plan.noisy && !known.sound_start && hooks.start->cols() >= p();
  if (shows_nothing) {
    const FirstScale scale = scale_with_random_column<S>(A, Y, options.seed);
    count_products(1);
    state.exponent = scale.exponent;
    state.frobenius = scale.frobenius;
  } else {
    state.exponent = exponent_for<S>(Y);
  }
  exponent = facts.exponent + state.exponent;
}

template <class S>
void PowerRun<S>::turn(Block<S>& block, Index columns) {
  Block<S> turned;
  resize_large<S>(turned, d(), columns);
  hearsay::multiply<S>(block, Small<S>(rotation.vectors.leftCols(columns)), turned);
  block.swap(turned);
}

template <class S>
void PowerRun<S>::narrow_to(Index q) {
  if (state.has_previous) {
    solve_right<S>(state.R, state.X_prev);
    turn(state.X_prev, q);
    state.R = Small<S>::Identity(q, q);
  } else {
    state.X_prev.resize(d(), q);
  }
  turn(state.X, q);
  turn(Y, q);
  state.start_norm = 0;
}

template <class S>
void PowerRun<S>::widen_to(Index q) {
  Block<S> block;
  resize_large<S>(block, d(), q);
  fill_normal<S>(
      {.seed = options.seed, .stream = Stream::start_block, .iteration = static_cast<std::uint32_t>(state.t)}, block);
  block.leftCols(p()) = state.X;
  thin_qr<S>(block, state.R);
  state.X.swap(block);
  resize_large<S>(state.X_prev, d(), q);
  resize_large<S>(Y, d(), q);
  state.has_previous = false;
  state.start_norm = 0;
  widened = true;
  multiply();
}

template <class S>
void PowerRun<S>::join(const Block<S>& V, const Block<S>& columns) {
  const Index wider = std::min(d(), k() + columns.cols() + std::max<Index>(1, p() - k()));
  Block<S> block(d(), wider);
  fill_normal<S>({.seed = options.seed, .stream = Stream::probe, .iteration = static_cast<std::uint32_t>(state.t + 1)},
                 block);
  block.leftCols(k()) = V;
  const Index fit = std::min(columns.cols(), wider - k());
  block.middleCols(k(), fit) = columns.leftCols(fit);
  thin_qr<S>(block, state.R);
  state.X.swap(block);
  state.X_prev.resize(d(), wider);
  Y.resize(d(), wider);
  state.has_previous = false;
  state.start_norm = 0;
  state.best_residual = std::numeric_limits<double>::infinity();
  state.best_basis.resize(0, 0);
  state.last_recheck = state.t;
  widened = true;
}

template struct PowerRun<float>;
template struct PowerRun<double>;

}  // namespace hearsay::detail

#include "hearsay/mixed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/error.hpp"
#include "linalg/large_pages.hpp"
#include "linalg/worth_threads.hpp"
#include "solver/ends.hpp"
#include "solver/krylov.hpp"
#include "solver/power.hpp"
#include "solver/tuning.hpp"

namespace hearsay {

Block<float> in_single_precision(const BorrowedBlock<double>& A) {
  Block<float> rounded;
  detail::resize_large<float>(rounded, A.rows(), A.cols());
#pragma omp parallel for schedule(static) num_threads(detail::worth_threads(2.0 * double(A.size())))
  for (Index i = 0; i < A.rows(); ++i) rounded.row(i) = A.row(i).cast<float>();
  return rounded;
}

PowerResult<double> mixed_precision_subspace(OperatorRef<float> A_single, OperatorRef<double> A_double,
                                             const PowerOptions& options, const Hooks<double>& hooks,
                                             const std::function<bool(const Iteration<float>&)>& observe_single) {
  require(!detail::takes_both_ends(options.which),
          fmt::format("which = {}: is found in one precision; use `precision` double or single, or `which` LA or SA",
                      name(options.which)));
  if (hooks.resume != nullptr)  // only the part in double precision saves its state
    return detail::subspace_from<double>(A_double, options, hooks, {});
  // Products rounded to single precision leave a residual of about eps, and no less: from there on, and where two
  // looks in a row show no progress near it, more of them are wasted.
  constexpr double floor = detail::tuning::single_floor * std::numeric_limits<float>::epsilon();
  constexpr double near_floor = detail::tuning::near_single_floor * floor;
  PowerOptions in_single = options;
  in_single.tolerance = std::max(tolerance_of<double>(options), floor);
  in_single.cooldown = 0;
  bool users_stop = false, at_floor = false;
  double least = std::numeric_limits<double>::infinity();
  Hooks<float> single_hooks;
  single_hooks.observe = [&](const Iteration<float>& now) {
    users_stop = observe_single && !observe_single(now);
    const double residual = now.entry.residual;
    at_floor = residual <= floor || (residual <= near_floor && residual > detail::tuning::no_gain_in_single * least);
    least = std::min(least, residual);
    return !users_stop && !at_floor && !now.averaging;  // averages are for the arithmetic that has the last word
  };
  Block<float> start;
  if (hooks.start != nullptr) {
    start = hooks.start->cast<float>();
    single_hooks.start = &start;
  }
  const PowerResult<float> rough = detail::subspace_from<float>(A_single, in_single, single_hooks, {.goes_on = true});

  const Block<double> block = rough.block.cast<double>();
  Hooks<double> double_hooks = hooks;
  double_hooks.start = &block;
  PowerOptions in_double = options;
  in_double.max_iterations = std::max(detail::least_blocks(A_double.dim(), A_double.facts(), options),
                                      iteration_limit(options) - rough.iterations);
  if (options.product_budget) in_double.product_budget = std::max<Index>(1, *options.product_budget - rough.products);
  // A start that was given has to be proved in double as well. Rounding the matrix to single
  // precision moves its eigenvalues by no more than eps ||A||_F.
  detail::Known known = detail::known_from<float>(rough);
  known.statement.above += detail::tuning::rounding_of_matrix * std::numeric_limits<float>::epsilon() * known.frobenius;
  known.sound_start = hooks.start == nullptr && rough.status != Status::iteration_limit;
  PowerResult<double> result = detail::subspace_from<double>(A_double, in_double, double_hooks, known);
  result.notes.push_back(
      fmt::format("mixed precision: {} iterations in single precision to a residual of {:.2g}, then {} in double",
                  rough.iterations, rough.residual, result.iterations));
  for (HistoryEntry& entry : result.history) entry.t += rough.iterations;
  result.certificate.probe_passes += rough.certificate.probe_passes;
  result.certificate.probe_products += rough.certificate.probe_products;
  if (result.certificate.random_columns == 0) result.certificate.random_columns = rough.certificate.random_columns;
  result.history.insert(result.history.begin(), rough.history.begin(), rough.history.end());
  result.iterations += rough.iterations;
  result.products += rough.products;
  result.passes += rough.passes;
  if (users_stop) result.status = Status::stopped_by_observer;
  return result;
}

}  // namespace hearsay

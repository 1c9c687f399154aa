#include "hearsay/mixed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hearsay {

PowerResult<double> mixed_precision_power(OperatorRef<float> A_single, OperatorRef<double> A_double,
                                          const PowerOptions& options, const Hooks<double>& hooks,
                                          const std::function<bool(const Iteration<float>&)>& observe_single) {
  // Rounding each product to single precision leaves a residual of a few eps sqrt(d), and no less.
  const double single_floor =
      4 * std::numeric_limits<float>::epsilon() * std::sqrt(static_cast<double>(A_single.dim()));
  PowerOptions in_single = options;
  in_single.tolerance = std::max(options.tolerance, single_floor);
  in_single.cooldown = 0;
  Hooks<float> single_hooks;
  single_hooks.observe = observe_single;
  Block<float> start;
  if (hooks.start != nullptr) {
    start = hooks.start->cast<float>();
    single_hooks.start = &start;
  }
  const PowerResult<float> rough = accelerated_power<float>(A_single, in_single, single_hooks);

  const Block<double> block = rough.block.cast<double>();
  Hooks<double> double_hooks = hooks;
  double_hooks.start = &block;
  PowerOptions in_double = options;
  in_double.max_iterations = std::max<Index>(0, options.max_iterations - rough.iterations);
  PowerResult<double> result = accelerated_power<double>(A_double, in_double, double_hooks);
  result.notes.push_back(
      fmt::format("mixed precision: {} iterations in single precision to a residual of {:.2g}, then {} in double",
                  rough.iterations, rough.residual, result.iterations));
  for (HistoryEntry& entry : result.history) entry.t += rough.iterations;
  result.history.insert(result.history.begin(), rough.history.begin(), rough.history.end());
  result.iterations += rough.iterations;
  result.products += rough.products;
  result.passes += rough.passes;
  if (rough.status == Status::stopped_by_observer) result.status = Status::stopped_by_observer;
  return result;
}

}  // namespace hearsay

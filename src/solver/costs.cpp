#include "solver/costs.hpp"

#include "solver/tuning.hpp"

namespace hearsay::detail {

bool leaves_the_way_open(const PowerOptions& options, bool watched) {
  return !watched && !options.method && options.which == Which::largest &&
         options.momentum.rule == Momentum::Rule::automatic && !options.damping && !options.extraction &&
         options.products != Products::noisy && !options.qr_every && !options.oversample && !options.max_iterations &&
         !options.product_budget && options.turning.value_or(Turning::none) == Turning::none;
}

bool covariance_goes_directly(const TallData& data) { return data.columns <= 200; }

}  // namespace hearsay::detail

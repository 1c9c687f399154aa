// From curves to the numbers that claims are about.
#pragma once

#include <span>
#include <string_view>

#include "experiments/experiment.hpp"

namespace hearsay::experiments {

/// What a claim may measure. All take the median over the seeds, unless they say otherwise.
///   iterations_ratio  iterations of the first curve to `level`, over those of the second
///   rounds_ratio      the same in rounds of gossip
///   iterations_spread the most iterations to `level` over the fewest
///   iterations_slope  of log(iterations to `level`) against log(parameter), by least squares
///   floor             of the first curve: the median error over the last tenth of a run
///   floor_ratio       of the first curve over that of the second; over the same ratio of `over_fact`, where given
///   floor_spread      the highest floor over the lowest
///   floor_slope       of log(floor) against log(parameter), by least squares
///   floor_over_fact   floor over `fact`, the curve that is furthest from one
///   plateau_spread    the largest error over the smallest in the last tenth of a run, of the worst curve
///   straightness      R^2 of log(max_{s >= t} error_s) against t while the transient lasts, of the worst curve
///   raw_straightness  the same with error_t itself
///   rate_spread       the steepest of these lines over the flattest
///   rises             times the error grows while the transient lasts, of the curve with the fewest
///   least_late_error  the smallest error in the second half of a run, over all curves and seeds
///   most_error        the largest error of all, over all curves and seeds
///   fact_most         the largest `fact` over all curves and seeds
///   fact_least        the smallest
///   fact_ratio        `fact` of the first curve over that of the second; over the same ratio of `over_fact`, where
///                     given
///   fact_slope        of log(`fact`) against log(parameter)
///   fact_over_fact    `fact` over `over_fact`, the largest over all curves and seeds
std::span<const std::string_view> measure_names();

/// Throws InvalidArgument for a claim about a panel, curve or measure that is not there, or without a bound.
void check_claims(const Experiment& experiment);

Verdict judge(const Claim& claim, const Outcome& outcome);

}  // namespace hearsay::experiments

// The error bar of a result from noisy products, as JSON and in plain words.
#pragma once

#include <string>

#include "hearsay/power.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

/// Whether products were averaged, so that the bar speaks of sin(theta) and not the certificate.
bool was_averaged(const PowerFacts& power);

/// Null where nothing was averaged.
Json error_bar_json(const PowerFacts& power);

/// "1.2e-04, within a factor 3 with 95% confidence", "at most 0.012, by the noise norm given", ...
std::string error_bar_text(const ErrorBar& bar);

/// A line on what was averaged, and how many eigenvectors are known one by one; empty where nothing was.
std::string averages_text(const PowerFacts& power, Index rank);

}  // namespace hearsay::app

// How right a result is, as JSON and in plain words: bound, estimate and unknown are never mixed up.
#pragma once

#include <string>

#include "hearsay/power.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

Json certificate_json(const Certificate& certificate);

/// A line on sin(theta), one on what was averaged, if products were, one on eigenvalues that may have been missed, one
/// on the cluster that k cuts through, if it does, and one on what a bound rests on.
std::string certificate_text(const PowerFacts& power, Index rank);

/// "at most 3e-09 (bound), about 8e-10 (estimate)", or "unknown"; of averaged products the error bar.
std::string sine_text(const PowerFacts& power);

/// "eigenvalues 4 to 13 or more agree to 1e-03".
std::string cluster_text(const Cluster& cluster);

}  // namespace hearsay::app

#pragma once

#include <map>
#include <string>
#include <vector>

namespace hearsay::experiments {

/// What one run leaves: the error at every iteration from 0, what it had cost by then, and what else was measured.
struct Trace {
  std::vector<double> error;
  std::vector<double> rounds = {}, bytes = {};  ///< empty where nobody gossips
  std::vector<double> products = {};            ///< columns multiplied by A; empty where nobody counts
  std::vector<double> swept = {};               ///< of a sweep: what was varied, in place of the iteration
  std::map<std::string, double> facts = {};
};

}  // namespace hearsay::experiments

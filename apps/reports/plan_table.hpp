// A plan of the theory as an aligned table and as JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearsay/decentralized.hpp"
#include "hearsay/plan.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

/// What each method sends in so many iterations of so many rounds.
struct PlannedTraffic {
  Index rounds_per_iteration, iterations, edges;
  MessagePrecision precision;
  std::vector<std::pair<Algorithm, Traffic>> rows;
};

std::string plan_text(const theory::PlanRequest& request, const theory::Plan& plan,
                      const std::optional<PlannedTraffic>& traffic);
Json plan_json(const theory::PlanRequest& request, const theory::Plan& plan,
               const std::optional<PlannedTraffic>& traffic);

}  // namespace hearsay::app

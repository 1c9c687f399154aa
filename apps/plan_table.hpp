// A plan of the theory as an aligned table and as JSON.
#pragma once

#include <string>

#include "hearsay/plan.hpp"
#include "report.hpp"

namespace hearsay::app {

std::string plan_text(const theory::PlanRequest& request, const theory::Plan& plan);
Json plan_json(const theory::PlanRequest& request, const theory::Plan& plan);

}  // namespace hearsay::app

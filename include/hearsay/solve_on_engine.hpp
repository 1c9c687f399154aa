// A solve on an engine of the caller's own, of numbers that lie on a device already, say (cuda.hpp).
#pragma once

#include "hearsay/solve.hpp"

namespace hearsay {

/// What Request::engines does with an engine that it makes; that field need not be set.
HEARSAY_API Solution<double> solve_on(Engine& engine, const Request& request);

}  // namespace hearsay

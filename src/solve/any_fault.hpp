#pragma once

#include "hearsay/faults.hpp"

namespace hearsay::detail {

/// Whether anything is to fail at all.
inline bool any_fault(const Faults& faults) { return !faults.links.empty() || !faults.agents.empty(); }

}  // namespace hearsay::detail

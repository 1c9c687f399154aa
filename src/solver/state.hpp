// Whether a saved state can be one at all, whatever the problem: a file may be damaged, of another version, or forged.
#pragma once

#include <string>

#include "hearsay/export.hpp"
#include "hearsay/power.hpp"

namespace hearsay::detail {

/// Empty where shapes fit each other and numbers are finite and in range; else what is wrong, with its value and the
/// rule. hearsay::io asks for it too.
template <class S>
HEARSAY_API std::string fault_of(const PowerState<S>& state);

}  // namespace hearsay::detail

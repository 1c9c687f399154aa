// What a run that ended says about itself.
#pragma once

#include <string>

#include "hearsay/block.hpp"

namespace hearsay::detail {

/// The note of a run that ended at its noise floor.
std::string floor_note(double agreement, Index rounds);

}  // namespace hearsay::detail

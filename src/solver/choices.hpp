// What a power iteration chooses before it begins, from the options and from what the operator says of itself.
#pragma once

#include "hearsay/power.hpp"

namespace hearsay::detail {

/// Throws InvalidArgument for an option that means nothing, for a matrix of dimension d.
void require_sound(const PowerOptions& options, Index d);

/// Everything that is chosen automatically, chosen once.
struct Plan {
  Index d, k, p;
  bool noisy;
  Damping damping;
  Extraction extraction;
  bool averages;  ///< where products are noisy: the method is `averaged`, or free
};

/// Whether the options leave it open how a solve with noisy products ends.
bool may_average(const PowerOptions& options);

Plan choose(Index d, const OperatorFacts& facts, const PowerOptions& options);

/// A row of a block is gathered in cache lines of 8 numbers.
Index whole_lines(Index columns);

/// Whether making a block orthonormal and measuring it costs more than half of multiplying it.
bool qr_is_costly(Index d, Index p, const OperatorFacts& facts);

}  // namespace hearsay::detail

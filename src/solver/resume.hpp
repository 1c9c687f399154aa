// A saved state, held against the problem that it is to go on with.
#pragma once

#include "hearsay/power.hpp"
#include "solver/choices.hpp"

namespace hearsay::detail {

/// Throws InvalidArgument unless a solve with this plan and these options can have left this state. The block may have
/// been narrowed or widened on the way.
template <class S>
void require_resumable(const PowerState<S>& state, const Plan& plan, const PowerOptions& options);

/// The same for the scale, by the first product, scaled: with a scale that is not this matrix's, everything vanishes or
/// overflows.
template <class S>
void require_its_scale(ConstBlockView<S> Y, int exponent);

}  // namespace hearsay::detail

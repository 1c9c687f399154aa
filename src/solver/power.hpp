// accelerated_power(), and principal_subspace(), for those who know something of the start.
#pragma once

#include "solver/certificate.hpp"

namespace hearsay::detail {

template <class S>
PowerResult<S> power_iteration(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks,
                               const Known& known);

template <class S>
PowerResult<S> subspace_from(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks, const Known& known);

/// What a result says to the solve that goes on from it.
template <class S>
Known known_from(const PowerResult<S>& result);

}  // namespace hearsay::detail

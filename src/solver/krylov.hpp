// Block Lanczos with full orthogonalisation and thick restarts.
#pragma once

#include "solver/certificate.hpp"

namespace hearsay::detail {

/// For products that are exact to rounding.
template <class S>
PowerResult<S> block_krylov(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks,
                            const Known& known = {});

/// The columns of the space by which its cost is weighed.
Index krylov_capacity(Index d, const OperatorFacts& facts, const PowerOptions& options);

/// The blocks it takes to hold more than k columns.
Index least_blocks(Index d, const OperatorFacts& facts, const PowerOptions& options);

}  // namespace hearsay::detail

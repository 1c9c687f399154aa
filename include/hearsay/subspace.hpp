// The principal subspace by whichever method suits the products: a block Krylov space where they are exact and costly
// beside a vector, the Accelerated Noisy Power Method everywhere else.
//
//   const auto result = principal_subspace<double>(DenseSymmetric<double>(A), {.rank = 5});
#pragma once

#include "hearsay/export.hpp"
#include "hearsay/power.hpp"

namespace hearsay {

/// The method that an empty one stands for here. A Krylov space needs the fewest products, but every one of them exact,
/// and all its vectors kept and made orthogonal; so it is for operators that say they are exact and what they cost, and
/// for options that leave the iteration free.
template <class S>
HEARSAY_API SolveMethod choose_method(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks = {});

/// By options.method. With krylov an iteration is one block product, and what only the power iteration has (momentum,
/// damping, cool-down) says nothing.
template <class S>
HEARSAY_API PowerResult<S> principal_subspace(OperatorRef<S> A, const PowerOptions& options,
                                              const Hooks<S>& hooks = {});

}  // namespace hearsay

// A symmetric matrix with eigenvalues of any sign, and either end of its spectrum, by solvers of the leading end.
//
//   smallest     the leading eigenvalues of -A; what is said of them is said of A again
//   a shift      the power iteration needs A + s I with no negative eigenvalue. A few products with random columns show
//                how far down A reaches, as a bound that fails with probability 1e-6 (probe.hpp): that is s. Only a
//                solve that meets a negative Rayleigh quotient asks for it.
#pragma once

#include "solver/certificate.hpp"

namespace hearsay::detail {

/// The power iteration on any symmetric matrix.
template <class S>
PowerResult<S> power_iteration_with_shift(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks,
                                          const Known& known);

/// The smallest eigenvalues.
template <class S>
PowerResult<S> low_end(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks, const Known& known);

/// Eigenvalues from both ends, in the order of options.which.
template <class S>
PowerResult<S> both_ends(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks, const Known& known);

}  // namespace hearsay::detail

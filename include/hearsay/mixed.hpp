// Two precisions: products in single precision are one more noise of known size. The subspace is found with them, down
// to what they can certify, and only what the tolerance asks beyond that is done in double.
#pragma once

#include "hearsay/export.hpp"
#include "hearsay/subspace.hpp"

namespace hearsay {

/// The matrix rounded to single precision, by all threads.
HEARSAY_API Block<float> in_single_precision(const BorrowedBlock<double>& A);

/// principal_subspace() where A_single and A_double are the same matrix. The result is in double; its notes say how the
/// work was shared. Hooks apply to the double part, which alone saves its state and is resumed; `observe_single` sees
/// the single-precision iterations.
HEARSAY_API PowerResult<double> mixed_precision_subspace(
    OperatorRef<float> A_single, OperatorRef<double> A_double, const PowerOptions& options,
    const Hooks<double>& hooks = {}, const std::function<bool(const Iteration<float>&)>& observe_single = {});

}  // namespace hearsay

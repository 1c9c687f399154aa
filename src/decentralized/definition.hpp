// What a run that ended says about itself.
#pragma once

#include <string>

#include "hearsay/block.hpp"
#include "hearsay/decentralized.hpp"

namespace hearsay::detail {

/// The note of a run that ended at its noise floor.
std::string floor_note(double agreement, Index rounds);

/// Leading eigenvectors that a gap sets off from the rest, and the cluster that k cuts in two where they are fewer.
struct Definition {
  Index rank = 0;
  UndefinedPart cluster = {};
};

/// Differences up to `resolution` times the norm of theta, and what rounding leaves, are none. Of a matrix without
/// negative eigenvalues one that is below `tolerance` times the norm is zero, for no residual of that size tells
/// anything of its eigenvector. `next` may be NaN: nothing else is then known of the gap.
Definition defined_part(const Vector<double>& theta, double next, double resolution, double tolerance, Index d,
                        bool nonnegative);

/// Fills what the result says of the part that the data define, from its agents' bases and eigenvalues. A run that
/// converged on less than k is ambiguous, and its last note says so.
void judge_definition(DecentralizedResult& result, double tolerance);

/// Takes that back, for a result that is to have more agents.
void forget_definition(DecentralizedResult& result);

}  // namespace hearsay::detail

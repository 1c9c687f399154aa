// How far the agents' answers are from the truth, where they did not converge.
//
// Gossip of few rounds hands every agent weights of its own instead of 1/n, and it comes to rest at a place of its own.
// How far apart the agents are tells half of their error. The other half they share: what A_j makes of agent j's own
// deviation D_j has the mean (1/n) sum (A_j - A) D_j, which is of the order of D_j itself, and which nobody sees in
// what gossip hands him. So one basis V goes round with fresh products of everyone (verification.hpp), and
//   sin(V_i, U) <= sin(V_i, V) + ||(I - VV') A V (Theta - lambda_{k+1} I)^{-1}||_F
// whatever the errors are made of: few rounds, lost or rounded messages, steps that were not taken.
#pragma once

#include <span>

#include "decentralized/verification.hpp"
#include "hearsay/decentralized.hpp"

namespace hearsay::detail {

/// theta_k - theta_{k+1} as an agent knows it. Without a column to spare, by the fall of its residuals, for the plain
/// power method's is theta_{k+1}/theta_k a step; one that takes longer than the run is not seen, and is the least.
double gap_of(const Vector<double>& theta, double next, std::span<const double> residuals);

/// From what the members told of the common basis. None where they told nothing, or no gap is known.
ErrorBar gossip_bar(const Verified& told);

/// Whether the result, its status and definition judged, is one that a bar is given for.
bool may_have_bar(const DecentralizedResult& result);

}  // namespace hearsay::detail

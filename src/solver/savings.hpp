// What a step of the power iteration may save: QRs, and columns. Only where products are exact, blocks are large, and
// nobody has asked for the paper's steps.
#pragma once

#include <optional>

#include "solver/power_run.hpp"

namespace hearsay::detail {

template <class S>
bool free_to_save(const PowerRun<S>& run);

/// How many steps to take to the next QR with this momentum.
template <class S>
Index stride(const PowerRun<S>& run, double beta);

/// The columns of a narrower block that gets there with less work.
template <class S>
std::optional<Index> narrower(const PowerRun<S>& run);

/// The columns of a wider block, where those there are do not show a gap below the k-th.
template <class S>
std::optional<Index> wider(const PowerRun<S>& run);

}  // namespace hearsay::detail

// What rows that pass by will take, settled before the first of them is read.
#pragma once

#include "hearsay/solve_stream.hpp"

namespace hearsay::detail {

struct StreamShape {
  Index columns = 1;
  std::optional<Index> rows = {};
  std::uint64_t bytes_per_pass = 0;
  Index stored_bytes = 8;                    ///< of a number in a buffer
  bool measured_before = false;              ///< a reading finds means, scales and what is missing
  std::optional<std::int64_t> entries = {};  ///< of sparse rows, which are multiplied without their zeros
  std::string name = {};
};

struct SettledPlan {
  StreamPlan told = {};
  bool lean = false;        ///< a Krylov space would not fit: the power iteration
  std::uint64_t spare = 0;  ///< bytes that are allowed beyond that, whatever the process holds now
};

/// Throws DataError where the memory allowed is too little for anything, and says what would do.
SettledPlan plan_stream(const StreamShape& shape, const SolveSettings& settled, const StreamSettings& settings);

}  // namespace hearsay::detail

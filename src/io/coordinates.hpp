// Entries of a sparse matrix in the order a file gives them.
#pragma once

#include <cstdint>
#include <vector>

#include "hearsay/csr.hpp"

namespace hearsay::io {

struct Coordinate {
  std::int32_t row, column;  ///< from 0
  double value;
};

/// Sorted into rows; entries at the same place are added up, in the order given.
CsrMatrix<double> compress(std::vector<Coordinate> entries, Index rows, Index cols);

}  // namespace hearsay::io

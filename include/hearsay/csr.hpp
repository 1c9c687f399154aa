// A sparse matrix in compressed rows: the columns of row i are columns[row_start[i] .. row_start[i+1]), ascending.
#pragma once

#include <cstdint>
#include <vector>

#include "hearsay/block.hpp"

namespace hearsay {

template <class S>
struct CsrMatrix {
  Index rows = 0;
  Index cols = 0;
  std::vector<std::int64_t> row_start{0};  ///< rows + 1 offsets
  std::vector<std::int32_t> columns = {};  ///< ascending and distinct within a row
  std::vector<S> values = {};

  std::int64_t nonzeros() const { return static_cast<std::int64_t>(columns.size()); }
};

}  // namespace hearsay

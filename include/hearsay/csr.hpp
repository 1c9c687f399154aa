// A sparse matrix in compressed rows: the columns of row i are columns[row_start[i] .. row_start[i+1]), ascending.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hearsay/block.hpp"

namespace hearsay {

template <class S>
struct CsrMatrix {
  using Scalar = S;

  Index rows = 0;
  Index cols = 0;
  std::vector<std::int64_t> row_start{0};  ///< rows + 1 offsets
  std::vector<std::int32_t> columns = {};  ///< ascending and distinct within a row
  std::vector<S> values = {};

  std::int64_t nonzeros() const { return static_cast<std::int64_t>(columns.size()); }
};

/// A sparse matrix that someone else owns, by the same rules.
template <class S>
struct CsrView {
  using Scalar = S;

  Index rows = 0;
  Index cols = 0;
  std::span<const std::int64_t> row_start = {};
  std::span<const std::int32_t> columns = {};
  std::span<const S> values = {};

  std::int64_t nonzeros() const { return static_cast<std::int64_t>(columns.size()); }
};

template <class S>
CsrView<S> borrow(const CsrMatrix<S>& A) {
  return {A.rows, A.cols, A.row_start, A.columns, A.values};
}

}  // namespace hearsay

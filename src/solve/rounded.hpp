// Data rounded to single precision.
#pragma once

#include "hearsay/csr.hpp"
#include "hearsay/mixed.hpp"

namespace hearsay::detail {

inline Block<float> rounded(const BorrowedBlock<double>& data) { return in_single_precision(data); }

inline CsrMatrix<float> rounded(const CsrView<double>& data) {
  return {.rows = data.rows,
          .cols = data.cols,
          .row_start = {data.row_start.begin(), data.row_start.end()},
          .columns = {data.columns.begin(), data.columns.end()},
          .values = {data.values.begin(), data.values.end()}};
}

}  // namespace hearsay::detail

#pragma once

#include <hearsay/csr.hpp>

namespace hearsay::test {

/// The non-zero entries of a dense matrix.
inline CsrMatrix<double> sparse(const Block<double>& dense) {
  CsrMatrix<double> A{.rows = dense.rows(), .cols = dense.cols()};
  for (Index i = 0; i < dense.rows(); ++i) {
    for (Index j = 0; j < dense.cols(); ++j)
      if (dense(i, j) != 0) {
        A.columns.push_back(static_cast<std::int32_t>(j));
        A.values.push_back(dense(i, j));
      }
    A.row_start.push_back(A.nonzeros());
  }
  return A;
}

}  // namespace hearsay::test

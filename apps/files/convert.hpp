// The same matrix in another arithmetic; in its own it is not copied.
#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"

namespace hearsay::app {

template <class T>
const Block<T>& in(const Block<T>& matrix) {
  return matrix;
}
template <class T>
const CsrMatrix<T>& in(const CsrMatrix<T>& matrix) {
  return matrix;
}

template <class T, class S>
requires(!std::same_as<T, S>) Block<T> in(const Block<S>& matrix) { return matrix.template cast<T>(); }
template <class T, class S>
requires(!std::same_as<T, S>) CsrMatrix<T> in(const CsrMatrix<S>& matrix) {
  return {matrix.rows, matrix.cols, matrix.row_start, matrix.columns,
          std::vector<T>(matrix.values.begin(), matrix.values.end())};
}

/// The same where the matrix is needed no more: its memory is given back as soon as it can be.
template <class T, class S>
requires(!std::same_as<T, S>) Block<T> in(Block<S>&& matrix) {
  const Block<S> old = std::move(matrix);
  return old.template cast<T>();
}
template <class T, class S>
requires(!std::same_as<T, S>) CsrMatrix<T> in(CsrMatrix<S>&& matrix) {
  const std::vector<S> old = std::move(matrix.values);
  return {matrix.rows, matrix.cols, std::move(matrix.row_start), std::move(matrix.columns),
          std::vector<T>(old.begin(), old.end())};
}

template <class S>
Index columns_of(const Block<S>& matrix) {
  return matrix.cols();
}
template <class S>
Index columns_of(const BorrowedBlock<S>& matrix) {
  return matrix.cols();
}
template <class S>
Index columns_of(const CsrMatrix<S>& matrix) {
  return matrix.cols;
}

}  // namespace hearsay::app

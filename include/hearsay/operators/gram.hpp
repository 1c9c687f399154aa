// A'A or AA' of a rectangular sparse matrix, by two products with A, and those products themselves.
//
// Sums along the columns of A want its transpose: that is stored too, so that either product reads its matrix once, row
// by row, and every output number is one sum in one order. It costs as much memory as A, and makes a product with A'
// as fast as one with A.
#pragma once

#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"
#include "hearsay/operator.hpp"

namespace hearsay {

/// A' as a matrix of its own, its columns ascending.
template <class S>
HEARSAY_API CsrMatrix<S> transposed(const CsrView<S>& A);

template <class S>
class HEARSAY_API SparseGram {
 public:
  using Scalar = S;

  /// A is borrowed. By rows it is AA' (m x m), else A'A (n x n).
  SparseGram(CsrView<S> A, bool by_rows);
  SparseGram(CsrMatrix<S>&&, bool) = delete;

  Index dim() const { return by_rows_ ? A_.rows : A_.cols; }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  OperatorFacts facts() const;

  void multiply(ConstBlockView<S> X, BlockView<S> out) const;             ///< A X
  void multiply_transposed(ConstBlockView<S> U, BlockView<S> out) const;  ///< A'U

  Index longest_sum() const { return longest_; }  ///< terms of the longest row or column

 private:
  CsrView<S> A_;
  bool by_rows_;
  CsrMatrix<S> At_;
  std::vector<Index> tasks_, tasks_t_;  // where tasks begin in the rows of A and of A': as many entries each, about
  Index longest_ = 0;
  mutable Block<S> between_;  // A'X or A X
};

}  // namespace hearsay

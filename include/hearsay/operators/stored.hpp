// Symmetric matrices held in memory: dense, sparse, and the normalised adjacency of a graph.
#pragma once

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"
#include "hearsay/graph.hpp"
#include "hearsay/operator.hpp"

namespace hearsay {

/// A dense symmetric matrix, borrowed. Both triangles are read; require_symmetric checks that they agree.
template <class S>
class HEARSAY_API DenseSymmetric {
 public:
  using Scalar = S;

  explicit DenseSymmetric(const Block<S>& A) : DenseSymmetric(borrow(A)) {}
  explicit DenseSymmetric(Block<S>&&) = delete;
  explicit DenseSymmetric(BorrowedBlock<S> A);

  Index dim() const { return A_.rows(); }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  OperatorFacts facts() const { return {.exact = true, .multiply_adds = double(dim()) * double(dim())}; }
  double norm_bound() const;  ///< the largest sum of magnitudes along a row

 private:
  BorrowedBlock<S> A_;
};

/// A sparse symmetric matrix with both triangles stored, borrowed.
template <class S>
class HEARSAY_API SparseSymmetric {
 public:
  using Scalar = S;

  explicit SparseSymmetric(const CsrMatrix<S>& A) : SparseSymmetric(borrow(A)) {}
  explicit SparseSymmetric(CsrMatrix<S>&&) = delete;
  explicit SparseSymmetric(CsrView<S> A);

  Index dim() const { return A_.rows; }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  void apply_step(ConstBlockView<S> X, S shift, S beta, ConstBlockView<S> Z, BlockView<S> Y) const;
  OperatorFacts facts() const { return {.exact = true, .multiply_adds = double(A_.nonzeros())}; }
  double norm_bound() const;  ///< the largest sum of magnitudes along a row

 private:
  CsrView<S> A_;
};

/// I + D^{-1/2} S D^{-1/2} of an undirected graph with (weighted) adjacency S and degrees D: eigenvalues in [0, 2], the
/// leading eigenvectors embed the graph. A node without edges keeps its row of I.
template <class S>
class HEARSAY_API NormalisedGraph {
 public:
  using Scalar = S;

  explicit NormalisedGraph(const Graph& graph);

  Index dim() const { return adjacency_.rows; }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  void apply_step(ConstBlockView<S> X, S shift, S beta, ConstBlockView<S> Z, BlockView<S> Y) const;
  OperatorFacts facts() const {
    return {.positive_semidefinite = true, .exact = true, .multiply_adds = double(adjacency_.columns.size())};
  }
  double norm_bound() const { return 2.0; }

  /// Square roots of the degrees; the eigenvector of eigenvalue 2 on each component, up to scale.
  const Vector<S>& sqrt_degrees() const { return sqrt_degrees_; }

 private:
  CsrMatrix<S> adjacency_;          // values empty when every weight is one
  Vector<S> inverse_sqrt_degrees_;  // zero at a node without edges
  Vector<S> sqrt_degrees_;
};

}  // namespace hearsay

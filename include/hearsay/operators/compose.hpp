// Operators made of others, and of functions: callback, sum, shift. They borrow what they are made of.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "hearsay/operator.hpp"

namespace hearsay {

/// A user's function for the product. What it throws comes out of the solver unchanged.
template <class S>
class HEARSAY_API CallbackOperator {
 public:
  using Scalar = S;
  using BlockFunction = std::function<void(ConstBlockView<S> X, BlockView<S> Y)>;
  using VectorFunction = std::function<void(const S* x, S* y)>;

  /// Y <- A X for a whole block at once.
  CallbackOperator(Index dim, BlockFunction product, OperatorFacts facts = {});

  /// y <- A x, one contiguous vector at a time: the shape of callback most eigensolver libraries use.
  static CallbackOperator from_vectors(Index dim, VectorFunction product, OperatorFacts facts = {});

  Index dim() const { return dim_; }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const { product_(X, Y); }
  OperatorFacts facts() const { return facts_; }

 private:
  Index dim_;
  BlockFunction product_;
  OperatorFacts facts_;
};

/// weight * (A_1 + ... + A_n), all of one dimension.
template <class S>
class HEARSAY_API SumOperator {
 public:
  using Scalar = S;

  explicit SumOperator(std::vector<OperatorRef<S>> terms, S weight = S(1));

  Index dim() const { return terms_.front().dim(); }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  OperatorFacts facts() const;
  double norm_bound() const;
  std::uint64_t position() const { return terms_.front().position(); }
  void seek(std::uint64_t position) const;

 private:
  std::vector<OperatorRef<S>> terms_;
  S weight_;
  mutable Block<S> term_product_;
};

/// A + shift I: makes a matrix with negative eigenvalues positive semidefinite. A shift so large that rounding would
/// leave nothing of A is refused. `positive_semidefinite` is the caller's word that the sum has no negative eigenvalue,
/// where A does not say so itself.
template <class S>
class HEARSAY_API ShiftedOperator {
 public:
  using Scalar = S;

  template <SymmetricOperator Op>
  ShiftedOperator(const Op& A, S shift, bool positive_semidefinite = false)
      : A_(A), shift_(shift), positive_semidefinite_(positive_semidefinite) {
    require_visible();
  }
  template <SymmetricOperator Op>
  ShiftedOperator(const Op&& A, S shift, bool positive_semidefinite = false) = delete;

  Index dim() const { return A_.dim(); }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  bool apply_step(ConstBlockView<S> X, S shift, S beta, ConstBlockView<S> Z, BlockView<S> Y) const;
  OperatorFacts facts() const;
  double norm_bound() const { return A_.norm_bound() + scaled_shift(); }
  std::uint64_t position() const { return A_.position(); }
  void seek(std::uint64_t position) const { A_.seek(position); }

 private:
  void require_visible() const;
  double scaled_shift() const;  // in the scale of A's products

  OperatorRef<S> A_;
  S shift_;
  bool positive_semidefinite_;
};

}  // namespace hearsay

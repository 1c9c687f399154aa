// Products with a block that is turned before and turned back after: Y = A(X T) T'. With exact products nothing
// changes. Errors that are the same at every product become different ones, and average out.
#pragma once

#include <cstdint>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "hearsay/operator.hpp"

namespace hearsay {

/// What is done to the block before each product, and undone after it, so that errors which are the same every time
/// average out. Random signs free constant errors of their mean; rounding is odd, and needs
/// rotations.
enum class Turning { none, signs, rotations };
HEARSAY_API const char* name(Turning turning);

/// A(X T_t) T_t', T_t drawn afresh for product t: a diagonal of random signs, or a random rotation of the columns. It
/// counts its products, as what it is made of does.
template <class S>
class HEARSAY_API TurnedOperator {
 public:
  using Scalar = S;

  template <SymmetricOperator Op>
  TurnedOperator(const Op& A, Turning turning, std::uint64_t seed) : A_(A), turning_(turning), seed_(seed) {}
  template <SymmetricOperator Op>
  TurnedOperator(const Op&& A, Turning turning, std::uint64_t seed) = delete;

  Index dim() const { return A_.dim(); }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  OperatorFacts facts() const;
  double norm_bound() const { return A_.norm_bound(); }
  std::uint64_t position() const { return products_; }
  void seek(std::uint64_t position) const;

 private:
  OperatorRef<S> A_;
  Turning turning_;
  std::uint64_t seed_;
  mutable std::uint64_t products_ = 0;
  mutable Block<S> X_, Y_;  // turned
};

}  // namespace hearsay

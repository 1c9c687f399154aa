// What the solver asks of a matrix: its dimension and its products with blocks. How it is stored, or where, is its own
// business, and so is how inexact the products are.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hearsay/block.hpp"

namespace hearsay {

/// A symmetric matrix known only by its action on a block.
template <class Op>
concept SymmetricOperator = requires(const Op& A, ConstBlockView<typename Op::Scalar> X,
                                     BlockView<typename Op::Scalar> Y) {
  { A.dim() } -> std::convertible_to<Index>;
  { A.apply(X, Y) } -> std::same_as<void>;  // Y <- A X; X and Y never overlap, and Y's old content is not read
};

/// What an operator may know about itself beyond its products. All of it is optional: an operator with a member
/// `OperatorFacts facts() const` is asked for it.
struct OperatorFacts {
  bool positive_semidefinite = false;  ///< known for certain
  bool noisy = false;                  ///< products are known to be inexact
  bool approximate = false;            ///< they have errors that are the same whenever they are asked for: rounding to
                                       ///< few digits, a sum cut short
  int exponent = 0;          ///< the matrix is 2^exponent times what apply() computes; other facts are about apply()
  Index extra_passes = 0;    ///< readings of the data so far that were not products: means, a Gram matrix
  bool exact = false;        ///< every product is A X to rounding, whenever it is asked for
  double multiply_adds = 0;  ///< what a product with one column costs; 0 where that is not known
  Index terms = 0;           ///< of the longest sum in a product, by which rounding grows; 0: as many as the dimension
  double shift = 0;          ///< of apply(), how much is a multiple of the identity: residuals are relative to the rest
  double norm = 0;           ///< what the norm of that rest is at least, where it was measured
};

/// A reference to any SymmetricOperator, for code that is compiled once. Like a view it must not outlive what it refers
/// to.
template <class S>
class OperatorRef {
 public:
  template <class Op>
  requires(SymmetricOperator<Op>&& std::same_as<typename Op::Scalar, S> && !std::same_as<Op, OperatorRef>)
      OperatorRef(const Op& A)
      : object_(&A), table_(&table_for<Op>) {}  // NOLINT(google-explicit-constructor)

  using Scalar = S;

  Index dim() const { return table_->dim(object_); }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const { table_->apply(object_, X, Y); }
  OperatorFacts facts() const { return table_->facts(object_); }

  /// Y <- A X - shift X - beta Z in one pass over Y, where the operator has a member `apply_step` that can; false, and
  /// nothing done, where it has none. That of an operator made of another returns whether the other could.
  bool apply_step(ConstBlockView<S> X, S shift, S beta, ConstBlockView<S> Z, BlockView<S> Y) const {
    return table_->apply_step(object_, X, shift, beta, Z, Y);
  }

  /// An upper bound on every eigenvalue of what apply() computes, infinite where none is known. It may cost a pass.
  double norm_bound() const { return table_->norm_bound(object_); }

  /// Products made so far, where that drives a random stream or a change of strategy; seek() restores it, so that a
  /// resumed solve meets the operator it left.
  std::uint64_t position() const { return table_->position(object_); }
  void seek(std::uint64_t position) const { table_->seek(object_, position); }

 private:
  struct Table {
    Index (*dim)(const void*);
    void (*apply)(const void*, ConstBlockView<S>, BlockView<S>);
    bool (*apply_step)(const void*, ConstBlockView<S>, S, S, ConstBlockView<S>, BlockView<S>);
    OperatorFacts (*facts)(const void*);
    double (*norm_bound)(const void*);
    std::uint64_t (*position)(const void*);
    void (*seek)(const void*, std::uint64_t);
  };

  template <class Op>
  static const Op& as(const void* object) {
    return *static_cast<const Op*>(object);
  }

  template <class Op>
  static constexpr Table table_for = {
      [](const void* object) -> Index { return as<Op>(object).dim(); },
      [](const void* object, ConstBlockView<S> X, BlockView<S> Y) { as<Op>(object).apply(X, Y); },
      [](const void* object, [[maybe_unused]] ConstBlockView<S> X, [[maybe_unused]] S shift, [[maybe_unused]] S beta,
         [[maybe_unused]] ConstBlockView<S> Z, [[maybe_unused]] BlockView<S> Y) -> bool {
        if constexpr (requires(const Op& A) {
                        { A.apply_step(X, shift, beta, Z, Y) } -> std::same_as<bool>;
                      })
          return as<Op>(object).apply_step(X, shift, beta, Z, Y);
        else if constexpr (requires(const Op& A) { A.apply_step(X, shift, beta, Z, Y); })
          return as<Op>(object).apply_step(X, shift, beta, Z, Y), true;
        else
          return (void)object, false;
      },
      [](const void* object) -> OperatorFacts {
        if constexpr (requires(const Op& A) { A.facts(); })
          return as<Op>(object).facts();
        else
          return (void)object, OperatorFacts{};
      },
      [](const void* object) -> double {
        if constexpr (requires(const Op& A) { A.norm_bound(); })
          return as<Op>(object).norm_bound();
        else
          return (void)object, std::numeric_limits<double>::infinity();
      },
      [](const void* object) -> std::uint64_t {
        if constexpr (requires(const Op& A) { A.position(); })
          return as<Op>(object).position();
        else
          return (void)object, 0;
      },
      [](const void* object, std::uint64_t position) {
        if constexpr (requires(const Op& A) { A.seek(position); })
          as<Op>(object).seek(position);
        else
          (void)object, (void)position;
      }};

  const void* object_;
  const Table* table_;
};

}  // namespace hearsay

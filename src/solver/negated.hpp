// The other end of a spectrum: the leading eigenvalues of -A are the smallest of A.
#pragma once

#include <cstdint>
#include <limits>

#include "hearsay/operator.hpp"

namespace hearsay::detail {

// -A
template <class S>
class Negated {
 public:
  using Scalar = S;

  explicit Negated(OperatorRef<S> A) : A_(A) {}

  Index dim() const { return A_.dim(); }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const {
    A_.apply(X, Y);
    Y *= S(-1);
  }
  bool apply_step(ConstBlockView<S> X, S shift, S beta, ConstBlockView<S> Z, BlockView<S> Y) const {
    if (!A_.apply_step(X, -shift, -beta, Z, Y)) return false;
    Y *= S(-1);
    return true;
  }
  OperatorFacts facts() const {
    OperatorFacts facts = A_.facts();
    facts.positive_semidefinite = false;
    facts.shift = -facts.shift;
    return facts;
  }
  // A bound on the eigenvalues of A is one on their magnitudes unless a shift has moved them.
  double norm_bound() const {
    return A_.facts().shift == 0 ? A_.norm_bound() : std::numeric_limits<double>::infinity();
  }
  std::uint64_t position() const { return A_.position(); }
  void seek(std::uint64_t position) const { A_.seek(position); }

 private:
  OperatorRef<S> A_;
};

}  // namespace hearsay::detail

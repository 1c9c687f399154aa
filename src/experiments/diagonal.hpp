// A matrix in its own eigenbasis.
#pragma once

#include <algorithm>
#include <utility>

#include "hearsay/operator.hpp"

namespace hearsay::experiments {

class DiagonalOperator {
 public:
  using Scalar = double;

  explicit DiagonalOperator(Vector<double> eigenvalues) : eigenvalues_(std::move(eigenvalues)) {}

  const Vector<double>& eigenvalues() const { return eigenvalues_; }
  Index dim() const { return eigenvalues_.size(); }
  void apply(ConstBlockView<double> X, BlockView<double> Y) const { Y.noalias() = eigenvalues_.asDiagonal() * X; }
  OperatorFacts facts() const { return {.positive_semidefinite = eigenvalues_.minCoeff() >= 0}; }
  double norm_bound() const { return eigenvalues_.cwiseAbs().maxCoeff(); }

 private:
  Vector<double> eigenvalues_;
};

}  // namespace hearsay::experiments

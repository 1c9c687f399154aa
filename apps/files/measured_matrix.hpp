// The matrix behind a result, loaded again, to measure with.
#pragma once

#include <memory>

#include "commands/job.hpp"
#include "hearsay/operator.hpp"

namespace hearsay::app {

class MeasuredMatrix {
 public:
  virtual ~MeasuredMatrix() = default;

  virtual OperatorRef<double> reference() const = 0;
  Index dim() const { return reference().dim(); }
  void apply(ConstBlockView<double> X, BlockView<double> Y) const { reference().apply(X, Y); }

  /// How much of it is a multiple of the identity: residuals are relative to the rest.
  double identity_part() const;

  /// An eigenvalue of this operator, in the unit in which results give it: without --shift, divided by 2^exponent.
  double in_unit_of_result(double eigenvalue) const;

 protected:
  double shift_ = 0;
  int exponent_ = 0;  // of the result
};

/// In double precision, whatever the job asked for, and with its shift. Agents' data are pooled, which is what their
/// result speaks of. Null where that is not known how: a plan; agents' files whose columns differ.
std::unique_ptr<MeasuredMatrix> measured_matrix(const Job& job, int exponent);

}  // namespace hearsay::app

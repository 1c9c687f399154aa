// The rectangular matrix behind a result, loaded again, to measure with.
#pragma once

#include <variant>

#include "commands/job.hpp"
#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"

namespace hearsay::app {

/// In double precision, whatever the job asked for, and by a power of two so near to one that squares stay in range.
class RectangularMatrix {
 public:
  /// Of a result that gives singular values divided by 2^exponent.
  RectangularMatrix(const Job& job, int exponent);

  Index rows() const;
  Index columns() const;

  /// A number of the result, a singular value or an error of one, in the unit of the products below.
  double in_own_unit(double told) const;

  /// A X, or A'X.
  Block<double> product(const Block<double>& X, bool forward) const;

  /// A'A or AA', the smaller of the two.
  Small<double> normal() const;

 private:
  std::variant<Block<double>, CsrMatrix<double>> matrix_;
  int told_in_ = 0, held_in_ = 0;  // powers of two
};

}  // namespace hearsay::app

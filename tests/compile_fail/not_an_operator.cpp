// A type without apply() is no operator.
#include <hearsay/power.hpp>

struct Almost {
  using Scalar = double;
  hearsay::Index dim() const { return 3; }
#ifndef WRONG
  void apply(hearsay::ConstBlockView<double> X, hearsay::BlockView<double> Y) const { Y = X; }
#endif
};

hearsay::Index columns() { return hearsay::accelerated_power<double>(Almost{}, {.rank = 1}).columns; }

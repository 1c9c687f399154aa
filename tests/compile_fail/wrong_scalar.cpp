// A matrix of floats is not solved in double behind the user's back.
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>

hearsay::Index columns(const hearsay::Block<float>& A) {
#ifdef WRONG
  return hearsay::accelerated_power<double>(hearsay::DenseSymmetric<float>(A), {.rank = 1}).columns;
#else
  return hearsay::accelerated_power<float>(hearsay::DenseSymmetric<float>(A), {.rank = 1}).columns;
#endif
}

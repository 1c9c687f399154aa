// An operator borrows its matrix: a temporary would be gone before the first product.
#include <hearsay/operators/stored.hpp>

hearsay::Index dimension(const hearsay::Block<double>& A) {
#ifdef WRONG
  const hearsay::DenseSymmetric<double> op(hearsay::Block<double>(A * 2));
#else
  const hearsay::DenseSymmetric<double> op(A);
#endif
  return op.dim();
}

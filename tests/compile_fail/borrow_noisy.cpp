// noisy(A, model) borrows A.
#include <hearsay/noise.hpp>
#include <hearsay/operators/stored.hpp>

hearsay::Index dimension(const hearsay::Block<double>& A) {
#ifdef WRONG
  const auto op = noisy(hearsay::DenseSymmetric<double>(A), hearsay::gaussian_noise<double>(1e-3, 1));
#else
  const hearsay::DenseSymmetric<double> exact(A);
  const auto op = noisy(exact, hearsay::gaussian_noise<double>(1e-3, 1));
#endif
  return op.dim();
}

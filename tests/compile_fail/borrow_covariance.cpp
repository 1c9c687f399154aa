// Data are borrowed too.
#include <hearsay/operators/covariance.hpp>

hearsay::Index dimension(const hearsay::Block<double>& data) {
#ifdef WRONG
  const hearsay::DenseCovariance<double> op(hearsay::Block<double>(data.topRows(5)));
#else
  const hearsay::DenseCovariance<double> op(data);
#endif
  return op.dim();
}

#include "hearsay/dense_eigen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"

namespace hearsay {

template <class S>
DenseEigen<S> dense_eigen(OperatorRef<S> A, Index largest_dimension) {
  const Index d = A.dim();
  require(d <= largest_dimension,
          fmt::format("dimension = {}: the whole spectrum is computed up to {} only", d, largest_dimension));
  constexpr Index columns = 256;  // the identity is handed over in pieces
  Small<S> dense(d, d);
  Block<S> identity, product;
  for (Index first = 0; first < d; first += columns) {
    const Index count = std::min(columns, d - first);
    identity = Block<S>::Zero(d, count);
    identity.middleRows(first, count).diagonal().setOnes();
    product.resize(d, count);
    A.apply(identity, product);
    dense.middleCols(first, count) = product;
  }
  const S scale = std::ldexp(S(1), A.facts().exponent);
  SmallEigen<S> eigen = symmetric_eigen<S>(dense);
  return {eigen.values * scale, eigen.vectors};
}

template DenseEigen<float> dense_eigen<float>(OperatorRef<float>, Index);
template DenseEigen<double> dense_eigen<double>(OperatorRef<double>, Index);

}  // namespace hearsay

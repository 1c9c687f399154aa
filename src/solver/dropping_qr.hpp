// The small half of a CholeskyQR in an engine: from Y'Y to S = R^-1, with zeros for columns that cannot be told from
// those before them.
#pragma once

#include <cmath>

#include "hearsay/block.hpp"

namespace hearsay::detail {

/// The sine of the angle to the columns before it below which a column is dropped: its direction would be rounding.
inline double dropped_below(bool in_double) { return in_double ? 1e-7 : 1e-6; }

inline Small<double> dropping_inverse(const Small<double>& G, bool in_double) {
  const Index p = G.cols();
  const double least = dropped_below(in_double) * dropped_below(in_double);
  Small<double> R = Small<double>::Zero(p, p), S = Small<double>::Zero(p, p);
  for (Index j = 0; j < p; ++j) {
    Vector<double> r = Vector<double>::Zero(p);
    for (Index i = 0; i < j; ++i)
      if (R(i, i) > 0) r(i) = (G(i, j) - R.col(i).head(i).dot(r.head(i))) / R(i, i);
    const double pivot = G(j, j) - r.head(j).squaredNorm();
    if (!(pivot > least * G(j, j))) continue;  // and all of its row and column stay zero
    R.col(j) = r;
    R(j, j) = std::sqrt(pivot);
    S(j, j) = 1 / R(j, j);
    for (Index i = 0; i < j; ++i) S(i, j) = -S.row(i).head(j).dot(r.head(j)) * S(j, j);
  }
  return S;
}

}  // namespace hearsay::detail

// Mean and covariance of dense rows together, in one reading of them.
#pragma once

#include <optional>

#include "hearsay/block.hpp"

namespace hearsay::detail {

struct FormedCovariance {
  Block<double> matrix = {};
  Vector<double> mean = {};  ///< zero when not centring
  double divisor = 1;
  double rounding = 0;  ///< the most that forming it may have changed, as a Frobenius norm
  Index passes = 1;     ///< readings of the rows
};

/// Nothing where an entry is not finite, or so large or small that squares of it are none: who looks at every number on
/// its own may say more.
template <class S>
std::optional<FormedCovariance> form_covariance(const BorrowedBlock<S>& data, bool center);

}  // namespace hearsay::detail

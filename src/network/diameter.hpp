#pragma once

#include "hearsay/csr.hpp"

namespace hearsay::detail {

/// The diameter of the connected graph whose edges are W's entries off the diagonal; where that takes too long, a bound
/// from above, at most twice it. Minus one if the graph is not connected.
Index diameter(const CsrMatrix<double>& W);

}  // namespace hearsay::detail

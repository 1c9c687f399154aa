// Is a matrix symmetric, and if not, where?
#pragma once

#include <string_view>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

/// Throws DataError unless A is square, finite, and symmetric to 1e-10 max|A| (for float, to 8 of its epsilons). The
/// message begins with `name` and names the first entry at fault, counted from 1.
HEARSAY_API void require_symmetric(const ConstBlockView<double>& A, std::string_view name);
HEARSAY_API void require_symmetric(const ConstBlockView<float>& A, std::string_view name);
HEARSAY_API void require_symmetric(const CsrView<double>& A, std::string_view name);
HEARSAY_API void require_symmetric(const CsrView<float>& A, std::string_view name);

template <class S>
void require_symmetric(const CsrMatrix<S>& A, std::string_view name) {
  require_symmetric(borrow(A), name);
}

}  // namespace hearsay

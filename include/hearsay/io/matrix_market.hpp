// Matrix Market files, plain or gzip: array or coordinate, real, integer or pattern, general or symmetric.
//
// Symmetric storage (the lower triangle) is expanded to the full matrix. A coordinate given twice counts as the sum of
// its entries, as in assembled finite-element matrices. Skew-symmetric, Hermitian and complex matrices are refused.
#pragma once

#include <filesystem>
#include <string_view>
#include <variant>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"

namespace hearsay::io {

struct MatrixMarket {
  std::variant<Block<double>, CsrMatrix<double>> matrix;  ///< array files are dense, coordinate files sparse
  bool declared_symmetric = false;
};

HEARSAY_API MatrixMarket read_matrix_market(const std::filesystem::path& path);
HEARSAY_API MatrixMarket parse_matrix_market(std::string_view text, std::string_view name);

}  // namespace hearsay::io

// The folder that 10x Genomics' programs write: matrix.mtx.gz of genes x cells, and beside it the names of both.
#pragma once

#include <filesystem>
#include <optional>

#include "hearsay/export.hpp"

namespace hearsay::io {

/// barcodes.tsv and features.tsv (before version 3 genes.tsv), each plain or .gz, with the matrix's own prefix.
struct TenXNames {
  std::filesystem::path barcodes, features;
};

/// Nothing where the file is not called [PREFIX]matrix.mtx or .mtx.gz, or one of the two is missing. A matrix that has
/// them is read as cells x genes (read_data()).
HEARSAY_API std::optional<TenXNames> ten_x_names(const std::filesystem::path& matrix);

}  // namespace hearsay::io

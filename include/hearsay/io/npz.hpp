// NumPy's .npz: a sparse matrix as scipy.sparse.save_npz writes it, by rows or by columns, or an array.
//
// The rules of CSR are held as in HDF5 (hdf5.hpp). A matrix by columns (CSC) is turned into rows. Of several arrays
// `dataset` names one.
#pragma once

#include <filesystem>
#include <string_view>

#include "hearsay/export.hpp"
#include "hearsay/io/matrix.hpp"

namespace hearsay::io {

HEARSAY_API Data read_npz(const std::filesystem::path& path, const TableOptions& options = {});
HEARSAY_API Data parse_npz(std::string_view bytes, std::string_view name, const TableOptions& options = {});

}  // namespace hearsay::io

// NumPy's .npz: a sparse matrix as scipy.sparse.save_npz writes it, by rows or by columns, or an array.
//
// The rules of CSR are held as in HDF5 (hdf5.hpp). A matrix by columns (CSC) is turned into rows. Of several arrays
// `dataset` names one.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "hearsay/export.hpp"
#include "hearsay/io/matrix.hpp"
#include "hearsay/io/rows.hpp"
#include "hearsay/row_source.hpp"

namespace hearsay::io {

HEARSAY_API Data read_npz(const std::filesystem::path& path, const TableOptions& options = {});
/// Rows in the order of the file, unpacked as they pass by; of a sparse matrix by rows a SparseRowSource. One by
/// columns is refused, and an array in Fortran order.
HEARSAY_API std::unique_ptr<RowSource<double>> open_npz_rows(const std::filesystem::path& path,
                                                             const TableOptions& options = {});
/// As rows.hpp has it.
HEARSAY_API HeldShape npz_held_shape(const std::filesystem::path& path, const TableOptions& options = {});

HEARSAY_API Data parse_npz(std::string_view bytes, std::string_view name, const TableOptions& options = {});

}  // namespace hearsay::io

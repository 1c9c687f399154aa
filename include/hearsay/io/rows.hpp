// The rows of a file bigger than memory, block by block.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hearsay/export.hpp"
#include "hearsay/io/table.hpp"
#include "hearsay/row_source.hpp"

namespace hearsay::io {

/// For tables and C-order .npy, plain or gzip, and HDF5 (hdf5.hpp). The label column is left out. Every row is checked
/// as it is read, with the errors of read_table and read_npy; memory stays at about a megabyte, or one row if that is
/// longer.
HEARSAY_API std::unique_ptr<RowSource<double>> open_rows(const std::filesystem::path& path,
                                                         const TableOptions& options = {});

/// The names in the header of a table, without the label's; none of any other file. Not for a pipe: it is read anew.
HEARSAY_API std::vector<std::string> column_names(const std::filesystem::path& path, const TableOptions& options = {});

}  // namespace hearsay::io

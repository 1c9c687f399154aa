// A matrix from a file of any kind we know: the one call of the command line and the bindings.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"
#include "hearsay/io/table.hpp"

namespace hearsay::io {

struct Data {
  std::variant<Block<double>, Block<float>, CsrMatrix<double>, CsrMatrix<float>> matrix;
  std::vector<std::string> column_names;  ///< empty when the file has none
  std::vector<std::string> labels;        ///< one per row; empty without a label column
  std::string label_name;
  bool declared_symmetric = false;                         ///< by a Matrix Market file
  std::vector<std::string> row_names = {};                 ///< one per row; empty where the file has none
  std::string row_title = "row", column_title = "column";  ///< what rows and columns are: "cell", "gene"
  std::vector<std::string> notes = {};                     ///< what whoever reads the result should know of the reading
};

/// The kind follows the extension, .gz set aside: .csv .tsv .txt .data are tables, .npy NumPy, .npz NumPy and SciPy
/// (npz.hpp), .mtx Matrix Market (of 10x Genomics with its names beside it: ten_x.hpp), .h5ad .h5 .hdf5 HDF5
/// (hdf5.hpp); any other file is known by its first bytes, and a table if they say nothing. A label column of numbers
/// becomes text; a sparse matrix has none to give.
HEARSAY_API Data read_data(const std::filesystem::path& path, const TableOptions& options = {});

}  // namespace hearsay::io

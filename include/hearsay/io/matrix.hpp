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
  std::variant<Block<double>, Block<float>, CsrMatrix<double>> matrix;
  std::vector<std::string> column_names;  ///< empty when the file has none
  std::vector<std::string> labels;        ///< one per row; empty without a label column
  std::string label_name;
  bool declared_symmetric = false;  ///< by a Matrix Market file
};

/// The kind follows the extension, .gz set aside: .csv .tsv .txt .data are tables, .npy NumPy, .mtx Matrix Market; any
/// other file is known by its first bytes, and a table if they say nothing. A label column of a .npy file becomes text;
/// a .mtx file has none to give.
HEARSAY_API Data read_data(const std::filesystem::path& path, const TableOptions& options = {});

}  // namespace hearsay::io

// A matrix from a file of any kind we know: the one call of the command line and the bindings.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hearsay/csr.hpp"
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
Data read_data(const std::filesystem::path& path, const TableOptions& options = {});

/// Throws DataError unless A is square, finite, and symmetric to 1e-10 max|A| (for float, to 8 of its epsilons). The
/// message begins with `name` and names the first entry at fault, counted from 1.
void require_symmetric(const ConstBlockView<double>& A, std::string_view name);
void require_symmetric(const ConstBlockView<float>& A, std::string_view name);
void require_symmetric(const CsrMatrix<double>& A, std::string_view name);

}  // namespace hearsay::io

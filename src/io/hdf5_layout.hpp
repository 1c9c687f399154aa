// Which of the things in an HDF5 file is the matrix, and where the names of its rows and columns are.
#pragma once

#include <string>

#include "io/hdf5_file.hpp"

namespace hearsay::io {

struct Hdf5Layout {
  enum class Kind { dense, sparse_rows, sparse_columns };
  Kind kind = Kind::dense;
  std::string matrix = {};  ///< a data set, or the group of data, indices and indptr
  Index rows = 0, cols = 0;
  std::string row_names = {}, column_names = {};           ///< places of texts; empty where there are none
  std::string row_title = "row", column_title = "column";  ///< what to call them
};

/// Throws DataError where nothing of that name is a matrix, InvalidArgument where a name is needed.
Hdf5Layout hdf5_layout(const Hdf5File& file, const std::string& dataset);

/// As many as the matrix has rows or columns, or none. Throws DataError where there are more or fewer.
std::vector<std::string> hdf5_row_names(const Hdf5File& file, const Hdf5Layout& layout);
std::vector<std::string> hdf5_column_names(const Hdf5File& file, const Hdf5Layout& layout);

}  // namespace hearsay::io

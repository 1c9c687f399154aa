// The rows of a file bigger than memory, block by block.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hearsay/export.hpp"
#include "hearsay/io/matrix.hpp"
#include "hearsay/io/table.hpp"
#include "hearsay/row_source.hpp"

namespace hearsay::io {

/// For tables and C-order .npy, plain or gzip, .npz (npz.hpp) and HDF5 (hdf5.hpp). The label column is left out. Every
/// row is checked as it is read, with the errors of read_table and read_npy; memory stays at about a megabyte, or one
/// row if that is longer.
HEARSAY_API std::unique_ptr<RowSource<double>> open_rows(const std::filesystem::path& path,
                                                         const TableOptions& options = {});

/// The same in single precision, where the numbers of a .npy or raw file are stored so.
using StoredRows = std::variant<std::unique_ptr<RowSource<double>>, std::unique_ptr<RowSource<float>>>;
HEARSAY_API StoredRows open_rows_as_stored(const std::filesystem::path& path, const TableOptions& options = {});

/// Whether open_rows() takes the kind of file, by its name and first bytes.
HEARSAY_API bool can_be_streamed(const std::filesystem::path& path);

/// A plain C-order .npy or raw file of f4 or f8 in the byte order of this machine, without a label column, where it
/// lies on the disk: mapped, checked, and in_memory() at once; nothing of any other file. Whoever shortens the file
/// while it is in use is told of by require_whole().
class HEARSAY_API MappedRows {
 public:
  virtual ~MappedRows() = default;
  virtual const std::variant<BorrowedBlock<double>, BorrowedBlock<float>>& rows() const = 0;
  /// Throws DataError where the file became shorter since it was opened: what was read of the rest are zeros.
  virtual void require_whole() const = 0;
};
HEARSAY_API std::unique_ptr<MappedRows> map_rows(const std::filesystem::path& path, const TableOptions& options = {});

/// What a file takes that is read into memory, where that is another size than that of the file: HDF5 and .npz; nothing
/// of others.
struct HeldShape {
  Index rows = 0, cols = 0;
  std::uint64_t bytes = 0;
};
HEARSAY_API std::optional<HeldShape> held_shape(const std::filesystem::path& path, const TableOptions& options = {});

/// The names of rows and columns, and what they are called, of an HDF5 file; the matrix is left out. Nothing of others.
HEARSAY_API Data names_of_file(const std::filesystem::path& path, const TableOptions& options = {});

/// The names in the header of a table, without the label's; none of any other file. Not for a pipe: it is read anew.
HEARSAY_API std::vector<std::string> column_names(const std::filesystem::path& path, const TableOptions& options = {});

}  // namespace hearsay::io

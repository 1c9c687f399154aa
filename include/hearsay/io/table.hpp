// Tables of numbers as text: CSV and its relatives, plain or gzip.
//
// The delimiter (tab, ';', ',' or blanks) and the header are found by looking at the first two lines. A first line is a
// header when every cell of it is a name; one that mixes names and numbers is read as data, so that no row is ever lost
// in silence. A name that looks like a number is told by its quotes. Quoted cells end on their own line.
//
// Errors begin with file:line:column, where the column is the cell's, counted from 1.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay::io {

/// Numbers one after the other, row by row, with nothing before or between them but `skip` bytes at the front.
struct RawLayout {
  std::int64_t rows = 0;  ///< 0: as many as the file holds
  std::int64_t columns = 1;
  std::string type = "f4";  ///< as NumPy writes it: f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1, with < or > before it or without
  std::uint64_t skip = 0;
};

/// ROWSxCOLUMNS, or COLUMNS alone. Throws InvalidArgument.
HEARSAY_API RawLayout parse_raw_shape(std::string_view text);

struct TableOptions {
  std::string label_column = {};  ///< empty: none; else a number counted from 1, `last`, or a name of the header
  char delimiter = 0;             ///< 0: find out; ' ': any run of blanks
  bool missing = false;  ///< a cell that holds nothing becomes NaN: an empty one, NA, N/A, NaN, null, none, #N/A, ?
                         ///< or a point, in capitals or not; otherwise it is refused
  std::string missing_hint = {};      ///< what a refusal of such a cell ends with
  std::string dataset = {};           ///< which matrix of a file that may hold more than one (HDF5, .npz); empty: the
                                      ///< usual one. No other file takes a name
  std::optional<RawLayout> raw = {};  ///< the file is no table, but numbers as they are; of read_data and the rows
};

struct Table {
  Block<double> values;                   ///< without the label column
  std::vector<std::string> column_names;  ///< one per column of values; empty without a header
  std::vector<std::string> labels;        ///< one per row; empty without a label column
  std::string label_name;                 ///< empty without a header or a label column
};

/// Throws DataError for content (ragged rows, text, infinities; empty cells and NaN unless they may be missing),
/// InvalidArgument for the options.
HEARSAY_API Table read_table(const std::filesystem::path& path, const TableOptions& options = {});
HEARSAY_API Table parse_table(std::string_view text, std::string_view name, const TableOptions& options = {});

/// Numbers are written with the fewest digits that read back as the same double. No names, no header.
HEARSAY_API void write_table_csv(const std::filesystem::path& path, const ConstBlockView<double>& values,
                                 const std::vector<std::string>& column_names = {});

/// A column of names before the numbers, one for each row.
struct RowNames {
  std::string title;
  std::vector<std::string> names;
};

/// With such columns, which need names for the others, too.
HEARSAY_API void write_table_csv(const std::filesystem::path& path, const ConstBlockView<double>& values,
                                 const std::vector<std::string>& column_names, const std::vector<RowNames>& row_names);

}  // namespace hearsay::io

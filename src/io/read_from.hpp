// The parsers, once the file has been opened: behind read_*, parse_* and read_data alike.
#pragma once

#include "hearsay/io/edge_list.hpp"
#include "hearsay/io/matrix.hpp"
#include "hearsay/io/matrix_market.hpp"
#include "hearsay/io/npy.hpp"
#include "hearsay/io/table.hpp"
#include "hearsay/io/ten_x.hpp"
#include "io/byte_source.hpp"

namespace hearsay::io {

Table read_table_from(ByteSource source, const TableOptions& options);
FloatOrDouble read_npy_from(const ByteSource& source, const TableOptions& options = {});
FloatOrDouble read_raw_from(InputFile& file, const TableOptions& options);
/// Turned: of a coordinate file the rows are the columns.
MatrixMarket read_matrix_market_from(ByteSource source, bool turned = false);
Data read_ten_x(ByteSource source, const TenXNames& names);
EdgeList read_edge_list_from(ByteSource source);

/// The numbers, and beside them the label column that the options name.
Data with_labels(FloatOrDouble values, const TableOptions& options, std::string_view name);

}  // namespace hearsay::io

// The parsers, once the file has been opened: behind read_*, parse_* and read_data alike.
#pragma once

#include "hearsay/io/edge_list.hpp"
#include "hearsay/io/matrix_market.hpp"
#include "hearsay/io/npy.hpp"
#include "hearsay/io/table.hpp"
#include "io/byte_source.hpp"

namespace hearsay::io {

Table read_table_from(ByteSource source, const TableOptions& options);
FloatOrDouble read_npy_from(const ByteSource& source, const TableOptions& options = {});
MatrixMarket read_matrix_market_from(ByteSource source);
EdgeList read_edge_list_from(ByteSource source);

}  // namespace hearsay::io

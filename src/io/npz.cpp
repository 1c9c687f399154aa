#include "hearsay/io/npz.hpp"

#include <fmt/format.h>

#include <limits>

#include "hearsay/error.hpp"
#include "hearsay/operators/gram.hpp"
#include "io/mapped_file.hpp"
#include "io/npz_file.hpp"
#include "io/read_from.hpp"
#include "io/sparse_rows.hpp"

namespace hearsay::io {
namespace {

template <class S>
CsrMatrix<S> sparse_of(const NpzFile& file, SparseShape shape, const ByteSource& values, const NpyHeader& header,
                       const TableOptions& options) {
  const ByteSource offsets = file.open("indptr"), columns = file.open("indices");
  CsrMatrix<S> A{.rows = shape.rows, .cols = shape.cols};
  A.row_start = vector_of<std::int64_t>(offsets, vector_header(offsets, true));
  if (static_cast<Index>(A.row_start.size()) != shape.rows + 1)
    throw DataError(
        fmt::format("{}: has {} numbers; so many rows have {}", offsets.name, A.row_start.size(), shape.rows + 1));
  if (shape.cols > std::numeric_limits<std::int32_t>::max())
    throw DataError(fmt::format("{}: {} columns: indices go to 2^31 - 1", file.name(), shape.cols));
  A.columns = vector_of<std::int32_t>(columns, vector_header(columns, true));
  A.values = vector_of<S>(values, header);
  if (A.columns.size() != A.values.size())
    throw DataError(
        fmt::format("{}: has {} numbers, and data has {}", columns.name, A.columns.size(), A.values.size()));
  require_offsets(A.row_start, 0, A.nonzeros(), offsets.name);
  if (A.row_start.back() != A.nonzeros())
    throw DataError(
        fmt::format("{}: ends with {}; there are {} entries", offsets.name, A.row_start.back(), A.nonzeros()));
  require_entries(A, 0, 0, {offsets.name, columns.name, file.name()}, {options.missing, options.missing_hint});
  tidy_rows(A, file.name());
  return A;
}

template <class S>
CsrMatrix<S> by_rows(const NpzFile& file, bool turned, const ByteSource& values, const NpyHeader& header,
                     const TableOptions& options) {
  const SparseShape shape = shape_of(file);
  if (!turned) return sparse_of<S>(file, shape, values, header, options);
  const CsrMatrix<S> stored = sparse_of<S>(file, {shape.cols, shape.rows}, values, header, options);
  return transposed<S>(borrow(stored));
}

Data sparse_data(const NpzFile& file, const TableOptions& options) {
  const std::string format = sparse_format(file, options);
  const bool turned = format == "csc";
  const ByteSource values = file.open("data");
  const NpyHeader header = vector_header(values, false);
  Data data;
  if (header.is_float())
    data.matrix = by_rows<float>(file, turned, values, header, options);
  else
    data.matrix = by_rows<double>(file, turned, values, header, options);
  if (turned)
    data.notes.push_back(
        fmt::format("{}: is stored by columns (CSC), and was turned into rows in memory", file.name()));
  return data;
}

}  // namespace

Data parse_npz(std::string_view bytes, std::string_view name, const TableOptions& options) {
  const NpzFile file(bytes, name);
  if (is_sparse(file, options)) return sparse_data(file, options);
  return with_labels(read_npy_from(file.open(array_of(file, options)), options), options, name);
}

Data read_npz(const std::filesystem::path& path, const TableOptions& options) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_npz({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.name(), options);
}

}  // namespace hearsay::io

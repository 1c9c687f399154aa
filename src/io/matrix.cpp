#include "hearsay/io/matrix.hpp"

#include <fmt/format.h>

#include "hearsay/error.hpp"
#include "hearsay/io/hdf5.hpp"
#include "hearsay/io/npz.hpp"
#include "io/file_kind.hpp"
#include "io/read_from.hpp"
#include "io/table_layout.hpp"

namespace hearsay::io {
namespace {

template <class S>
void split_off_labels(Data& data, const Block<S>& values, Index label) {
  for (Index i = 0; i < values.rows(); ++i) data.labels.push_back(fmt::format("{}", values(i, label)));
  Block<S> rest(values.rows(), values.cols() - 1);
  rest.leftCols(label) = values.leftCols(label);
  rest.rightCols(rest.cols() - label) = values.rightCols(rest.cols() - label);
  data.matrix = std::move(rest);
}

Data data_from(MatrixMarket file, const TableOptions& options, std::string_view name) {
  if (!options.label_column.empty())
    throw InvalidArgument(
        fmt::format("label column '{}': {} is a Matrix Market file, which has none", options.label_column, name));
  Data data;
  data.declared_symmetric = file.declared_symmetric;
  std::visit([&](auto& matrix) { data.matrix = std::move(matrix); }, file.matrix);
  return data;
}

}  // namespace

Data with_labels(FloatOrDouble values, const TableOptions& options, std::string_view name) {
  Data data;
  std::visit(
      [&](auto& block) {
        const Index label = label_by_number(options.label_column, block.cols(), name);
        if (label >= 0)
          split_off_labels(data, block, label);
        else
          data.matrix = std::move(block);
      },
      values);
  return data;
}

Data read_data(const std::filesystem::path& path, const TableOptions& options) {
  InputFile file(path);
  if (options.raw) return with_labels(read_raw_from(file, options), options, file.name());
  const FileKind kind = kind_of(file);
  if (kind != FileKind::hdf5 && kind != FileKind::npz) refuse_dataset(file, options.dataset);
  switch (kind) {
    case FileKind::npy:
      return with_labels(read_npy_from(source_of(file), options), options, file.name());
    case FileKind::matrix_market:
      if (const auto names = ten_x_names(path); names && options.label_column.empty())
        return read_ten_x(source_of(file), *names);
      return data_from(read_matrix_market_from(source_of(file)), options, file.name());
    case FileKind::bed:
      refuse_bed(file);
    case FileKind::hdf5:
      return read_hdf5(path, options);
    case FileKind::npz:
      return read_npz(path, options);
    case FileKind::table:
      break;
  }
  Table table = read_table_from(source_of(file), options);
  return {.matrix = std::move(table.values),
          .column_names = std::move(table.column_names),
          .labels = std::move(table.labels),
          .label_name = std::move(table.label_name)};
}

}  // namespace hearsay::io

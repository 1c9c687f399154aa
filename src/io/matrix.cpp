#include "hearsay/io/matrix.hpp"

#include <fmt/format.h>

#include "hearsay/error.hpp"
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

Data data_from(FloatOrDouble values, const TableOptions& options, std::string_view name) {
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

Data read_data(const std::filesystem::path& path, const TableOptions& options) {
  InputFile file(path);
  switch (kind_of(file)) {
    case FileKind::npy:
      return data_from(read_npy_from(source_of(file), options), options, file.name());
    case FileKind::matrix_market:
      return data_from(read_matrix_market_from(source_of(file)), options, file.name());
    case FileKind::bed:
      refuse_bed(file);
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

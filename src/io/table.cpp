#include "hearsay/io/table.hpp"

#include <fmt/format.h>

#include "io/read_from.hpp"
#include "io/table_reader.hpp"

namespace hearsay::io {

Table read_table_from(ByteSource source, const TableOptions& options) {
  const std::string name = source.name;
  TableReader reader(std::move(source), options);
  const Index cols = reader.layout().cols();
  const bool labelled = reader.layout().label_field >= 0;

  // Rows are added by realloc, which for a large block moves page tables and not numbers; so there is never a second
  // copy.
  Table table;
  Index rows = 0;
  std::string label;
  for (table.values.resize(1 + 4096 / cols, cols); reader.next(table.values.row(rows).data(), &label); ++rows) {
    if (labelled) table.labels.push_back(label);
    if (rows + 1 < table.values.rows()) continue;
    require_memory(static_cast<std::uint64_t>((rows / 2 + 2) * cols), sizeof(double), name);  // beside those in use
    table.values.conservativeResize(rows + rows / 2 + 2, Eigen::NoChange);
    expect_to_fill(table.values.data(), static_cast<std::size_t>(table.values.size()) * sizeof(double));
  }
  table.values.conservativeResize(rows, Eigen::NoChange);
  table.column_names = reader.layout().column_names;
  table.label_name = reader.layout().label_name;
  return table;
}

Table read_table(const std::filesystem::path& path, const TableOptions& options) {
  InputFile file(path);
  return read_table_from(source_of(file), options);
}

Table parse_table(std::string_view text, std::string_view name, const TableOptions& options) {
  return read_table_from(source_of(text, name), options);
}

}  // namespace hearsay::io

#include <fmt/format.h>

#include <iterator>

#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/table.hpp"
#include "io/text.hpp"

namespace hearsay::io {
namespace {

// Quoted where it must be: also when it looks like a number, for only its quotes then tell it is a name.
std::string header_cell(const std::string& name) {
  if (name.find_first_of("\r\n") != std::string::npos)
    throw InvalidArgument(fmt::format("column name {}: must not hold the end of a line", shown(name)));
  double number = 0;
  const bool plain = !name.empty() && trimmed(name) == name && !to_number(name, number) &&
                     name.find_first_of(",;\t \"") == std::string::npos;
  if (plain) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace

void write_table_csv(const std::filesystem::path& path, const ConstBlockView<double>& values,
                     const std::vector<std::string>& column_names) {
  write_table_csv(path, values, column_names, {});
}

void write_table_csv(const std::filesystem::path& path, const ConstBlockView<double>& values,
                     const std::vector<std::string>& column_names, const std::vector<RowNames>& row_names) {
  const auto names = static_cast<Index>(column_names.size());
  if ((names != 0 || !row_names.empty()) && names != values.cols())
    throw InvalidArgument(fmt::format("{} column names for {} columns", names, values.cols()));
  for (const RowNames& column : row_names)
    if (static_cast<Index>(column.names.size()) != values.rows())
      throw InvalidArgument(fmt::format("{} row names for {} rows", column.names.size(), values.rows()));
  constexpr std::size_t chunk = 1 << 20;
  AtomicFile file(path);
  fmt::memory_buffer buffer;
  const auto out = std::back_inserter(buffer);
  for (const RowNames& column : row_names) fmt::format_to(out, "{},", header_cell(column.title));
  for (Index j = 0; j < names; ++j)
    fmt::format_to(out, "{}{}", header_cell(column_names[static_cast<std::size_t>(j)]), j + 1 < names ? ',' : '\n');
  for (Index i = 0; i < values.rows(); ++i) {
    for (const RowNames& column : row_names)
      fmt::format_to(out, "{},", header_cell(column.names[static_cast<std::size_t>(i)]));
    for (Index j = 0; j < values.cols(); ++j)
      fmt::format_to(out, "{}{}", values(i, j), j + 1 < values.cols() ? ',' : '\n');
    if (buffer.size() < chunk) continue;
    file.write({buffer.data(), buffer.size()});
    buffer.clear();
  }
  file.write({buffer.data(), buffer.size()});
  file.commit();
}

}  // namespace hearsay::io

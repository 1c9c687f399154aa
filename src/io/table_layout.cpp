#include "io/table_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "hearsay/error.hpp"
#include "io/cells.hpp"

namespace hearsay::io {
namespace {

// False when a quote is broken, which ends the cutting there.
bool cut(std::string_view line, char delimiter, std::vector<Cell>& cells) {
  CellCursor cursor(line, delimiter);
  do {
    Cell cell;
    const bool whole = cursor.take(cell);
    cells.push_back(cell);
    if (!whole) return false;
  } while (cursor.advance());
  return true;
}

std::vector<Cell> cells_of(std::string_view line, char delimiter) {
  std::vector<Cell> cells;
  cut(line, delimiter, cells);
  return cells;
}

bool is_number(const Cell& cell) {
  double value = 0;
  return to_number(trimmed(cell.text), value);
}

// The one that cuts both lines into equally many cells and finds the most numbers; if none does, an error is to come,
// and the first that cuts at all will do.
char find_delimiter(std::string_view first, std::string_view second) {
  char best = 0, any = 0;
  std::ptrdiff_t most_numbers = -1;
  for (const char candidate : {'\t', ';', ',', ' '}) {
    const std::vector<Cell> cells = cells_of(first, candidate);
    if (cells.size() == 1) continue;
    const bool perhaps_a_name = candidate == ' ' && std::none_of(cells.begin(), cells.end(), is_number);
    if (any == 0 && !perhaps_a_name) any = candidate;
    const std::vector<Cell> below = second.empty() ? cells : cells_of(second, candidate);
    if (below.size() != cells.size()) continue;
    const std::ptrdiff_t numbers = std::count_if(below.begin(), below.end(), is_number);
    if (numbers <= most_numbers) continue;
    most_numbers = numbers;
    best = candidate;
  }
  return best != 0 ? best : any != 0 ? any : ',';
}

bool looks_like_header(const std::vector<Cell>& first, const std::vector<Cell>& second, Index label_field) {
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (static_cast<Index>(i) == label_field) continue;
    const bool quoted_alone = first[i].quoted && i < second.size() && !second[i].quoted;
    if (is_number(first[i]) && !quoted_alone) return false;
  }
  return true;
}

// A row of which every cell is missing is no header: it would be lost in silence.
bool holds_nothing(const std::vector<Cell>& cells, Index label_field) {
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (static_cast<Index>(i) != label_field && !is_missing(cells[i])) return false;
  return true;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

[[noreturn]] void fail_unknown_label(const std::string& label, const std::vector<std::string>& names,
                                     std::string_view file) {
  constexpr std::size_t most_listed = 20;
  const auto closest = std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return edit_distance(a, label) < edit_distance(b, label);
  });
  const bool close = edit_distance(*closest, label) <= 1 + label.size() / 3;
  const std::size_t listed = std::min(names.size(), most_listed);
  throw InvalidArgument(fmt::format("label column '{}': {} has no column of that name{}; its columns are {}{}", label,
                                    file, close ? fmt::format(" (did you mean '{}'?)", *closest) : "",
                                    fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(listed), ", "),
                                    names.size() > listed ? ", ..." : ""));
}

void require_other_columns(Index fields, std::string_view file) {
  if (fields == 1) throw DataError(fmt::format("{}: has a label column and no other", file));
}

Index label_by_name(const std::string& label, const std::vector<std::string>& names, std::string_view file) {
  const auto found = std::find(names.begin(), names.end(), label);
  if (found == names.end()) fail_unknown_label(label, names, file);
  if (std::find(found + 1, names.end(), label) != names.end())
    throw InvalidArgument(fmt::format("label column '{}': {} has more than one column of that name", label, file));
  require_other_columns(static_cast<Index>(names.size()), file);
  return found - names.begin();
}

bool label_is_a_name(const std::string& label_column) {
  std::int64_t number = 0;
  return !label_column.empty() && label_column != "last" && !to_integer(label_column, number);
}

void check_delimiter(char delimiter) {
  constexpr std::string_view parts_of_numbers = "0123456789+-.\"\r\n";
  const bool letter = (delimiter >= 'a' && delimiter <= 'z') || (delimiter >= 'A' && delimiter <= 'Z');
  if (letter || parts_of_numbers.find(delimiter) != std::string_view::npos)
    throw InvalidArgument(
        fmt::format("delimiter = {}: must not be part of a number or a quote", shown({&delimiter, 1})));
}

}  // namespace

Index label_by_number(const std::string& label_column, Index fields, std::string_view name) {
  if (label_column.empty()) return -1;
  std::int64_t number = label_column == "last" ? fields : 0;
  if (label_is_a_name(label_column))
    throw InvalidArgument(
        fmt::format("label column '{}': {} has no names; its columns are 1 to {}", label_column, name, fields));
  if (number == 0 && (!to_integer(label_column, number) || number < 1 || number > fields))
    throw InvalidArgument(fmt::format("label column {}: {} has columns 1 to {}", label_column, name, fields));
  require_other_columns(fields, name);
  return number - 1;
}

TableLayout detect_layout(const TextLine& first, std::string_view second, std::string_view name,
                          const TableOptions& options) {
  TableLayout layout;
  if (options.delimiter != 0) check_delimiter(options.delimiter);
  layout.delimiter = options.delimiter != 0 ? options.delimiter : find_delimiter(first.text, second);
  std::vector<Cell> cells;
  const bool whole = cut(first.text, layout.delimiter, cells);
  if (!whole) fail_at(name, first.number, static_cast<Index>(cells.size()), broken_quotes);
  layout.fields = static_cast<Index>(cells.size());
  if (layout.fields > most_columns())
    fail_at(name, first.number, 0,
            fmt::format("the row has {} columns, and the limit is {}, one for 4 kB of the memory that may be used "
                        "(`memory`)",
                        layout.fields, most_columns()));

  const bool by_name = label_is_a_name(options.label_column);
  if (!by_name) layout.label_field = label_by_number(options.label_column, layout.fields, name);
  layout.has_header = looks_like_header(cells, cells_of(second, layout.delimiter), layout.label_field) &&
                      !(options.missing && holds_nothing(cells, layout.label_field));
  if (by_name && std::all_of(cells.begin(), cells.end(), is_number) && !layout.has_header)
    label_by_number(options.label_column, layout.fields, name);  // throws: there are no names
  layout.has_header = layout.has_header || by_name;

  if (layout.has_header) {
    for (const Cell& cell : cells) layout.column_names.push_back(unescaped(cell));
    if (by_name) layout.label_field = label_by_name(options.label_column, layout.column_names, name);
    if (layout.label_field >= 0) {
      const auto label = layout.column_names.begin() + layout.label_field;
      layout.label_name = std::move(*label);
      layout.column_names.erase(label);
    }
  }
  return layout;
}

}  // namespace hearsay::io

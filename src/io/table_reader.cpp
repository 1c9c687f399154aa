#include "io/table_reader.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "hearsay/error.hpp"

namespace hearsay::io {

TableReader::TableReader(ByteSource source, const TableOptions& options)
    : lines_(std::move(source)), missing_(options.missing), missing_hint_(options.missing_hint) {
  read_opening();
  if (opening_.empty()) throw DataError(fmt::format("{}: holds no numbers", lines_.name()));
  layout_ = detect_layout(opening_[0], opening_.size() > 1 ? opening_[1].text : "", lines_.name(), options);
  if (layout_.has_header && opening_.size() < 2)
    throw DataError(fmt::format("{}: holds a header and no rows", lines_.name()));
  opening_read_ = layout_.has_header ? 1 : 0;
}

void TableReader::restart() {
  lines_.restart();
  read_opening();
  opening_read_ = layout_.has_header ? 1 : 0;
}

void TableReader::read_opening() {
  opening_.clear();
  std::string_view line;
  while (opening_.size() < 2 && lines_.next_filled(line))
    opening_.push_back({.text = std::string(line), .number = lines_.number()});
}

bool TableReader::next(double* row, std::string* label) {
  if (opening_read_ < opening_.size()) {
    const TextLine& line = opening_[opening_read_++];
    parse(line.text, line.number, row, label);
    return true;
  }
  std::string_view line;
  if (!lines_.next_filled(line)) return false;
  parse(line, lines_.number(), row, label);
  return true;
}

void TableReader::parse(std::string_view line, Index number, double* row, std::string* label) const {
  CellCursor cursor(line, layout_.delimiter);
  Index field = 0;
  do {
    if (field == layout_.fields)
      fail_at(lines_.name(), number, field + 1,
              fmt::format("the row has more than the {} columns of line {}", layout_.fields, opening_.front().number));
    if (field == layout_.label_field) {
      Cell cell;
      if (!cursor.take(cell)) fail_at(lines_.name(), number, field + 1, broken_quotes);
      if (cell.text.empty()) fail_at(lines_.name(), number, field + 1, "the label is empty");
      if (label != nullptr) *label = unescaped(cell);
    } else {
      double value = 0;
      if (!cursor.take_number(value)) value = parse_slowly(cursor, number, field);
      if (!std::isfinite(value)) require_number(value, number, field);
      *row++ = value;
    }
    ++field;
  } while (cursor.advance());
  if (field != layout_.fields)
    fail_at(lines_.name(), number, field + 1,
            fmt::format("the row ends here, after {} of the {} columns of line {}", field, layout_.fields,
                        opening_.front().number));
}

void TableReader::require_number(double value, Index line, Index field) const {
  if (std::isnan(value) && missing_) return;
  fail_at(lines_.name(), line, field + 1,
          std::isnan(value) ? "the value is NaN, not a finite number" + missing_hint_
                            : "the value is infinite, or too large for a double");
}

double TableReader::parse_slowly(CellCursor& cursor, Index line, Index field) const {
  Cell cell;
  if (!cursor.take(cell)) fail_at(lines_.name(), line, field + 1, broken_quotes);
  const std::string_view text = trimmed(cell.text);
  const bool nothing = is_missing(cell);
  if (nothing && missing_) return std::numeric_limits<double>::quiet_NaN();
  if (text.empty()) fail_at(lines_.name(), line, field + 1, "the cell is empty" + missing_hint_);
  double value = 0;
  if (to_number(text, value)) return value;
  const bool in_first_line = line == opening_.front().number;
  fail_at(lines_.name(), line, field + 1,
          fmt::format("{} is not a number{}{}", shown(text), nothing ? missing_hint_ : "",
                      in_first_line ? " (and the line is no header, because it holds numbers too)" : ""));
}

}  // namespace hearsay::io

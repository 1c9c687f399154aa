// A table read row by row: what read_table gathers and open_rows hands on.
#pragma once

#include <string>
#include <vector>

#include "io/cells.hpp"
#include "io/table_layout.hpp"

namespace hearsay::io {

class TableReader {
 public:
  TableReader(ByteSource source, const TableOptions& options);

  const TableLayout& layout() const { return layout_; }

  /// Writes layout().cols() numbers, all finite or, where that is allowed, NaN, and the label unless `label` is null.
  /// False at the end.
  bool next(double* row, std::string* label);

  /// To be called when the source has been taken back to its start.
  void restart();

 private:
  void read_opening();
  void parse(std::string_view line, Index number, double* row, std::string* label) const;
  double parse_slowly(CellCursor& cursor, Index line, Index field) const;
  void require_number(double value, Index line, Index field) const;

  LineReader lines_;
  bool missing_;
  std::string missing_hint_;
  TableLayout layout_;
  std::vector<TextLine> opening_;  // the first two lines that are not blank, which the layout was found from
  std::size_t opening_read_ = 0;
};

}  // namespace hearsay::io

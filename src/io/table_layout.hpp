// What the first two lines of a table tell about the rest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hearsay/io/table.hpp"

namespace hearsay::io {

struct TableLayout {
  char delimiter = ',';  ///< ' ' stands for any run of blanks
  bool has_header = false;
  Index fields = 0;                       ///< cells on a line, the label's included
  Index label_field = -1;                 ///< from 0; -1 for none
  std::vector<std::string> column_names;  ///< without the label's
  std::string label_name;

  Index cols() const { return fields - (label_field >= 0 ? 1 : 0); }
};

/// Where a label column given as a number or as `last` lies among `fields`, from 0; -1 for none. Throws
/// InvalidArgument, also if it is given as a name.
Index label_by_number(const std::string& label_column, Index fields, std::string_view name);

struct TextLine {
  std::string text;
  Index number;  ///< in the file, from 1
};

/// `second` is empty when the file has one line only.
TableLayout detect_layout(const TextLine& first, std::string_view second, std::string_view name,
                          const TableOptions& options);

}  // namespace hearsay::io

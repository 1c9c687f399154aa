// A line of a table, cut into cells.
#pragma once

#include <string>
#include <string_view>

#include "io/text.hpp"

namespace hearsay::io {

struct Cell {
  std::string_view text;  ///< without the blanks around it; without its quotes, but doubled quotes still doubled
  bool quoted = false;
};

inline constexpr std::string_view broken_quotes = "the quotes do not close around this cell";

/// Whether a cell holds one of the words for nothing, or nothing.
bool is_missing(const Cell& cell);

/// The text with doubled quotes made single.
std::string unescaped(const Cell& cell);

/// Stands at the start of a cell, blanks skipped. Take the cell, then advance.
class CellCursor {
 public:
  CellCursor(std::string_view line, char delimiter)
      : at_(line.data()), end_(line.data() + line.size()), delimiter_(delimiter) {
    skip_blanks();
  }

  /// The fast way through a cell that is a plain number; false, and nothing taken, if it is anything else.
  bool take_number(double& value) {
    const char* const stop = scan_number(at_, end_, value);
    if (stop == nullptr || !ends_a_cell(stop)) return false;
    at_ = stop;
    return true;
  }

  /// Any cell. False for a quote that does not close, or that other text follows.
  bool take(Cell& cell);

  /// To the next cell; false at the end of the line.
  bool advance() {
    skip_blanks();
    if (at_ == end_) return false;
    if (delimiter_ == ' ') return true;
    ++at_;
    skip_blanks();
    return true;
  }

 private:
  bool separates(char c) const { return c == delimiter_ || (delimiter_ == ' ' && c == '\t'); }

  const char* past_blanks(const char* p) const {
    while (p != end_ && (*p == ' ' || (*p == '\t' && delimiter_ != '\t'))) ++p;
    return p;
  }
  void skip_blanks() { at_ = past_blanks(at_); }

  bool ends_a_cell(const char* p) const {
    if (p == end_ || separates(*p)) return true;
    p = past_blanks(p);
    return p == end_ || separates(*p);
  }

  const char* at_;
  const char* end_;
  char delimiter_;  // ' ' stands for any run of blanks
};

}  // namespace hearsay::io

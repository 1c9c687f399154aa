#include "io/cells.hpp"

#include <algorithm>
#include <iterator>

namespace hearsay::io {

bool is_missing(const Cell& cell) {
  constexpr std::string_view words[] = {"", "na", "n/a", "nan", "null", "none", "#n/a", "?", "."};
  std::string text(trimmed(cell.text));
  constexpr std::size_t longest = 4;
  if (text.size() > longest) return false;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

std::string unescaped(const Cell& cell) {
  std::string text(cell.text);
  if (!cell.quoted) return text;
  for (std::size_t at = text.find("\"\""); at != std::string::npos; at = text.find("\"\"", at + 1)) text.erase(at, 1);
  return text;
}

bool CellCursor::take(Cell& cell) {
  cell.quoted = at_ != end_ && *at_ == '"';
  if (!cell.quoted) {
    const char* const stop = std::find_if(at_, end_, [this](char c) { return separates(c); });
    cell.text = trimmed({at_, static_cast<std::size_t>(stop - at_)});
    at_ = stop;
    return true;
  }
  const char* const open = at_ + 1;
  const char* close = std::find(open, end_, '"');
  while (close != end_ && close + 1 != end_ && close[1] == '"') close = std::find(close + 2, end_, '"');
  cell.text = {open, static_cast<std::size_t>(close - open)};
  at_ = close == end_ ? end_ : close + 1;
  return close != end_ && ends_a_cell(at_);
}

}  // namespace hearsay::io

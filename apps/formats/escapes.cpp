#include "formats/escapes.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>

namespace hearsay::app {

namespace {

struct Letter {
  std::size_t bytes = 1;
  bool valid = false;
  std::uint32_t code = 0;
};

// The first character of a text that is meant to be UTF-8.
Letter first_letter(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, true, lead};
  const std::size_t bytes = lead >= 0xF0 && lead < 0xF5   ? 4
                            : lead >= 0xE0 && lead < 0xF0 ? 3
                            : lead >= 0xC2 && lead < 0xE0 ? 2
                                                          : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return {};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return overlong || surrogate || code > 0x10FFFF ? Letter{} : Letter{bytes, true, code};
}

bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

// What ends a line, or turns the direction of writing, without being seen.
bool is_hidden_mark(std::uint32_t code) {
  return (code >= 0x200E && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string terminal_safe(std::string_view text, bool lines) {
  std::string safe;
  while (!text.empty()) {
    const Letter letter = first_letter(text);
    if (!letter.valid || letter.code < 0x80) {
      const char c = text.front();
      if (letter.valid && (!is_control(letter.code) || (lines && c == '\n')))
        safe += c;
      else
        safe += c == '\n' ? "\\n" : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else if (is_control(letter.code) || is_hidden_mark(letter.code)) {
      safe += fmt::format("\\u{:04x}", letter.code);
    } else {
      safe += text.substr(0, letter.bytes);
    }
    text.remove_prefix(letter.bytes);
  }
  return safe;
}

std::string html_safe(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const Letter letter = first_letter(text);
    const bool blank = letter.code == '\n' || letter.code == '\t';
    if (!letter.valid || (is_control(letter.code) && !blank) || letter.code == 0xFFFE || letter.code == 0xFFFF)
      safe += "\xEF\xBF\xBD";
    else if (letter.code == '&')
      safe += "&amp;";
    else if (letter.code == '<')
      safe += "&lt;";
    else if (letter.code == '>')
      safe += "&gt;";
    else if (letter.code == '"')
      safe += "&quot;";
    else if (letter.code == '\'')
      safe += "&#39;";
    else
      safe += text.substr(0, letter.bytes);
    text.remove_prefix(letter.bytes);
  }
  return safe;
}

std::string html_id(std::string_view name) {
  std::string id;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && (std::isalnum(byte) != 0 || c == '_' || c == '-'))
      id += c;
    else
      id += fmt::format("_{:02x}", byte);
  }
  return id;
}

std::string csv_cell(std::string_view text) {
  std::string cell;
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) cell = "'";
  cell += text;
  if (cell.find_first_of(",\"\n\r") == cell.npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace hearsay::app

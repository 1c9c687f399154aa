// Names and texts of others (files, headers, panels, data sets) made harmless for where they are shown.
#pragma once

#include <string>
#include <string_view>

namespace hearsay::app {

/// For a terminal: control characters, marks that turn the direction of writing, and bytes that are no UTF-8 are spelt
/// out (\x1b, \u202e). One line, unless `lines` keeps the ends of lines.
std::string terminal_safe(std::string_view text, bool lines = false);

/// For HTML and SVG, text and attributes alike; what neither may hold becomes U+FFFD.
std::string html_safe(std::string_view text);

/// The same name as an id: letters, digits, _ and - stay, any other byte becomes _ and two digits.
std::string html_id(std::string_view name);

/// A cell of text in a CSV: quoted where it must be, and never a formula to a spreadsheet: one that begins with = + - @
/// gets a ' in front.
std::string csv_cell(std::string_view text);

}  // namespace hearsay::app

// Texts around the command line itself: help that fits the window, usage errors that help.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace hearsay::app {

/// Breaks a text into lines of at most `width` characters, at blanks.
std::string wrapped(std::string_view text, std::size_t width);

/// One layout for the help of every command.
void style_help(CLI::App& root);

/// What is wrong with the command line, what was probably meant, and where to read on.
std::string usage_message(const CLI::App& root, const CLI::ParseError& error);

}  // namespace hearsay::app

#include "commands/help.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>

#include "hearsay/options.hpp"

namespace hearsay::app {

namespace {

// The names a misspelt argument may have meant: options where it begins with a dash, else commands.
std::vector<std::string> known_names(const CLI::App& app, bool options) {
  std::vector<std::string> names;
  if (!options)
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (options)
    for (const CLI::Option* option : app.get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

const CLI::App& chosen_command(const CLI::App& root) {
  const CLI::App* app = &root;
  for (auto chosen = app->get_subcommands(); !chosen.empty(); chosen = app->get_subcommands()) app = chosen.front();
  return *app;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

// The argument nobody expected; an option says more than the value that followed it.
std::string first_extra(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  const auto option = std::find_if(words.begin(), words.end(),
                                   [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); });
  return option != words.end() ? *option : words.empty() ? std::string() : words.front();
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width) {
  std::string lines;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(' '), text.size());
    if (column > 0 && column + 1 + length > width)
      lines += '\n', column = 0;
    else if (column > 0)
      lines += ' ', ++column;
    lines += text.substr(0, length);
    column += length;
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return lines;
}

void style_help(CLI::App& root) { root.get_formatter()->column_width(32); }

std::string usage_message(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = chosen_command(root);
  const bool at_root = app.get_parent() == nullptr;
  const std::string hint = fmt::format("; see {} --help", full_name(app));
  const std::string extra = first_extra(root);
  const std::string_view problem = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return fmt::format("{}: needs a value{}", problem.substr(0, problem.find(':')), hint);
  if (extra.empty()) return fmt::format("{}{}{}{}", at_root ? "" : app.get_name(), at_root ? "" : ": ", problem, hint);
  const bool option = extra.starts_with('-');
  const std::string word = option ? extra.substr(0, extra.find('=')) : extra;
  const auto names = known_names(app, option);
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string what = option    ? fmt::format("is not an option{}", at_root ? "" : " of " + app.get_name())
                              : at_root ? "is not a command"
                                     : "was not expected";
  return fmt::format("{}: {}{}{}", word, what, did_you_mean(word, candidates), hint);
}

}  // namespace hearsay::app

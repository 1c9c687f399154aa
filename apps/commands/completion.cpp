// hearsay completion: a script for the shell, made from the command line's own tree, so that it cannot fall behind.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands/commands.hpp"
#include "hearsay/error.hpp"
#include "hearsay/options.hpp"

namespace hearsay::app {

namespace {

struct Choice {
  std::vector<std::string> names = {};  // with their dashes
  bool takes_value = false;
  std::vector<std::string> values = {};  // the words it knows; empty: a file, a number, a text
  std::string help = {};
};

struct Node {
  std::vector<std::string> path = {};  // below the program itself
  std::string help = {};
  std::vector<std::string> commands = {};
  std::vector<Choice> options = {};
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// "auto|paper|VALUE" gives auto and paper; "gaussian:SIGMA" gives "gaussian:".
std::vector<std::string> words_of(std::string_view range) {
  std::vector<std::string> words;
  while (!range.empty()) {
    const std::size_t end = std::min(range.find('|'), range.size());
    const std::size_t place = std::min(range.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), end);
    if (place > 0) words.emplace_back(range.substr(0, place));
    range.remove_prefix(std::min(end + 1, range.size()));
  }
  return words;
}

Choice choice_of(const CLI::Option& option) {
  Choice choice{.takes_value = option.get_items_expected_max() > 0, .help = first_line(option.get_description())};
  for (const std::string& name : option.get_snames()) choice.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) {
    choice.names.push_back("--" + name);
    for (const OptionRecord& record : option_table())
      if (record.name == name && record.kind == OptionKind::choice) choice.values = words_of(record.range);
  }
  return choice;
}

void collect(const CLI::App& app, std::vector<std::string> path, std::vector<Node>& nodes) {
  Node node{.path = path, .help = app.get_description()};
  for (const CLI::Option* option : app.get_options())
    if (option->nonpositional() && !option->get_group().empty()) node.options.push_back(choice_of(*option));
  const auto commands = app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
  for (const CLI::App* command : commands) node.commands.push_back(command->get_name());
  nodes.push_back(std::move(node));
  for (const CLI::App* command : commands) {
    auto below = path;
    below.push_back(command->get_name());
    collect(*command, std::move(below), nodes);
  }
}

std::string all_names(const Node& node) {
  std::vector<std::string> words = node.commands;
  for (const Choice& option : node.options) words.insert(words.end(), option.names.begin(), option.names.end());
  return fmt::format("{}", fmt::join(words, " "));
}

std::string bash(const std::vector<Node>& nodes) {
  std::string cases, values;
  for (const Node& node : nodes) {
    cases += fmt::format("    '{}') words='{}' ;;\n", fmt::join(node.path, " "), all_names(node));
    for (const Choice& option : node.options)
      if (!option.values.empty())
        values += fmt::format("    '{} {}') words='{}' ;;\n", fmt::join(node.path, " "), option.names.back(),
                              fmt::join(option.values, " "));
  }
  return fmt::format(
      R"(# hearsay completion for bash; load it with: source <(hearsay completion bash)
_hearsay() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} path= words= word
  for word in "${{COMP_WORDS[@]:1:2}}"; do
    case $word in -*|"$current") break ;; esac
    case "$path $word" in {}) path="${{path:+$path }}$word" ;; esac
  done
  case "$path" in
{}  esac
  case "$path $previous" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _hearsay hearsay
)",
      [&nodes] {
        std::vector<std::string> paths;
        for (const Node& node : nodes)
          if (!node.path.empty())
            paths.push_back(fmt::format("'{}{}'", node.path.size() == 1 ? " " : "", fmt::join(node.path, " ")));
        return fmt::format("{}", fmt::join(paths, "|"));
      }(),
      cases, values);
}

// Help as the text of a single-quoted zsh specification.
std::string zsh_text(std::string text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'') safe += "'\\'";
    if (c == '[' || c == ']' || c == ':') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string zsh(const std::vector<Node>& nodes) {
  std::string cases;
  for (const Node& node : nodes) {
    if (node.path.empty()) continue;
    std::string arguments;
    for (const Choice& option : node.options)
      for (const std::string& name : option.names)
        arguments += fmt::format(" \\\n        '{}[{}]{}'", name, zsh_text(option.help),
                                 !option.takes_value     ? ""
                                 : option.values.empty() ? ":value:_files"
                                                         : fmt::format(":value:({})", fmt::join(option.values, " ")));
    cases +=
        fmt::format("    '{}')\n      _arguments{} \\\n        '*:argument:{}' ;;\n", fmt::join(node.path, " "),
                    arguments, node.commands.empty() ? "_files" : fmt::format("({})", fmt::join(node.commands, " ")));
  }
  std::string commands;
  for (const Node& node : nodes)
    if (node.path.size() == 1) commands += fmt::format(" '{}:{}'", node.path[0], zsh_text(node.help));
  return fmt::format(R"(#compdef hearsay
# hearsay completion for zsh; put it on your $fpath as _hearsay
_hearsay() {{
  if (( CURRENT == 2 )); then
    local -a commands=({})
    _describe command commands
    return
  fi
  local where=$words[2]
  [[ $where == (agent|datasets|federation|ledger) && CURRENT -gt 3 ]] && where="$where $words[3]"
  case $where in
{}  esac
}}
compdef _hearsay hearsay
)",
                     commands, cases);
}

std::string quoted(std::string text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'' || c == '\\') safe += '\\';
    safe += c;
  }
  return "'" + safe + "'";
}

std::string fish(const std::vector<Node>& nodes) {
  std::string script = "# hearsay completion for fish; load it with: hearsay completion fish | source\n";
  for (const Node& node : nodes) {
    std::string condition = node.path.empty() ? "__fish_use_subcommand" : "";
    for (const std::string& word : node.path)
      condition += fmt::format("{}__fish_seen_subcommand_from {}", condition.empty() ? "" : "; and ", word);
    for (const std::string& command : node.commands)
      script += fmt::format("complete -c hearsay -n {} -a {}\n", quoted(condition), command);
    for (const Choice& option : node.options) {
      std::string names;
      for (const std::string& name : option.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      script += fmt::format("complete -c hearsay -n {}{}{} -d {}\n", quoted(condition), names,
                            !option.takes_value     ? ""
                            : option.values.empty() ? " -r"
                                                    : fmt::format(" -x -a '{}'", fmt::join(option.values, " ")),
                            quoted(option.help));
    }
  }
  return script;
}

}  // namespace

void add_completion(CLI::App& root, Action& action) {
  CLI::App* app = root.add_subcommand("completion", "A completion script for the shell");
  auto shell = std::make_shared<std::string>();
  app->add_option("SHELL", *shell, "bash, zsh or fish")->type_name("")->required();
  app->footer("Examples:\n  source <(hearsay completion bash)\n  hearsay completion fish | source");
  app->callback([&root, shell, &action] {
    action = [&root, shell] {
      constexpr std::string_view shells[] = {"bash", "zsh", "fish"};
      std::vector<Node> nodes;
      collect(root, {}, nodes);
      require(std::find(std::begin(shells), std::end(shells), *shell) != std::end(shells),
              fmt::format("shell = {}: must be bash, zsh or fish{}", *shell, did_you_mean(*shell, shells)));
      fmt::print("{}", *shell == "bash" ? bash(nodes) : *shell == "zsh" ? zsh(nodes) : fish(nodes));
      return done;
    };
  });
}

}  // namespace hearsay::app

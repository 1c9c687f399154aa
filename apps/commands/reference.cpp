// hearsay reference (hidden): the option table as the page docs/reference/options.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands/commands.hpp"
#include "hearsay/options.hpp"

namespace hearsay::app {

namespace {

constexpr std::pair<Commands, std::string_view> commands[] = {{in_pca, "pca"},
                                                              {in_eigs, "eigs"},
                                                              {in_svd, "svd"},
                                                              {in_cluster, "cluster"},
                                                              {in_decentralized, "decentralized"},
                                                              {in_plan, "plan"},
                                                              {in_project, "project"},
                                                              {in_experiments, "reproduce, experiment"}};

std::string commands_of(const OptionRecord& record) {
  std::string names;
  for (const auto& [bit, name] : commands)
    if (record.commands & bit) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  return names;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string spelling_in_table(const OptionRecord& record) {
  std::string text;
  if (record.aliases.starts_with("-")) text = fmt::format("`{}`, ", record.aliases);
  text += fmt::format("`--{}{}{}`", record.name, record.metavar.empty() ? "" : " ", escaped(record.metavar));
  if (record.kind == OptionKind::flag && record.default_text == "true") text += fmt::format(", `--no-{}`", record.name);
  return text;
}

std::string page() {
  std::string text =
      "# Options of the command line\n"
      "\n"
      "Written by `hearsay reference` from the option table; edit `src/options/option_table.cpp` instead of this "
      "page.\n"
      "`docs/reference/json.md` describes results and exit codes.\n";
  OptionGroup groups[] = {OptionGroup::solver,     OptionGroup::network, OptionGroup::faults, OptionGroup::noise,
                          OptionGroup::input,      OptionGroup::privacy, OptionGroup::theory, OptionGroup::clustering,
                          OptionGroup::checkpoint, OptionGroup::output,  OptionGroup::running};
  for (const OptionGroup group : groups) {
    text += fmt::format("\n## {}\n\n| option | meaning | values | default | commands |\n|---|---|---|---|---|\n",
                        title(group));
    for (const OptionRecord& record : option_table())
      if (record.group == group)
        text += fmt::format(
            "| {} | {} | {} | {} | {} |\n", spelling_in_table(record), escaped(record.help), escaped(record.range),
            record.default_text.empty() ? "" : fmt::format("`{}`", record.default_text), commands_of(record));
  }
  return text;
}

}  // namespace

void add_reference(CLI::App& root, Action& action) {
  CLI::App* app = root.add_subcommand("reference", "Print the reference page of the options")->group("");
  app->callback([&action] {
    action = [] {
      fmt::print("{}", page());
      return done;
    };
  });
}

}  // namespace hearsay::app

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <string_view>

#include "commands/commands.hpp"
#include "commands/help.hpp"
#include "commands/terminal.hpp"
#include "hearsay/error.hpp"
#include "hearsay/link_network.hpp"
#include "hearsay/version.hpp"

namespace hearsay::app {
namespace {

// What is asked for: a text, such as --help, or a command.
struct CommandLine {
  std::string what;
  std::optional<CLI::Success> text;
};

// Every rank must understand its command line, and all must be asked for the same.
CommandLine understood(CLI::App& root, int argc, char** argv, const Ranks& ranks) {
  CommandLine request;
  ranks.transport.everywhere([&] {
    try {
      root.parse(argc, argv);
    } catch (const CLI::Success& text) {  // --help, --version
      request = {.what = text.get_name(), .text = text};
    } catch (const CLI::ParseError& error) {
      throw InvalidArgument(usage_message(root, error));
    }
  });
  for (const CLI::App* command : root.get_subcommands()) request.what += fmt::format(" {}", command->get_name());
  const Fact facts[] = {{"the version", version}, {"the command", request.what}};
  ranks.transport.require_alike(facts);
  return request;
}

int parse_and_run(int argc, char** argv, const Ranks& ranks, OpenLinks open) {
  CLI::App root("Principal subspaces of data and matrices, from products that may be inexact.", "hearsay");
  root.set_version_flag("--version", version);
  root.require_subcommand(1);
  root.footer(
      "Examples:\n"
      "  hearsay pca measurements.csv -k 5 --components basis.npy\n"
      "  hearsay eigs laplacian.mtx -k 10 --json -\n"
      "  hearsay svd text.mtx.gz -k 100 --left documents.npy --right words.npy\n"
      "  hearsay decentralized digits -k 9 --agents 10\n"
      "  hearsay pca --help\n"
      "\n"
      "Exit codes: 0 done, 2 bad input or usage, 3 stopped before the tolerance (the result is still written),\n"
      "4 communication failed, 1 anything else.");

  Action action;
  add_pca(root, action, ranks);
  add_project(root, action);
  add_eigs(root, action);
  add_svd(root, action);
  add_cluster(root, action);
  add_decentralized(root, action, ranks);
  add_federation(root, action);
  add_agent(root, action, open);
  for (const auto add : {add_plan, add_reproduce, add_experiment, add_ledger, add_verify, add_datasets, add_demo,
                         add_info, add_completion, add_reference})
    add(root, action);
  style_help(root);
  const CommandLine request = understood(root, argc, argv, ranks);
  if (request.text) return ranks.transport.rank() == 0 ? root.exit(*request.text) : done;
  return action();
}

int complain(std::string_view message, ExitCode code) {
  warn(message);
  return code;
}

// What was wrong with the words or the data is the user's to mend; a disk that fails is not.
ExitCode code_of(const Error& error) {
  if (dynamic_cast<const LeftOut*>(&error) != nullptr) return left_out;
  if (dynamic_cast<const CommunicationError*>(&error) != nullptr) return communication_failed;
  const bool mendable =
      dynamic_cast<const InvalidArgument*>(&error) != nullptr || dynamic_cast<const DataError*>(&error) != nullptr;
  return mendable ? bad_input : failed;
}

}  // namespace

std::string joined(int argc, char** argv) {
  std::string line = "hearsay";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool quoted = word.empty() || word.find_first_of(" \t'\"{}()*?&;|<>$") != std::string_view::npos;
    line += quoted ? fmt::format(" '{}'", word) : fmt::format(" {}", word);
  }
  return line;
}

int run_command_line(int argc, char** argv, const Ranks& ranks, OpenLinks open) try {
  const int code = parse_and_run(argc, argv, ranks, open);
  if (std::fflush(stdout) == 0 || code == failed) return code;
  return complain("standard output: cannot be written to", failed);
} catch (const LinkError& error) {  // nobody else need know of it
  complain(fmt::format("rank {}: {}", ranks.transport.rank(), error.what()).c_str(), communication_failed);
  throw;
} catch (const Error& error) {
  // Every rank throws these together, and one voice is enough.
  const ExitCode code = code_of(error);
  return ranks.transport.rank() == 0 ? complain(error.what(), code) : code;
} catch (const std::bad_alloc&) {
  return complain("memory: there is not enough of it for this problem", failed);
} catch (const std::exception& error) {
  return complain(error.what(), failed);
}

}  // namespace hearsay::app

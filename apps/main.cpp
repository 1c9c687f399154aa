// hearsay, the command line: a thin door onto the library.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>

#include "commands.hpp"
#include "hearsay/error.hpp"
#include "hearsay/version.hpp"
#include "help.hpp"

namespace {

using namespace hearsay;
using namespace hearsay::app;

int run(int argc, char** argv) {
  CLI::App root("Principal subspaces of data and matrices, from products that may be inexact.", "hearsay");
  root.set_version_flag("--version", version);
  root.require_subcommand(1);
  root.footer(
      "Examples:\n"
      "  hearsay pca measurements.csv -k 5 --components basis.npy\n"
      "  hearsay eigs laplacian.mtx -k 10 --json -\n"
      "  hearsay pca --help\n"
      "\n"
      "Exit codes: 0 done, 2 bad input or usage, 3 stopped before the tolerance (the result is still written),\n"
      "4 communication failed, 1 anything else.");

  Action action;
  for (const auto add : {add_pca, add_eigs, add_cluster, add_decentralized, add_plan, add_datasets, add_demo, add_info,
                         add_completion, add_reference})
    add(root, action);
  style_help(root);
  try {
    root.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    return root.exit(request);
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(usage_message(root, error));
  }
  return action();
}

int complain(const char* message, ExitCode code) {
  fmt::print(stderr, "hearsay: {}\n", message);
  return code;
}

}  // namespace

int main(int argc, char** argv) try {
  const int code = run(argc, argv);
  return std::fflush(stdout) == 0 ? code : complain("standard output: cannot be written to", failed);
} catch (const hearsay::CommunicationError& error) {
  return complain(error.what(), communication_failed);
} catch (const hearsay::InvalidArgument& error) {
  return complain(error.what(), bad_input);
} catch (const hearsay::DataError& error) {
  return complain(error.what(), bad_input);
} catch (const std::bad_alloc&) {
  return complain("memory: there is not enough of it for this problem", failed);
} catch (const std::exception& error) {
  return complain(error.what(), failed);
}

// hearsay datasets: where the public data sets lie, and how to get them.
#include "hearsay/io/datasets.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "hearsay/error.hpp"
#include "inputs.hpp"
#include "terminal.hpp"

namespace hearsay::app {

namespace {

namespace fs = std::filesystem;

int list() {
  const fs::path directory = data_directory();
  fmt::print("In {}:\n\n", directory.string());
  for (const io::Dataset& dataset : io::datasets()) {
    const bool here = io::locate(dataset, directory).missing.empty();
    fmt::print("  {:<18} {:<12} {}\n", dataset.name, here ? "here" : "not fetched", dataset.description);
    fmt::print("  {:<18} {:<12} {}\n", "", "", dataset.homepage);
  }
  return done;
}

int path(const std::string& name) {
  const io::Dataset& dataset = io::find_dataset(name);
  const fs::path directory = data_directory();
  const io::DatasetLocation location = io::locate(dataset, directory);
  for (const fs::path& file : location.missing)
    throw InvalidArgument(fmt::format("{}: {} is missing; get it with: hearsay datasets fetch {}", dataset.name,
                                      file.string(), dataset.name));
  for (const fs::path& file : location.paths) fmt::print("{}\n", file.string());
  return done;
}

std::string download_text(const io::DownloadProgress& now) {
  const double received = static_cast<double>(now.bytes_received) / 1e6;
  if (now.bytes_expected <= 0) return fmt::format("{}  {:.1f} MB", now.url, received);
  const double share = std::min(1.0, static_cast<double>(now.bytes_received) / static_cast<double>(now.bytes_expected));
  constexpr int width = 30;
  const int full = static_cast<int>(share * width);
  return fmt::format("{}  [{:#<{}}{:.<{}}] {:3.0f}% of {:.1f} MB", now.url, "", full, "", width - full, 100 * share,
                     static_cast<double>(now.bytes_expected) / 1e6);
}

int fetch(const std::string& name, const std::string& to, bool quiet) {
  const io::Dataset& dataset = io::find_dataset(name);
  const fs::path directory = to.empty() ? data_directory() : fs::path(to);
  std::vector<fs::path> fetched;
  {
    ProgressLine line(quiet);
    const InterruptGuard interrupt;
    fetched = io::fetch(dataset, directory, [&](const io::DownloadProgress& now) {
      if (line.due()) line.show(download_text(now));
      return !interrupt.interrupted();
    });
  }
  for (const fs::path& file : fetched) fmt::print("fetched {}\n", file.string());
  if (fetched.empty()) fmt::print("{}: already complete in {}\n", dataset.name, directory.string());
  return done;
}

struct Request {
  std::string name, to;
  bool quiet = false;
};

}  // namespace

void add_datasets(CLI::App& root, Action& action) {
  CLI::App* app = root.add_subcommand("datasets", "Public data sets: where they lie, and how to get them");
  app->require_subcommand(1);
  app->footer(
      "They lie in $HEARSAY_DATA, else in the user's cache directory.\n"
      "\n"
      "Examples:\n"
      "  hearsay datasets list\n"
      "  hearsay datasets fetch digits\n"
      "  hearsay pca digits -k 10");
  auto request = std::make_shared<Request>();
  const std::string names = "digits, fed-heart-disease, ego-facebook or amazon0302";

  app->add_subcommand("list", "Every data set, and whether it is here")->callback([&action] { action = list; });

  CLI::App* where = app->add_subcommand("path", "Print the files of a data set");
  where->add_option("NAME", request->name, names)->type_name("")->required();
  where->callback([request, &action] { action = [request] { return path(request->name); }; });

  CLI::App* get = app->add_subcommand("fetch", "Download and verify a data set; complete files are left alone");
  get->add_option("NAME", request->name, names)->type_name("")->required();
  get->add_option("--to", request->to, "Put it here instead of the data directory")->type_name("DIR");
  get->add_flag("-q,--quiet", request->quiet, "No progress line");
  get->callback(
      [request, &action] { action = [request] { return fetch(request->name, request->to, request->quiet); }; });
}

}  // namespace hearsay::app

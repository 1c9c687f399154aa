// hearsay datasets: where the public data sets lie, and how to get them.
#include "hearsay/datasets.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "commands/commands.hpp"
#include "commands/terminal.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "formats/escapes.hpp"
#include "hearsay/error.hpp"

namespace hearsay::app {

namespace {

namespace fs = std::filesystem;

// Where it would be read from, first.
std::string_view state_of(const io::Dataset& dataset, const std::optional<fs::path>& directory) {
  const bool here = directory && io::locate(dataset, *directory).missing.empty();
  if (io::is_built_in(dataset)) return here ? "here, built in" : "built in";
  return here ? "here" : "not fetched";
}

int list() {
  std::optional<fs::path> directory;
  std::string text;
  try {
    directory = data_directory();
    text = fmt::format("In {}:\n\n", terminal_safe(directory->string()));
  } catch (const InvalidArgument& error) {
    text = fmt::format("In the program alone ({}):\n\n", error.what());
  }
  for (const io::Dataset& dataset : io::datasets()) {
    text += fmt::format("  {:<18} {:<14} {}\n", dataset.name, state_of(dataset, directory), dataset.description);
    text += fmt::format("  {:<18} {:<14} {}\n", "", "", dataset.homepage);
  }
  say(text);
  return done;
}

int path(const std::string& name) {
  const io::Dataset& dataset = io::find_dataset(name);
  const io::DatasetLocation location = io::locate(dataset, data_directory());
  for (const fs::path& file : location.missing)
    throw InvalidArgument(fmt::format("{}: {} {}: hearsay datasets fetch {}", dataset.name, file.string(),
                                      io::is_built_in(dataset)
                                          ? "is not there; the data set is built in, and put there by"
                                          : "is missing; get it with",
                                      dataset.name));
  // A program gets the very names.
  const bool for_people = isatty(STDOUT_FILENO) != 0;
  for (const fs::path& file : location.paths)
    print_raw((for_people ? terminal_safe(file.string()) : file.string()) + "\n");
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

struct FetchRequest {
  std::string name, to, sha256;
  bool quiet = false;
  int timeout_seconds = 3600;
};

// The data set with the digest that the user trusts, where the table has none.
io::Dataset with_digest(io::Dataset dataset, const std::string& sha256) {
  if (sha256.empty()) return dataset;
  require(sha256.size() == 64 && sha256.find_first_not_of("0123456789abcdef") == sha256.npos,
          fmt::format("sha256 = {}: must be 64 small hexadecimal digits", sha256));
  bool taken = false;
  for (io::DatasetFile& file : dataset.files) {
    if (!file.sha256.empty()) continue;
    file.sha256 = sha256;
    taken = true;
  }
  require(taken, fmt::format("sha256: must not be given for {}, whose digests are known", dataset.name));
  return dataset;
}

int fetch(const FetchRequest& request) {
  const io::Dataset dataset = with_digest(io::find_dataset(request.name), request.sha256);
  const fs::path directory = request.to.empty() ? data_directory() : fs::path(request.to);
  std::vector<fs::path> fetched;
  {
    ProgressLine line(request.quiet);
    const InterruptGuard interrupt;
    const auto watch = [&](const io::DownloadProgress& now) {
      if (line.due()) line.show(download_text(now));
      return !interrupt.interrupted();
    };
    fetched = io::fetch(dataset, directory, watch, {.each_file = std::chrono::seconds(request.timeout_seconds)});
    if (!request.sha256.empty())
      for (const io::DatasetFile& file : dataset.files)
        if (file.sha256 == request.sha256)
          write_text(io::trusted_digest_file(directory / file.path), request.sha256 + "\n");
  }
  for (const fs::path& file : fetched)
    say(fmt::format("{} {}\n", io::is_built_in(dataset) ? "put there" : "fetched", terminal_safe(file.string())));
  if (fetched.empty())
    say(fmt::format("{}: already complete in {}\n", dataset.name, terminal_safe(directory.string())));
  return done;
}

}  // namespace

void add_datasets(CLI::App& root, Action& action) {
  CLI::App* app = root.add_subcommand("datasets", "Public data sets: where they lie, and how to get them");
  app->require_subcommand(0, 1);
  app->callback([app, &action] {
    if (app->get_subcommands().empty()) action = list;
  });
  app->footer(
      "digits and fed-heart-disease are built in: they need no file. The others lie in $HEARSAY_DATA, else in the "
      "user's\n"
      "cache directory. A copy of a built-in one that lies there is read in its place, and must have the same "
      "SHA-256.\n"
      "\n"
      "Examples:\n"
      "  hearsay datasets                      (lists them)\n"
      "  hearsay pca digits -k 10\n"
      "  hearsay datasets fetch ego-facebook");
  auto request = std::make_shared<FetchRequest>();
  const std::string names = "digits, fed-heart-disease, ego-facebook or amazon0302";

  app->add_subcommand("list", "Every data set, and whether it is here")->callback([&action] { action = list; });

  CLI::App* where = app->add_subcommand("path", "Print the files of a data set");
  where->add_option("NAME", request->name, names)->type_name("")->required();
  where->callback([request, &action] { action = [request] { return path(request->name); }; });

  CLI::App* get = app->add_subcommand("fetch", "Get and verify a data set; complete files are left alone");
  get->add_option("NAME", request->name, names)->type_name("")->required();
  get->add_option("--to", request->to, "Put it here instead of the data directory")->type_name("DIR");
  get->add_flag("-q,--quiet", request->quiet, "No progress line");
  get->add_option("--sha256", request->sha256, "The digest you trust, for a data set of which none is published")
      ->type_name("HEX");
  get->add_option("--timeout", request->timeout_seconds, "Give up a file after so long")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  get->callback([request, &action] { action = [request] { return fetch(*request); }; });
}

}  // namespace hearsay::app

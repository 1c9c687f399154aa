#include "files/run_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "files/inputs.hpp"
#include "hearsay/datasets.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/bed.hpp"
#include "hearsay/io/built_in.hpp"
#include "hearsay/io/shards.hpp"
#include "hearsay/io/ten_x.hpp"

namespace hearsay::app {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view agent_place = "{agent}";

// A name of thousands of letters helps nobody.
std::string clipped(const std::string& name) {
  constexpr std::size_t most = 120, ends = 40;
  return name.size() <= most ? name : fmt::format("{}...{}", name.substr(0, ends), name.substr(name.size() - ends));
}

bool look_at(const fs::path& path, struct stat& status, std::string_view option = "") {
  if (::stat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw InvalidArgument(fmt::format("{}{}{}: cannot be looked at: {}", option, option.empty() ? "" : " = ",
                                    clipped(path.string()), std::generic_category().message(errno)));
}

fs::path folder_of(const fs::path& path) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code unknown;
  fs::path folder = fs::canonical(parent, unknown);
  if (unknown) folder = fs::absolute(parent, unknown).lexically_normal();
  return folder;
}

// Which way the file of an option goes.
enum class Way { in, out };

struct FileOption {
  std::string_view name;
  Way way;
  std::vector<std::string_view> endings = {};  // of outputs; none: any
  std::vector<std::string_view> words = {};    // that are no file
};

const std::vector<FileOption>& file_options() {
  static const std::vector<FileOption> known = {
      {"data", Way::in},
      {"matrix", Way::in},
      {"start", Way::in},
      {"row-weights", Way::in},
      {"components-from", Way::in},
      {"mean-from", Way::in},
      {"scale-from", Way::in},
      {"ledger", Way::in},
      {"reference", Way::in, {}, {"exact"}},
      {"faults", Way::in},
      {"split", Way::in, {}, {"even", "contiguous", "by-label", "by-node"}},
      {"topology", Way::in, {}, {"ring", "path", "star", "complete", "grid", "torus", "erdos", "regular", "data"}},
      {"weights", Way::in, {}, {"auto", "ring", "metropolis", "lazy"}},
      {"components", Way::out, {".npy", ".csv"}},
      {"scores", Way::out, {".npy", ".csv"}},
      {"left", Way::out, {".npy", ".csv"}},
      {"right", Way::out, {".npy", ".csv"}},
      {"embedding", Way::out, {".npy", ".csv"}},
      {"labels", Way::out, {".csv"}},
      {"trace", Way::out, {".csv"}},
      {"report", Way::out, {".html", ".svg"}},
      {"json", Way::out, {}, {"-"}},
      {"checkpoint", Way::out}};
  return known;
}

const FileOption* file_option(std::string_view name) {
  for (const FileOption& option : file_options())
    if (option.name == name) return &option;
  return nullptr;
}

bool is_word(const Job& job, const FileOption& option, std::string_view text) {
  if (option.name == "reference" && job.command != "decentralized") return false;
  const std::string_view word = option.name == "topology" ? text.substr(0, text.find(':')) : text;
  return std::find(option.words.begin(), option.words.end(), word) != option.words.end();
}

// The files behind DATA; what is not there is left to whoever will miss it.
std::vector<RunFile> data_files(const Job& job, const std::string& input) {
  std::vector<RunFile> files;
  if (input.empty()) return files;
  if (is_there(input)) {
    if (job.command == "pca" && io::is_bed(input)) {
      const io::BedPaths paths = io::bed_paths(input);
      return {{"input", paths.bed}, {"input", paths.bim}, {"input", paths.fam}};
    }
    if (const auto names = io::ten_x_names(input))
      return {{"input", input}, {"input", names->barcodes}, {"input", names->features}};
    if (job.command != "decentralized" || !is_folder(input)) return {{"input", input}};
    for (const fs::path& file : io::shard_files(input)) files.push_back({"input", file});
    return files;
  }
  for (const io::Dataset& dataset : io::datasets())
    if (dataset.name == input)
      for (const fs::path& file : io::locate(dataset, directory_of(dataset)).paths)
        if (io::built_in_file(file) || is_there(file)) files.push_back({fmt::format("data set {}", input), file});
  return files;
}

}  // namespace

bool is_there(const fs::path& path, std::string_view option) {
  struct stat status {};
  return look_at(path, status, option);
}

bool is_folder(const fs::path& path) {
  struct stat status {};
  return look_at(path, status) && S_ISDIR(status.st_mode);
}

bool is_pipe(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

RunFiles::Place RunFiles::place_of(const fs::path& path) {
  Place place{.where = folder_of(path) / path.filename()};
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return place;
  place.exists = true;
  place.device = S_ISCHR(status.st_mode);
  place.regular = S_ISREG(status.st_mode);
  place.on = status.st_dev;
  place.number = status.st_ino;
  return place;
}

// Two outputs may share a pipe; an input and an output may not.
bool RunFiles::same(const Place& a, const Place& b, bool both_outputs) {
  if (a.device || (both_outputs && a.exists && !a.regular)) return false;
  return a.where == b.where || (a.exists && b.exists && a.on == b.on && a.number == b.number);
}

bool RunFiles::expands_to(const Entry& each, const fs::path& name) {
  const std::string file = name.filename().string();
  if (name.parent_path() != each.folder || file.size() <= each.before.size() + each.after.size() ||
      !file.starts_with(each.before) || !file.ends_with(each.after))
    return false;
  const char *first = file.data() + each.before.size(), *last = file.data() + file.size() - each.after.size();
  Index agent = 0;
  const auto [end, problem] = std::from_chars(first, last, agent);
  const bool as_written = problem == std::errc() && end == last && std::to_string(agent) == std::string(first, last);
  return as_written && agent >= 0 && (!each.agents || agent < *each.agents);
}

bool RunFiles::clash(const Entry& a, const Entry& b) {
  for (const Place& ours : a.places)
    for (const Place& theirs : b.places)
      if (same(ours, theirs, a.output && b.output)) return true;
  const auto covers = [](const Entry& each, const Entry& other) {
    return !each.folder.empty() && std::any_of(other.places.begin(), other.places.end(),
                                               [&each](const Place& place) { return expands_to(each, place.where); });
  };
  return covers(a, b) || covers(b, a);
}

void RunFiles::add(Entry entry) {
  for (const Entry& other : entries_) {
    if (!(entry.output || other.output) || !clash(entry, other)) continue;
    const Entry &writer = entry.output ? entry : other, &victim = entry.output ? other : entry;
    throw InvalidArgument(fmt::format("{} = {}: would overwrite {} = {}, which this run {}", writer.file.option,
                                      writer.file.path.string(), victim.file.option, victim.file.path.string(),
                                      victim.output ? "writes too" : "reads"));
  }
  entries_.push_back(std::move(entry));
}

void RunFiles::reads(std::string option, const fs::path& path) {
  add({.file = {std::move(option), path}, .output = false, .places = {place_of(path)}});
}

void RunFiles::writes(std::string option, const fs::path& path) {
  add({.file = {std::move(option), path}, .output = true, .places = {place_of(path)}});
}

void RunFiles::writes_for_each_agent(std::string option, const fs::path& pattern, std::optional<Index> agents) {
  const std::string name = pattern.filename().string();
  const std::size_t at = name.find(agent_place);
  require(at != std::string::npos && pattern.parent_path().string().find(agent_place) == std::string::npos,
          fmt::format("{} = {}: {} must stand in the name of the file, not in that of a directory", option,
                      pattern.string(), agent_place));
  Entry each{.file = {std::move(option), pattern},
             .output = true,
             .folder = folder_of(pattern),
             .before = name.substr(0, at),
             .after = name.substr(at + agent_place.size()),
             .agents = agents};
  std::error_code unknown;
  for (fs::directory_iterator entry(each.folder, unknown), end; !unknown && entry != end; entry.increment(unknown))
    if (expands_to(each, entry->path())) each.places.push_back(place_of(entry->path()));
  add(std::move(each));
}

std::vector<RunFile> RunFiles::inputs() const {
  std::vector<RunFile> files;
  for (const Entry& entry : entries_)
    if (!entry.output) files.push_back(entry.file);
  return files;
}

std::vector<RunFile> RunFiles::outputs() const {
  std::vector<RunFile> files;
  for (const Entry& entry : entries_)
    if (entry.output) files.push_back(entry.file);
  return files;
}

bool names_a_file(const OptionRecord& record) {
  return record.kind == OptionKind::file || record.range.find("FILE") != record.range.npos;
}

bool registers(std::string_view option) { return option == "out" || file_option(option) != nullptr; }

std::vector<std::string_view> endings_of(std::string_view option) {
  const FileOption* known = file_option(option);
  return known != nullptr ? known->endings : std::vector<std::string_view>{};
}

RunFiles files_of_run(const Job& job) {
  RunFiles files;
  std::vector<std::string> data = job.inputs;
  const bool by_option = job.given.contains("data") || job.given.contains("matrix");
  if (data.empty() && !by_option) data = {job.input};
  Index shards = 0;
  for (const std::string& input : data)
    for (const RunFile& file : data_files(job, input)) files.reads(file.option, file.path), ++shards;

  std::vector<RunFile> outputs;
  for (const auto& [name, text] : job.given) {
    const FileOption* option = file_option(name);
    if (option == nullptr || is_word(job, *option, text)) continue;
    if (option->way == Way::out) {
      outputs.push_back({name, text});
    } else if (name == "data") {
      for (const RunFile& file : data_files(job, text))
        files.reads(file.option == "input" ? name : file.option, file.path);
    } else if (is_there(text, name)) {
      files.reads(name, text);
    }
  }
  std::optional<Index> agents = job.integer("agents", 1);
  if (!agents && shards > 1) agents = shards;
  for (const auto& [name, path] : outputs) {
    const bool each =
        job.command == "decentralized" && name == "components" && path.string().find(agent_place) != std::string::npos;
    if (each)
      files.writes_for_each_agent(name, path, agents);
    else
      files.writes(name, path);
  }
  return files;
}

}  // namespace hearsay::app

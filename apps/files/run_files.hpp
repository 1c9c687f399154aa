// Every file that a run reads or writes, under the option that names it. Whatever would overwrite an input, or one
// output by another, is refused before anything is read or written.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/job.hpp"
#include "hearsay/block.hpp"

namespace hearsay::app {

/// Whether something is there. Throws InvalidArgument, with the option that named it and the reason, where that cannot
/// be found out: a loop of links, a name that is too long, a directory closed to us.
bool is_there(const std::filesystem::path& path, std::string_view option = "");
bool is_folder(const std::filesystem::path& path);

/// A pipe, named or not, or a socket: what can be read once at most.
bool is_pipe(const std::filesystem::path& path);

struct RunFile {
  std::string option;  ///< or "input", or the name of a data set
  std::filesystem::path path;
};

class RunFiles {
 public:
  /// Both throw InvalidArgument, which names the two options, where one file would be written and named by another
  /// option too. Links are followed; a device such as /dev/null may be named as often as one likes.
  void reads(std::string option, const std::filesystem::path& path);
  void writes(std::string option, const std::filesystem::path& path);

  /// A file for each agent, "basis-{agent}.npy": every name it may expand to, of agents below the bound where there is
  /// one.
  void writes_for_each_agent(std::string option, const std::filesystem::path& pattern, std::optional<Index> agents);

  std::vector<RunFile> inputs() const;
  std::vector<RunFile> outputs() const;

 private:
  // Where a path leads: by device and number where something is there, by name where not.
  struct Place {
    std::filesystem::path where;
    bool exists = false, device = false, regular = false;
    dev_t on = 0;
    ino_t number = 0;
  };
  struct Entry {
    RunFile file;
    bool output = false;
    std::vector<Place> places = {};     // one, or those of the agents' files that exist
    std::filesystem::path folder = {};  // of a file for each agent
    std::string before = {}, after = {};
    std::optional<Index> agents = {};
  };

  static Place place_of(const std::filesystem::path& path);
  static bool same(const Place& a, const Place& b, bool both_outputs);
  static bool expands_to(const Entry& each, const std::filesystem::path& name);
  static bool clash(const Entry& a, const Entry& b);
  void add(Entry entry);

  std::vector<Entry> entries_;
};

/// Whether an option names a file, so that files_of_run must know it.
bool names_a_file(const OptionRecord& record);

/// The endings an output may have; none: any.
std::vector<std::string_view> endings_of(std::string_view option);

/// Those of a job: its data (a file, the files of a directory or of a data set) and every option that names one. Throws
/// InvalidArgument for a clash.
RunFiles files_of_run(const Job& job);

/// Whether files_of_run knows the option.
bool registers(std::string_view option);

}  // namespace hearsay::app

#include "files/outputs.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

#include "commands/commands.hpp"
#include "commands/terminal.hpp"
#include "files/run_files.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/npy.hpp"
#include "hearsay/io/table.hpp"

namespace hearsay::app {

namespace {

// A checkpoint is tied to its data by their digest, and read again: neither can be done with a pipe.
void check_checkpoint(const Job& job, const RunFiles& files) {
  if (job.checkpoint.empty()) return;
  std::vector<RunFile> needed = files.inputs();
  needed.push_back({"checkpoint", job.checkpoint});
  for (const auto& [option, path] : needed)
    require(!is_pipe(path),
            fmt::format("{} = {}: must not be a pipe where there is a checkpoint, because it is read again", option,
                        path.string()));
}

}  // namespace

void check_outputs(const Job& job) {
  const RunFiles files = files_of_run(job);
  check_checkpoint(job, files);
  for (const auto& [option, path] : files.outputs()) {
    const auto endings = endings_of(option);
    const std::string ending = path.extension().string();
    require(endings.empty() || std::find(endings.begin(), endings.end(), ending) != endings.end(),
            fmt::format("{} = {}: must end in {}", option, path.string(), fmt::join(endings, " or ")));
    io::require_writable(path);
  }
}

void write_block(const std::filesystem::path& path, const Block<double>& values) { write_block(path, values, {}, {}); }

void write_block(const std::filesystem::path& path, const Block<double>& values,
                 const std::vector<std::string>& columns, const std::vector<io::RowNames>& rows) {
  if (path.empty()) return;
  if (path.extension() == ".npy")
    io::write_npy(path, values);
  else
    io::write_table_csv(path, values, columns, rows);
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  io::AtomicFile file(path);
  file.write(text);
  file.commit();
}

void write_json(const std::filesystem::path& path, const Json& json) {
  if (path.empty()) return;
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (path == "-")
    print_raw(text);
  else
    write_text(path, text);
}

}  // namespace hearsay::app

#include "outputs.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

#include "commands.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/npy.hpp"
#include "hearsay/io/table.hpp"
#include "run_files.hpp"

namespace hearsay::app {

void check_outputs(const Job& job) {
  for (const auto& [option, path] : files_of_run(job).outputs()) {
    const auto endings = endings_of(option);
    const std::string ending = path.extension().string();
    require(endings.empty() || std::find(endings.begin(), endings.end(), ending) != endings.end(),
            fmt::format("{} = {}: must end in {}", option, path.string(), fmt::join(endings, " or ")));
    io::require_writable(path);
  }
}

void write_block(const std::filesystem::path& path, const Block<double>& values) {
  if (path.empty()) return;
  if (path.extension() == ".npy")
    io::write_npy(path, values);
  else
    io::write_table_csv(path, values);
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
    fmt::print("{}", text);
  else
    write_text(path, text);
}

int deliver(const Report& report) {
  write_json(report.job.json, result_json(report));
  if (!report.job.prints_json()) fmt::print("{}", summary(report));
  return exit_code(report.outcome.power.status);
}

}  // namespace hearsay::app

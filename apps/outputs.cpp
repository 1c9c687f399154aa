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

namespace hearsay::app {

namespace {

// Whether writing one would destroy the other. A device such as /dev/null may be named as often as one likes.
bool collide(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code missing;
  if (std::filesystem::exists(a, missing) && !std::filesystem::is_regular_file(a, missing)) return false;
  return std::filesystem::equivalent(a, b, missing) ||
         std::filesystem::absolute(a).lexically_normal() == std::filesystem::absolute(b).lexically_normal();
}

}  // namespace

void check_outputs(const Job& job) {
  struct Output {
    std::string_view option;
    const std::filesystem::path& path;
    std::vector<std::string_view> endings;
  };
  const Output outputs[] = {{"components", job.components, {".npy", ".csv"}},
                            {"scores", job.scores, {".npy", ".csv"}},
                            {"embedding", job.embedding, {".npy", ".csv"}},
                            {"labels", job.labels, {".csv"}},
                            {"trace", job.trace, {".csv"}},
                            {"json", job.prints_json() ? std::filesystem::path() : job.json, {}},
                            {"checkpoint", job.checkpoint, {}}};
  std::vector<std::filesystem::path> seen = {job.input, job.start, job.reference};
  seen.insert(seen.end(), job.inputs.begin(), job.inputs.end());
  for (const auto& [option, path, endings] : outputs) {
    if (path.empty()) continue;
    const std::string ending = path.extension().string();
    require(endings.empty() || std::find(endings.begin(), endings.end(), ending) != endings.end(),
            fmt::format("{} = {}: must end in {}", option, path.string(), fmt::join(endings, " or ")));
    for (const auto& other : seen)
      require(other.empty() || !collide(path, other),
              fmt::format("{} = {}: would overwrite {}", option, path.string(), other.string()));
    io::require_writable(path);
    seen.push_back(path);
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

#include "files/provenance.hpp"

#include <nlohmann/json.hpp>

#include <system_error>

#include "files/run_files.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/built_in.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/version.hpp"
#include "reports/machine.hpp"

namespace hearsay::app {

namespace {

Json described(const RunFile& file) {
  Json json = {{"option", file.option}, {"path", file.path.string()}};
  json.update(file_facts(file.path));
  return json;
}

}  // namespace

Json file_facts(const std::filesystem::path& path) {
  if (const auto carried = io::built_in_file(path))
    return {{"bytes", carried->size()}, {"sha256", io::sha256_hex(*carried)}};
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return {{"bytes", nullptr}, {"sha256", nullptr}};
  const auto bytes = std::filesystem::file_size(path, unknown);
  if (unknown) return {{"bytes", nullptr}, {"sha256", nullptr}};
  try {
    return {{"bytes", bytes}, {"sha256", bytes == 0 ? io::sha256_hex("") : io::sha256_file(path)}};
  } catch (const Error&) {  // closed to us by now
    return {{"bytes", bytes}, {"sha256", nullptr}};
  }
}

Json provenance_json(const Job& job) {
  const RunFiles files = files_of_run(job);
  Json inputs = Json::array(), outputs = Json::array(), options = Json::object();
  for (const RunFile& file : files.inputs()) inputs.push_back(described(file));
  for (const RunFile& file : files.outputs())
    if (file.option != "json" && file.option != "checkpoint") outputs.push_back(described(file));
  for (const auto& [name, text] : job.given) options[name] = text;
  Json arguments = job.inputs.empty() && !job.input.empty() ? Json::array({job.input}) : Json(job.inputs);
  if (job.given.contains("data") || job.given.contains("matrix")) arguments = Json::array();
  return {{"arguments", std::move(arguments)},
          {"options", std::move(options)},
          {"inputs", std::move(inputs)},
          {"outputs", std::move(outputs)},
          {"version", version},
          {"compiler", compiler()},
          {"build_type", HEARSAY_BUILD_TYPE},
          {"kernels", kernel_name()},
          {"seed", job.solve.power.seed}};
}

}  // namespace hearsay::app

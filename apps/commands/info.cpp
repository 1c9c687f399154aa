// hearsay info: what this program is, and what it found itself on.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <Eigen/Core>

#include "commands/commands.hpp"
#include "commands/device.hpp"
#include "commands/terminal.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/threads.hpp"
#include "hearsay/version.hpp"
#include "reports/limits.hpp"
#include "reports/machine.hpp"

namespace hearsay::app {

namespace {

std::int64_t memory_bytes() {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
}

std::string data_directory_or_reason() {
  try {
    return data_directory().string();
  } catch (const Error& error) {
    return fmt::format("none ({})", error.what());
  }
}

int show_info(const std::filesystem::path& json_path) {
  const Json json = {
      {"version", version},
      {"compiler", compiler()},
      {"build_type", HEARSAY_BUILD_TYPE},
      {"kernels", kernel_name()},
      {"threads", threads()},
      {"processor", processor()},
      {"memory_bytes", memory_bytes()},
      {"devices", describe_devices()},
      {"eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
      {"data_directory", data_directory_or_reason()},
      {"workspace",
       "(3 d p + 3 d k) numbers, p = k + oversample, and for sparse or streamed data (m or --block-rows) p more"}};
  write_json(json_path, json);
  if (json_path == "-") return done;
  const auto text = [&json](const char* key) { return json[key].get<std::string>(); };
  say(fmt::format("hearsay {}\n\n", version) + line("build", "{}, {}", text("compiler"), text("build_type")) +
      line("kernels", "{} (chosen for this processor)", text("kernels")) + line("threads", "{}", threads()) +
      line("processor", "{}", text("processor")) +
      line("memory", "{:.1f} GB", static_cast<double>(memory_bytes()) / 1e9) +
      line("devices", "{}", fmt::join(describe_devices(), "; ")) + line("Eigen", "{}", text("eigen")) +
      line("data", "{}", text("data_directory")) + line("workspace", "{}", text("workspace")));
  return done;
}

int show_limits(const std::filesystem::path& json_path) {
  Json json = Json::array();
  std::string text;
  for (const auto& [name, value, meaning] : limits()) {
    json.push_back({{"name", name}, {"value", value}, {"meaning", meaning}});
    text += fmt::format("  {:<20} {:<28} {}\n", name, value, meaning);
  }
  write_json(json_path, json);
  if (json_path != "-") say(text);
  return done;
}

}  // namespace

void add_info(CLI::App& root, Action& action) {
  CLI::App* app = root.add_subcommand("info", "Version, build, threads, kernels in use, data directory");
  auto json = std::make_shared<std::string>();
  app->add_option("--json", *json, "Write it as JSON to a file; without one, or with -, print it")
      ->type_name("FILE|-")
      ->expected(0, 1)
      ->default_str("-");
  auto wants_limits = std::make_shared<bool>(false);
  app->add_flag("--limits", *wants_limits, "Every limit of the program instead");
  app->footer("Examples:\n  hearsay info\n  hearsay info --json\n  hearsay info --limits");
  app->callback([app, json, wants_limits, &action] {
    const std::string path = app->count("--json") > 0 && json->empty() ? "-" : *json;
    action = [path, wants_limits] { return *wants_limits ? show_limits(path) : show_info(path); };
  });
}

}  // namespace hearsay::app

#include <algorithm>

#include "bindings.hpp"
#include "hearsay/device_error.hpp"

#ifdef HEARSAY_HAS_CUDA
#include "hearsay/cuda.hpp"
#endif

namespace hearsay::python {

SolveSettings settings_from(const Options& options) {
  SolveSettings settings;
  for (const auto& [name, text] : options) set_option(settings, name, text);
  settle(settings);
  return settings;
}

namespace {

std::unique_ptr<EngineMaker> engines_of([[maybe_unused]] int number) {
#ifdef HEARSAY_HAS_CUDA
  return cuda::engines(number);
#else
  throw DeviceError("device = cuda:" + std::to_string(number) +
                    ": this package was built without CUDA; install it with -C cmake.define.HEARSAY_CUDA=ON, which "
                    "needs NVIDIA's CUDA toolkit");
#endif
}

}  // namespace

std::unique_ptr<EngineMaker> engines_from(const Options& options, std::string& instead) {
  DeviceChoice choice;
  for (const auto& [name, text] : options)
    if (name == "device") choice = device_choice(text);
  if (!choice.on_device) return nullptr;
  try {
    return engines_of(choice.number);
  } catch (const DeviceError& error) {
    if (!choice.or_here) throw;
    instead = std::string("computed by the processor: ") + error.what();
    return nullptr;
  }
}

namespace {

const char* kind_name(OptionKind kind) {
  switch (kind) {
    case OptionKind::flag:
      return "flag";
    case OptionKind::integer:
      return "integer";
    case OptionKind::real:
      return "real";
    case OptionKind::choice:
      return "choice";
    case OptionKind::text:
      return "text";
    case OptionKind::file:
      return "file";
  }
  return "";
}

nb::list table() {
  nb::list records;
  for (const OptionRecord& option : option_table()) {
    nb::dict record;
    const auto text = [](std::string_view view) { return nb::str(view.data(), view.size()); };
    record["name"] = text(option.name);
    record["kind"] = kind_name(option.kind);
    record["default"] = text(option.default_text);
    record["range"] = text(option.range);
    record["help"] = text(option.help);
    nb::list commands;
    for (const auto& [command, name] : {std::pair{in_pca, "pca"},
                                        {in_eigs, "eigs"},
                                        {in_svd, "svd"},
                                        {in_cluster, "cluster"},
                                        {in_decentralized, "decentralized"},
                                        {in_plan, "plan"}})
      if ((option.commands & command) != 0) commands.append(name);
    record["commands"] = nb::tuple(commands);
    records.append(record);
  }
  return records;
}

std::string in_keywords(const std::string& message, const Options& spelt) {
  return in_words(message, [&spelt](std::string_view name) -> std::optional<std::string> {
    for (const auto& [option, keyword] : spelt)
      if (option == name) return keyword;
    const auto options = option_table();
    if (std::none_of(options.begin(), options.end(), [&](const auto& option) { return option.name == name; }))
      return std::nullopt;
    std::string keyword(name);
    std::replace(keyword.begin(), keyword.end(), '-', '_');
    return keyword;
  });
}

}  // namespace

void bind_options(nb::module_& m) {
  m.def("in_words", &in_keywords, nb::arg("message"), nb::arg("spelt"),
        "A message of the core with its options as keywords: as given, else with underscores.");
  m.def("option_table", &table, "Every option a user can set, as --help and the reference page know it.");
  m.def(
      "tolerance_of", [](const Options& options) { return *settings_from(options).power.tolerance; },
      nb::arg("options"),
      "The tolerance a solve with these options is held against; refuses what is no option, or no value of one.");
}

}  // namespace hearsay::python

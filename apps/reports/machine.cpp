#include "reports/machine.hpp"

#include <fmt/format.h>

#include <fstream>

namespace hearsay::app {

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}", __clang_version__);
#elif defined(__GNUC__)
  return fmt::format("gcc {}", __VERSION__);
#else
  return "unknown";
#endif
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string text; std::getline(file, text);)
    if (text.starts_with("model name")) return text.substr(text.find(':') + 2);
  return "unknown";
}

}  // namespace hearsay::app

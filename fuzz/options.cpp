#include <hearsay/memory.hpp>
#include <hearsay/options.hpp>

#include <algorithm>
#include <cmath>

#include "fuzz.hpp"

// Lines "name=value", as a command line has them: set, or refused; what is set obeys its own rule.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearsay;
  return fuzz::run(data, size, [](std::string_view bytes) {
    SolveSettings solve;
    DecentralizedSettings network;
    while (!bytes.empty()) {
      const std::size_t length = std::min(bytes.find('\n'), bytes.size());
      const std::string_view line = bytes.substr(0, length);
      bytes.remove_prefix(std::min(length + 1, bytes.size()));
      const std::size_t equals = std::min(line.find('='), line.size());
      const std::string_view name = line.substr(0, equals), text = line.substr(std::min(equals + 1, line.size()));
      try {
        SolveSettings solve_then = solve;  // a refusal ends the program, whatever was set by then
        DecentralizedSettings network_then = network;
        if (!set_option(network_then, name, text)) set_option(solve_then, name, text);
        solve = solve_then, network = network_then;
        static_cast<void>(parse_bytes("memory", text, 1));
      } catch (const Error&) {
      }
    }
    const PowerOptions& power = solve.power;
    fuzz::check(power.rank >= 1 && power.oversample.value_or(0) >= 0 && power.max_iterations.value_or(0) >= 0 &&
                power.cooldown >= 0);
    fuzz::check(std::isfinite(power.tolerance.value_or(1)) && power.tolerance.value_or(1) > 0 &&
                power.accuracy.value_or(0.5) > 0 && power.accuracy.value_or(0.5) < 1);
    fuzz::check(std::isfinite(power.momentum.edge) && power.momentum.edge >= 0 && solve.noise.level >= 0);
    settle(solve);
    static_cast<void>(settle(network, solve));
  });
}

// Faults as users spell them: a JSON file, and the words of the command line. docs/reference/faults.md is the
// reference.
#pragma once

#include <filesystem>
#include <string_view>

#include "hearsay/faults.hpp"

namespace hearsay::app {

/// Throws DataError, naming file, key, value and rule, for a file that describes no faults. Whether the agents and
/// links exist is for the network to say.
Faults read_faults(const std::filesystem::path& path);

/// The same for text at hand; messages begin with `name`.
Faults parse_faults(std::string_view text, std::string_view name);

/// Adds what --`flag` `text` stands for: drop P, loss P, delay P:ROUNDS, crash AGENT@T, rejoin AGENT@T, fault-seed S.
/// False: the flag is none of these. Throws InvalidArgument (name, value, rule) for a text that is no legal value.
bool set_fault_flag(Faults& faults, std::string_view flag, std::string_view text);

}  // namespace hearsay::app

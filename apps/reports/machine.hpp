// What the program was built with and runs on.
#pragma once

#include <string>

namespace hearsay::app {

std::string compiler();
std::string processor();

}  // namespace hearsay::app

// Every limit of the program in one table: what it refuses, or cuts short, however right the rest may be.
#pragma once

#include <string>
#include <vector>

namespace hearsay::app {

struct Limit {
  std::string name, value, meaning;
};

const std::vector<Limit>& limits();

}  // namespace hearsay::app

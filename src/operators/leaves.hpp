// How rows that pass by are grouped before they are added up (row_pass.hpp).
#pragma once

#include "hearsay/block.hpp"

namespace hearsay::detail {

struct Leaves {
  Index rows = 1;  ///< of a leaf
  Index lanes = 1;
};

}  // namespace hearsay::detail

// The Python dictionary in a .npy header: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearsay::io {

struct NpyDict {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;  ///< none negative
};

/// Throws DataError unless it is such a dictionary with each of the three keys once. Errors begin with `name`.
NpyDict parse_npy_dict(std::string_view text, std::string_view name);

}  // namespace hearsay::io

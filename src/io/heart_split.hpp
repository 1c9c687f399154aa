// FLamby's Fed-Heart-Disease: which lines of the four centers' files it keeps, and on which side of its split they
// fall.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "hearsay/export.hpp"

namespace hearsay::io {

struct HeartCenter {
  std::string_view name;
  std::string_view
      lines;  ///< one character for each line of its file: '#' train, '-' test, '.' left out (values missing)
};

HEARSAY_API const std::array<HeartCenter, 4>& heart_centers();

/// The same as a table: center, line counted from 1, train or test.
HEARSAY_API std::string heart_split_csv();

}  // namespace hearsay::io

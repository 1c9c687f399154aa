// How far apart what comes from a neighbour usually is: what a silence is measured by.
#pragma once

#include <cstddef>
#include <vector>

#include "hearsay/export.hpp"

namespace hearsay::protocol {

class HEARSAY_API Arrivals {
 public:
  /// Something came, so many seconds after the last.
  void add(double gap);

  /// The median of the latest gaps and ten times their median distance from it: a silence that is longer is another
  /// kind of thing. 0 before there are enough of them.
  double usual() const { return usual_; }

 private:
  static constexpr std::size_t kept = 64, enough = 16;

  std::vector<double> gaps_ = {};  // none where nothing ever came: agents may be many
  std::size_t count_ = 0;
  double usual_ = 0;
};

}  // namespace hearsay::protocol

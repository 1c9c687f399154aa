// What the ways to an answer cost, so that `auto` can weigh them: a small model of bytes, multiply-adds and threads.
#pragma once

#include "hearsay/power.hpp"

namespace hearsay::detail {

/// Whether the options leave it open how the answer is found. Who watches the iterations, or starts them, wants some.
bool leaves_the_way_open(const PowerOptions& options, bool watched);

/// Dense rows whose covariance has fewer rows than they are.
struct TallData {
  Index rows = 1, columns = 1, wanted = 1;
  bool single = false;
};

/// Whether forming the covariance in one reading and finding all its eigenvalues is the cheapest way to the wanted
/// ones.
bool covariance_goes_directly(const TallData& data);

}  // namespace hearsay::detail

// What the ways to an answer cost, so that `auto` can weigh them: a small model of multiply-adds, bytes and calls.
#pragma once

#include "hearsay/power.hpp"

namespace hearsay::detail {

/// Whether the options leave it open how the answer is found. Who watches the iterations, or starts them, wants some.
bool leaves_the_way_open(const PowerOptions& options, bool watched);

/// Digits that are asked for, of the residual or of the sine.
template <class S>
double digits_of(const PowerOptions& options);

/// Dense rows whose covariance has fewer rows than they are.
struct TallData {
  Index rows = 1, columns = 1, wanted = 1;
  bool single = false;
  double digits = 10;
};

/// Whether forming the covariance in one reading and finding all its eigenvalues is the cheapest way to the wanted
/// ones.
bool covariance_goes_directly(const TallData& data);

/// Whether finding all eigenvalues of a matrix that is formed in any case is the cheapest way to so many eigenvectors.
bool eigenvalues_are_cheap(Index dimension, Index wanted, double digits, bool single = false);

/// Up to here all eigenvalues are found where nobody knows beforehand how many are wanted.
inline constexpr Index largest_with_all_eigenvalues = 2000;

}  // namespace hearsay::detail

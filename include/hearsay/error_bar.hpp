// How far an answer from noisy products is from the truth, by what the products themselves show. Of exact products the
// certificate speaks (certificate.hpp). docs/algorithms/noise.md derives every number here.
#pragma once

#include <limits>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

/// What the bar rests on.
enum class BarKind {
  none,        ///< too few products were averaged to say anything
  calibrated,  ///< errors look independent: how often it is off was counted
  indicative,  ///< a bias shows, the averages drift, or errors are those of gossip: what is common to all is not in it
  bound        ///< the caller's norm of the errors is in it, over the gap that was seen
};
HEARSAY_API const char* name(BarKind kind);

struct ErrorBar {
  BarKind kind = BarKind::none;
  double sin_theta = std::numeric_limits<double>::quiet_NaN();   ///< of the basis returned; at most 1
  double inside = std::numeric_limits<double>::quiet_NaN();      ///< its part within the block that was averaged
  double outside = std::numeric_limits<double>::quiet_NaN();     ///< and beyond it
  double last_block = std::numeric_limits<double>::quiet_NaN();  ///< sin(theta) from the answer to the last block alone
  /// The asymmetry of the averaged X'AX over what independent errors leave of it: about 1; above 3 it is a bias.
  double bias = std::numeric_limits<double>::quiet_NaN();
  bool drift = false;  ///< earlier and later averages differ by more than their scatter explains
  Index steps = 0;     ///< products with the block that are in the averages
  double products_needed = std::numeric_limits<double>::quiet_NaN();  ///< for the accuracy asked for, in columns, about
  Vector<double> vectors = {};      ///< of each eigenvector by itself: the sine of its angle
  Vector<double> eigenvalues = {};  ///< standard errors, with what the tilt of noisy blocks may hide
  Index resolved = 0;               ///< so many eigenvectors, from the first, have a bar below 1/2
  /// Of agents that gossip (docs/algorithms/decentralized.md): the largest sin(theta) between an agent's basis and one
  /// that all of them hold, and that one's residual with everyone's data over the gap.
  double spread = std::numeric_limits<double>::quiet_NaN();
  double common = std::numeric_limits<double>::quiet_NaN();

  bool exists() const { return kind != BarKind::none; }
};

/// How an interval is said: sin(theta) is the bar within this factor, in so many of 100 runs where the bar is
/// calibrated (docs/algorithms/noise.md).
inline constexpr double bar_factor = 3;
inline constexpr double bar_confidence = 95;

/// A bar above this says that the subspace, or an eigenvector, is not resolved.
inline constexpr double unresolved_sine = 0.5;

}  // namespace hearsay

// How right a result is, in words that are kept apart: a bound (a theorem applies, perhaps except with a small
// probability), an estimate (it was calibrated, and how often it is exceeded was counted), or unknown. Everything here
// follows from what was measured; docs/algorithms/certificate.md names the theorems.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

/// How much of it is asked for. `residual` spends no product on looking for what was missed, `none` nothing at all.
enum class Certify { none, residual, full };
HEARSAY_API const char* name(Certify level);

enum class Knowledge { unknown, estimate, bound };
HEARSAY_API const char* name(Knowledge knowledge);

/// Eigenvalues that the measurements cannot tell apart, counted from 1, where k cuts through them: from the end they
/// lie at, or, where the largest in magnitude are wanted, by magnitude.
struct Cluster {
  Index first = 0, last = 0;
  bool open = false;  ///< it may go on beyond `last`: the block ended there
  /// The most by which two of them (or their magnitudes) differ, relative to the largest magnitude of an eigenvalue
  /// that was seen; NaN: unknown.
  double spread = 0;
  /// Of the space of the first `last` eigenvectors, which k does not cut. NaN where that is not known.
  double sin_theta = std::numeric_limits<double>::quiet_NaN();
  Knowledge kind = Knowledge::unknown;  ///< of sin_theta
  bool low = false;                     ///< counted from the low end of the spectrum
};

struct Certificate {
  Certify level = Certify::none;

  double residual = 0;        ///< ||A V - V Theta||_F of exactly the basis returned, in the units of the eigenvalues
  double rounding = 0;        ///< what the arithmetic may hide of it, in the same units
  double frobenius_norm = 0;  ///< ||A||_F, about, as random columns show it: the scale of rounding

  /// Residual over the gap that is proved; infinite where none is.
  double sin_theta_bound = std::numeric_limits<double>::infinity();
  /// The same theorem with Ritz values in place of what is proved. NaN where there is none.
  double sin_theta_estimate = std::numeric_limits<double>::quiet_NaN();
  Knowledge sin_theta = Knowledge::unknown;  ///< the strongest of the two that says something

  /// At most `nothing_missed_count` eigenvalues lie above `nothing_missed_above`, except with this probability; of the
  /// low end, at most `nothing_missed_count_below` below `nothing_missed_below`. What is not said of an end is
  /// infinite.
  Knowledge nothing_missed = Knowledge::unknown;  ///< of every end that the answer may come from
  double nothing_missed_above = std::numeric_limits<double>::infinity();
  Index nothing_missed_count = 0;
  double nothing_missed_below = -std::numeric_limits<double>::infinity();
  Index nothing_missed_count_below = 0;
  double nothing_missed_probability = 0;
  Index random_columns = 0;  ///< that would have shown it
  Index probe_passes = 0;    ///< readings of A spent on that alone
  Index probe_products = 0;  ///< columns multiplied for that alone

  std::optional<Cluster> cluster = {};  ///< where the result is ambiguous

  std::vector<std::string> assumptions = {};  ///< what the words above rest on
};

}  // namespace hearsay

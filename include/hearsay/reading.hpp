// How the rows of a source are read: how many at once, and who is told.
#pragma once

#include <functional>

#include "hearsay/row_source.hpp"

namespace hearsay {

/// How far the readings of a source have come.
struct Reading {
  Index pass = 1;
  Index rows = 0;  ///< of this pass
};
/// Told after every few megabytes, by the thread that asked for the rows. What it throws ends the pass.
using WatchReading = std::function<void(const Reading&)>;

/// Nothing of this changes a bit of the result.
struct ReadingOptions {
  /// Held at once, three times over: one buffer is multiplied, one waits, one is filled. Rounded up to whole groups of
  /// rows that are added up together; 0: some megabytes.
  Index rows_at_once = 0;
  WatchReading watch = {};
};

}  // namespace hearsay

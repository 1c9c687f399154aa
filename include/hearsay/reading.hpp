// How the rows of a source are read: how many at once, who is told, and together with whom.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hearsay/row_source.hpp"

namespace hearsay {

/// How far the readings of a source have come.
struct Reading {
  Index pass = 1;
  Index rows = 0;  ///< of this pass
};
/// Told after every few megabytes, by the thread that asked for the rows. What it throws ends the pass.
using WatchReading = std::function<void(const Reading&)>;

/// What each process of a party does with a reading. Rows belong to leaves, and leaves to lanes; lane i is that of rank
/// i mod ranks(), which reads and adds up no others.
class HEARSAY_API RowParty {
 public:
  virtual ~RowParty() = default;
  virtual Index rank() const = 0;
  virtual Index ranks() const = 0;

  /// What each rank says, in the order of the ranks, at every rank. All call it, in the same order.
  virtual std::vector<std::string> exchange(const std::string& own) = 0;
};

/// Nothing of this changes a bit of the result.
struct ReadingOptions {
  /// Held at once, three times over: one buffer is multiplied, one waits, one is filled. Rounded up to whole groups of
  /// rows that are added up together; 0: some megabytes.
  Index rows_at_once = 0;
  WatchReading watch = {};
  RowParty* party = nullptr;  ///< borrowed
};

}  // namespace hearsay

// The terminal: a progress line for people, and Ctrl-C.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "hearsay/power.hpp"

namespace hearsay::app {

/// One line on standard error that is rewritten in place, on a terminal only, a few times a second; gone at the end.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Whether the next show() would be seen: texts need not be made otherwise.
  bool due() const;
  void show(const std::string& text);

 private:
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

std::string progress_text(const HistoryEntry& entry, double tolerance);

/// While one lives, the first Ctrl-C is only remembered; a second one ends the program as usual.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  bool interrupted() const;
};

}  // namespace hearsay::app

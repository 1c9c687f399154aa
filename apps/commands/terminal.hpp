// The terminal: a progress line for people, Ctrl-C and the other requests to end.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "hearsay/power.hpp"

namespace hearsay::app {

/// Text for people on standard output, made harmless for a terminal. Throws Error where it cannot be written.
void say(std::string_view text);

/// The same as it is, for programs to read.
void print_raw(std::string_view text);

/// A message of the library with its options spelt as flags.
std::string in_flags(std::string_view message);

/// "hearsay: message", one line on standard error, options spelt as flags; where that is closed, nothing.
void warn(std::string_view message) noexcept;

/// First of all in main(). Files must not take the places of standard input, output and error, or what is printed would
/// end up in them; a pipe that nobody reads must not end the program; an exception that nobody can catch ends it with a
/// word.
void begin_process() noexcept;

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

/// While one lives, the first Ctrl-C, SIGTERM or SIGHUP is only remembered, so that what was found so far can be
/// delivered; a second one ends the program as usual. SIGHUP stays ignored where it was (nohup). Guards may be nested.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  bool interrupted() const;
};

}  // namespace hearsay::app

// From a job to the library's request, and who watches over it while it is solved.
#pragma once

#include <chrono>
#include <optional>

#include "commands/job.hpp"
#include "commands/terminal.hpp"
#include "hearsay/io/checkpoint.hpp"
#include "hearsay/solve_stream.hpp"

namespace hearsay::app {

/// A request with its checkpoint file, its line of progress, and Ctrl-C.
class WatchedRequest {
 public:
  /// For a matrix of that dimension, whose blocks are read from their files.
  WatchedRequest(const Job& job, Index dimension);
  WatchedRequest(const WatchedRequest&) = delete;  // the request points into it
  WatchedRequest& operator=(const WatchedRequest&) = delete;

  operator const Request&() const { return request_; }

  bool interrupted() const { return interrupt_.interrupted(); }

  /// Shows how far a reading has come; false after Ctrl-C.
  bool goes_on(const Reading& now, const StreamPlan& plan) const;

  /// The answer in double, whatever the arithmetic was, with what the door has to say.
  template <class S>
  Solution<double> finished(Solution<S> solution) const {
    Solution<double> made{in_arithmetic<double>(std::move(solution.power)), std::move(solution.audit), solution.seconds,
                          std::move(solution.climb)};
    add_notes(made.power.notes);
    return made;
  }

 private:
  void add_notes(std::vector<std::string>& notes) const;
  void show_reading(const Reading& now, const StreamPlan& plan) const;

  Request request_;
  std::optional<io::CheckpointFile> checkpoint_;
  mutable ProgressLine progress_;
  std::string instead_;  // Job::instead
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  InterruptGuard interrupt_;  // the last: while files are read, Ctrl-C ends the program
};

/// What the options alone can say of a request, before any data are read.
Request request_of(const Job& job);

}  // namespace hearsay::app

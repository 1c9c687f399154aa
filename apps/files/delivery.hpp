// What a run has to say, brought to files and to standard output.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "commands/terminal.hpp"
#include "hearsay/block.hpp"
#include "hearsay/io/table.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

/// The outputs of a run that is done. Each is tried, whatever became of the others: a full disk costs what it costs,
/// and not the answer. A request to end waits until everything is out.
class Delivery {
 public:
  /// .npy or .csv, by the ending; nothing when the path is empty, as below.
  void block(const std::filesystem::path& path, const Block<double>& values);
  void block(const std::filesystem::path& path, const Block<double>& values, const std::vector<std::string>& columns,
             const std::vector<io::RowNames>& rows);
  void text(const std::filesystem::path& path, const std::string& text);
  /// Made only where it is wanted.
  void text(const std::filesystem::path& path, const std::function<std::string()>& make);
  /// To the file or, for "-", to standard output; made only where it is wanted, because it reads the inputs again.
  void json(const std::filesystem::path& path, const std::function<Json()>& make);
  /// For people, on standard output.
  void print(const std::string& text);
  /// Anything else that may fail.
  void attempt(const std::function<void()>& write);
  /// Something failed elsewhere.
  void fail(std::string reason) { failures_.push_back(std::move(reason)); }

  bool complete() const { return failures_.empty(); }
  const std::vector<std::string>& failures() const { return failures_; }

  /// Tells on standard error what failed. The exit code: `code`, or that of a failure.
  int finish(int code) const;

 private:
  InterruptGuard guard_;
  std::vector<std::string> failures_;
};

/// The JSON where it was asked for, the summary (and what is to follow it) where people read; the exit code.
int deliver(Delivery& delivery, const Report& report);
int deliver(Delivery& delivery, const Report& report, const std::function<Json()>& json, const std::string& more);

}  // namespace hearsay::app

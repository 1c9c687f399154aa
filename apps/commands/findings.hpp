// What a verification looked at, and what does not hold.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "commands/commands.hpp"
#include "formats/escapes.hpp"

namespace hearsay::app {

class Findings {
 public:
  struct Finding {
    std::string_view verdict;  ///< holds, FAILS or open
    std::string what, how;
  };

  void hold(bool holds, std::string_view what, const std::string& how) {
    findings_.push_back({holds ? "holds" : "FAILS", std::string(what), how});
    if (!holds) ++failures_;
  }
  void leave_out(std::string_view what, const std::string& why) {
    findings_.push_back({"open", std::string(what), why});
  }

  int failures() const { return failures_; }
  const std::vector<Finding>& all() const { return findings_; }
  int exit_code() const { return failures_ == 0 ? done : stopped_early; }

  /// For people.
  std::string told_of(std::string_view path) const {
    std::string text =
        fmt::format("{}: {}\n\n", terminal_safe(path),
                    failures_ == 0 ? "nothing found that does not hold"
                                   : fmt::format("{} thing{} not hold", failures_, failures_ == 1 ? " does" : "s do"));
    for (const auto& [verdict, what, how] : findings_)
      text += fmt::format("  {:<7} {:<14} {}\n", verdict, what, terminal_safe(how));
    return text;
  }

 private:
  std::vector<Finding> findings_;
  int failures_ = 0;
};

}  // namespace hearsay::app

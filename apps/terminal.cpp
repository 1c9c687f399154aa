#include "terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

namespace hearsay::app {

namespace {

constexpr std::chrono::milliseconds between_lines{100};

volatile std::sig_atomic_t interrupt_seen = 0;

void remember_interrupt(int) { interrupt_seen = 1; }

}  // namespace

ProgressLine::ProgressLine(bool quiet) : enabled_(!quiet && isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (shown_) fmt::print(stderr, "\r\x1b[K"), std::fflush(stderr);
}

bool ProgressLine::due() const {
  return enabled_ && (!shown_ || std::chrono::steady_clock::now() - last_ >= between_lines);
}

void ProgressLine::show(const std::string& text) {
  fmt::print(stderr, "\r{}\x1b[K", text);
  std::fflush(stderr);
  shown_ = true;
  last_ = std::chrono::steady_clock::now();
}

std::string progress_text(const HistoryEntry& entry, double tolerance) {
  return fmt::format("iteration {}  residual {:.2e} (tolerance {:.1e})  momentum {:.3g}", entry.t, entry.residual,
                     tolerance, entry.momentum);
}

InterruptGuard::InterruptGuard() {
  interrupt_seen = 0;
  struct sigaction action = {};
  action.sa_handler = remember_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

InterruptGuard::~InterruptGuard() { std::signal(SIGINT, SIG_DFL); }

bool InterruptGuard::interrupted() const { return interrupt_seen != 0; }

}  // namespace hearsay::app

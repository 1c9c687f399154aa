#include "commands/terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include "commands/commands.hpp"
#include "formats/escapes.hpp"
#include "hearsay/error.hpp"
#include "hearsay/options.hpp"

namespace hearsay::app {

namespace {

constexpr std::chrono::milliseconds between_lines{100};

constexpr int requests_to_end[] = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t interrupt_seen = 0;
int guards = 0;
struct sigaction before[std::size(requests_to_end)];

// From now on each of them ends the program.
void remember_interrupt(int) {
  interrupt_seen = 1;
  for (const int request : requests_to_end) std::signal(request, SIG_DFL);
}

// Standard error may be closed, or its terminal gone: there is nobody to tell.
void put_error(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// An exception in a thread of OpenMP's, or before the command line is read, passes no handler of ours: memory that runs
// out there ends the program here, with a word and without an allocation.
[[noreturn]] void last_words() noexcept {
  std::string_view words = "hearsay: an exception that nobody could catch; please report it\n";
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    words = "hearsay: memory: there is not enough of it for this problem\n";
  } catch (...) {
  }
  static_cast<void>(!write(STDERR_FILENO, words.data(), words.size()));
  std::_Exit(failed);
}

}  // namespace

void print_raw(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw Error(fmt::format("standard output: cannot be written to: {}", std::generic_category().message(errno)));
}

void say(std::string_view text) { print_raw(terminal_safe(text, true)); }

std::string in_flags(std::string_view message) {
  return in_words(message, [](std::string_view name) -> std::optional<std::string> {
    const auto table = option_table();
    const bool known = std::any_of(table.begin(), table.end(), [&](const auto& option) { return option.name == name; });
    if (!known && name != "sha256") return std::nullopt;  // that one is of `datasets fetch` alone
    return fmt::format("--{}", name);
  });
}

void warn(std::string_view message) noexcept {
  try {
    put_error(fmt::format("hearsay: {}\n", terminal_safe(in_flags(message))));
  } catch (...) {  // no memory for the words
    put_error("hearsay: failed\n");
  }
}

void begin_process() noexcept {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF)
      (void)open("/dev/null", O_RDONLY);  // the lowest number that is free; writing to it fails, as it should
  std::signal(SIGPIPE, SIG_IGN);          // a reader that went away costs its own output alone
  std::set_terminate(last_words);
}

ProgressLine::ProgressLine(bool quiet) : enabled_(!quiet && isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (shown_) put_error("\r\x1b[K");
}

bool ProgressLine::due() const {
  return enabled_ && (!shown_ || std::chrono::steady_clock::now() - last_ >= between_lines);
}

void ProgressLine::show(const std::string& text) {
  put_error(fmt::format("\r{}\x1b[K", terminal_safe(text)));
  shown_ = true;
  last_ = std::chrono::steady_clock::now();
}

std::string progress_text(const HistoryEntry& entry, double tolerance) {
  return fmt::format("iteration {}  residual {:.2e} (tolerance {:.1e})  momentum {:.3g}", entry.t, entry.residual,
                     tolerance, entry.momentum);
}

InterruptGuard::InterruptGuard() {
  if (guards++ > 0 || interrupt_seen != 0) return;  // who was asked to end is not asked again
  struct sigaction action = {};
  action.sa_handler = remember_interrupt;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < std::size(requests_to_end); ++i) {
    sigaction(requests_to_end[i], nullptr, &before[i]);
    if (requests_to_end[i] == SIGHUP && before[i].sa_handler == SIG_IGN) continue;
    sigaction(requests_to_end[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  if (--guards > 0) return;
  for (std::size_t i = 0; i < std::size(requests_to_end); ++i) sigaction(requests_to_end[i], &before[i], nullptr);
}

bool InterruptGuard::interrupted() const { return interrupt_seen != 0; }

}  // namespace hearsay::app

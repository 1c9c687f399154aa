// A child process that opens a file first: what kills it does not kill the program.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "hearsay/error.hpp"
#include "hearsay/io/hdf5.hpp"
#include "io/file_kind.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_layout.hpp"

namespace hearsay::io {
namespace {

constexpr std::uintmax_t read_whole_bytes = 64'000'000;
constexpr unsigned processor_seconds = 10, patience_seconds = 60;

void open_everything(const std::filesystem::path& path, const TableOptions& options) {
  std::error_code unknown;
  if (std::filesystem::file_size(path, unknown) <= read_whole_bytes && !unknown) {
    (void)read_hdf5(path, options);
    return;
  }
  const Hdf5File file(path);
  const Hdf5Layout layout = hdf5_layout(file, options.dataset);
  (void)hdf5_row_names(file, layout);
  (void)hdf5_column_names(file, layout);
  const auto rows = open_hdf5_rows(path, options);
  Block<double> first(1, rows->cols());
  (void)rows->read(first);
}

// Says nothing, writes no core and leaves without running what others have registered for the end of the program. What
// is refused is refused again by the parent, with words.
[[noreturn]] void be_the_child(const std::filesystem::path& path, const TableOptions& options) {
  for (const int number : {SIGALRM, SIGXCPU, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) std::signal(number, SIG_DFL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  const rlimit brief{processor_seconds, processor_seconds + 1};
  ::setrlimit(RLIMIT_CPU, &brief);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO), ::dup2(nowhere, STDOUT_FILENO);
  ::alarm(patience_seconds);
  try {
    open_everything(path, options);
  } catch (...) {
  }
  ::_exit(0);
}

bool is_hdf5(const std::filesystem::path& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown) || std::filesystem::file_size(path, unknown) == 0) return false;
  return kind_of(InputFile(path)) == FileKind::hdf5;
}

}  // namespace

void try_hdf5(const std::filesystem::path& path, const TableOptions& options) {
  if (!is_hdf5(path)) return;
  leave_hdf5_open_at_exit();
  const pid_t child = ::fork();
  if (child == 0) be_the_child(path, options);
  if (child < 0) return;  // no process to spare: the program goes first itself
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return;
  const int killed_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (killed_by == SIGALRM || killed_by == SIGXCPU)
    throw DataError(fmt::format("{}: is damaged, or too much for libhdf5: it took more than {} s", path.string(),
                                killed_by == SIGALRM ? patience_seconds : processor_seconds));
  if (killed_by != 0 || WEXITSTATUS(status) != 0)
    throw DataError(fmt::format("{}: is damaged: libhdf5 crashes on it", path.string()));
}

}  // namespace hearsay::io

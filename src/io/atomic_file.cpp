#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"

namespace hearsay::io {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse(const fs::path& path, std::string_view why) {
  throw InvalidArgument(fmt::format("{}: cannot be written: {}", path.string(), why));
}

fs::path directory_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

// Created with the permissions an ordinary new file would have, which mkstemp does not give.
int create_temporary(const fs::path& directory, fs::path& temporary) {
  static std::atomic<unsigned> counter{0};
  for (;;) {
    temporary = directory / fmt::format(".hearsay-{}-{}.tmp", ::getpid(), counter++);
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
}

void sync_directory(const fs::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;  // the file is complete under its name; only a power cut in the next seconds could undo it
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

void require_writable(const fs::path& path) {
  if (path.empty()) throw InvalidArgument("an output path is empty");
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) refuse(path, reason(errno));
  if ((exists && S_ISDIR(status.st_mode)) || !path.has_filename()) refuse(path, "it is a directory");
  if (exists && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) refuse(path, reason(errno));
  if (exists && !S_ISREG(status.st_mode)) return;

  const fs::path directory = directory_of(path);
  if (::stat(directory.c_str(), &status) != 0)
    refuse(path, fmt::format("the directory {} does not exist", directory.string()));
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    refuse(path, fmt::format("the directory {}: {}", directory.string(), reason(errno)));
}

AtomicFile::AtomicFile(const fs::path& target) : name_(target.string()), target_(target) {
  require_writable(target);
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    if (exists) target_ = fs::canonical(target);
    descriptor_ = create_temporary(directory_of(target_), temporary_);
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    refuse(target, reason(errno));
  }
  if (exists && !temporary_.empty()) ::fchmod(descriptor_, status.st_mode & 07777);  // best effort: the content matters
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(fmt::format("{}: writing failed: {}", name_, reason(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void AtomicFile::commit() {
  const bool direct = temporary_.empty();
  const bool synced = direct || ::fsync(descriptor_) == 0;
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (!synced || !closed) throw Error(fmt::format("{}: writing failed: {}", name_, reason(errno)));
  if (direct) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0)
    throw Error(fmt::format("{}: renaming {} failed: {}", name_, temporary_.string(), reason(errno)));
  temporary_.clear();
  sync_directory(directory_of(target_));
}

}  // namespace hearsay::io

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

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

constexpr std::string_view temporary_start = ".hearsay-", temporary_end = ".tmp";

fs::path temporary_name(const fs::path& directory) {
  static std::atomic<unsigned> counter{0};
  return directory / fmt::format("{}{}-{}{}", temporary_start, ::getpid(), counter++, temporary_end);
}

// The names temporary_name gives, and no others.
bool is_temporary_name(std::string_view name) {
  if (name.size() <= temporary_start.size() + temporary_end.size() || !name.starts_with(temporary_start) ||
      !name.ends_with(temporary_end))
    return false;
  name.remove_prefix(temporary_start.size());
  name.remove_suffix(temporary_end.size());
  return name.find('-') != name.npos && name.find_first_not_of("0123456789-") == name.npos;
}

// Its maker holds a lock on a temporary file as long as it lives; one that is free was left by a process that is gone.
void remove_if_abandoned(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
      ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    ::unlink(path.c_str());
  ::close(descriptor);
}

// Once for each directory is enough.
void sweep(const fs::path& directory) {
  static std::mutex mutex;
  static std::set<fs::path> swept;
  {
    const std::lock_guard lock(mutex);
    if (!swept.insert(directory).second) return;
  }
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (is_temporary_name(entry->path().filename().string())) found.push_back(entry->path());
  for (const fs::path& path : found) remove_if_abandoned(path);
}

// With the permissions an ordinary new file would have, which mkstemp does not give. -1: errno says why.
int create_named(const fs::path& directory, fs::path& temporary) {
  for (;;) {
    temporary = temporary_name(directory);
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) return descriptor;
    // Who sweeps may have been quicker: then there is no file behind the name, and another is made.
    struct stat status {};
    const bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (locked && ::fstat(descriptor, &status) == 0 && status.st_nlink > 0) return descriptor;
    ::close(descriptor);
  }
}

std::string link_to(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// A file without a name, of which a kill leaves nothing; where the file system has none, one with a name.
int create_temporary(const fs::path& directory, fs::path& temporary) {
  sweep(directory);
  const int descriptor = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor >= 0 && ::access(link_to(descriptor).c_str(), F_OK) == 0) {
    ::flock(descriptor, LOCK_EX | LOCK_NB);  // for the moment it has a temporary name, in commit()
    return descriptor;
  }
  if (descriptor >= 0) ::close(descriptor);  // without /proc there is no way to name it
  return create_named(directory, temporary);
}

// Gives a nameless file a name, which must not be taken yet.
bool give_name(int descriptor, const fs::path& name) {
  return ::linkat(AT_FDCWD, link_to(descriptor).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
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
  direct_ = exists && !S_ISREG(status.st_mode);
  if (direct_) {
    descriptor_ = ::open(target.c_str(), O_WRONLY | O_CLOEXEC | (S_ISFIFO(status.st_mode) ? O_NONBLOCK : 0));
    if (descriptor_ < 0 && errno == ENXIO) refuse(target, "it is a pipe that nobody reads from");
    if (descriptor_ >= 0 && S_ISFIFO(status.st_mode)) ::fcntl(descriptor_, F_SETFL, 0);  // a slow reader is waited for
  } else {
    std::error_code unknown;
    if (exists) target_ = fs::canonical(target, unknown);
    if (unknown) target_ = target;
    descriptor_ = create_temporary(directory_of(target_), temporary_);
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    refuse(target, reason(errno));
  }
  if (exists && !direct_) ::fchmod(descriptor_, status.st_mode & 07777);  // best effort: the content matters
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("writing");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void AtomicFile::commit() {
  if (!direct_ && ::fsync(descriptor_) != 0) fail("writing");
  if (!direct_) put_in_place();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("writing");
  if (!direct_) sync_directory(directory_of(target_));
}

bool AtomicFile::commit_new() {
  if (direct_) return false;
  if (::fsync(descriptor_) != 0) fail("writing");
  if (!take_free_name()) return false;
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("writing");
  sync_directory(directory_of(target_));
  return true;
}

bool AtomicFile::take_free_name() {
  const bool taken = temporary_.empty() ? give_name(descriptor_, name_)
                                        : ::linkat(AT_FDCWD, temporary_.c_str(), AT_FDCWD, name_.c_str(), 0) == 0;
  if (!taken && errno != EEXIST) fail("naming");
  return taken;  // the temporary name, where there is one, goes with this object
}

// The name is the last thing a file gets. A name that is taken can only be taken over by renaming.
void AtomicFile::put_in_place() {
  if (temporary_.empty()) {
    if (give_name(descriptor_, target_)) return;
    if (errno != EEXIST) fail("naming");
    const fs::path name = temporary_name(directory_of(target_));
    if (!give_name(descriptor_, name)) fail("naming");
    temporary_ = name;
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("renaming");
  temporary_.clear();
}

void AtomicFile::fail(std::string_view what) const {
  throw Error(fmt::format("{}: {} failed: {}", name_, what, reason(errno)));
}

}  // namespace hearsay::io

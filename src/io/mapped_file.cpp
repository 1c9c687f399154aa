#include "io/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "hearsay/error.hpp"

namespace hearsay::io {
namespace {

[[noreturn]] void fail_to_map(const std::string& name, int error) {
  if (error == ENOENT) throw DataError(fmt::format("{}: no such file", name));
  throw DataError(fmt::format("{}: cannot be opened: {}", name, std::generic_category().message(error)));
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& name) : number_(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (number_ < 0) fail_to_map(name, errno);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path, Access access) : name_(path.string()) {
  Descriptor file(name_);  // without waiting for who writes to a pipe
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) fail_to_map(name_, errno);
  if (S_ISDIR(status.st_mode)) throw DataError(fmt::format("{}: is a directory, not a file", name_));
  if (!S_ISREG(status.st_mode))
    throw DataError(fmt::format("{}: must be a file on a disk, because it is read where it lies", name_));
  if (status.st_size == 0) throw DataError(fmt::format("{}: the file is empty", name_));
  size_ = static_cast<std::size_t>(status.st_size);
  void* memory = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (memory == MAP_FAILED) fail_to_map(name_, errno);
  ::madvise(memory, size_, access == Access::in_order ? MADV_SEQUENTIAL : MADV_NORMAL);
  try {
    pages_ = WatchedPages(memory, size_);
  } catch (...) {
    ::munmap(memory, size_);
    throw;
  }
  bytes_ = static_cast<const std::uint8_t*>(memory);
  descriptor_ = file.release();
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : name_(std::move(other.name_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      pages_(std::move(other.pages_)),
      bytes_(std::exchange(other.bytes_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(pages_, other.pages_);
  std::swap(bytes_, other.bytes_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  pages_ = WatchedPages();
  if (bytes_ != nullptr) ::munmap(const_cast<std::uint8_t*>(bytes_), size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

void MappedFile::require_whole() const {
  struct stat status {};
  const bool there = ::fstat(descriptor_, &status) == 0 && static_cast<std::size_t>(status.st_size) >= size_;
  if (there && !pages_.lost()) return;
  throw DataError(
      fmt::format("{}: became shorter while it was read: it had {} bytes{}; nothing was made of what is gone", name_,
                  size_, there ? "" : fmt::format(" and has {}", status.st_size)));
}

}  // namespace hearsay::io

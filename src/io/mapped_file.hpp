// The bytes of a file where they lie: mapped, not read. Where somebody shortens the file in the meantime, zeros are
// read of what is gone, and require_whole() says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "io/lost_pages.hpp"

namespace hearsay::io {

/// How the bytes will be read: what the system reads ahead.
enum class Access { in_order, anywhere };

/// Throws DataError where the file is missing, unreadable, a directory or anything else that is no regular file, or
/// empty.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path, Access access = Access::in_order);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::uint8_t> bytes() const { return {bytes_, size_}; }
  const std::string& name() const { return name_; }

  /// Throws DataError where the file has become shorter: whoever used the bytes asks before anything is made of them.
  void require_whole() const;

 private:
  std::string name_;
  int descriptor_ = -1;
  WatchedPages pages_;
  const std::uint8_t* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace hearsay::io

// Mapped pages that their file has no more: whoever shortens a file while it is mapped takes them away, and a process
// that touches one gets SIGBUS. Here zeros take the place of such a page, and it is remembered that they did.
//
// The handler is there while any file is watched, and only for the addresses of watched files; what others get of
// SIGBUS goes to who handled it before.
#pragma once

#include <cstddef>

namespace hearsay::io {

class WatchedPages {
 public:
  WatchedPages() = default;
  /// Throws Error where too many files are watched already.
  WatchedPages(const void* begin, std::size_t bytes);
  WatchedPages(WatchedPages&& other) noexcept;
  WatchedPages& operator=(WatchedPages&& other) noexcept;
  ~WatchedPages();

  /// Whether a page was touched that is there no more.
  bool lost() const;

 private:
  int place_ = -1;
};

}  // namespace hearsay::io

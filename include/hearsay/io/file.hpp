// Files, plain or gzip, read as one stream of bytes; files written whole or not at all; digests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hearsay/export.hpp"

namespace hearsay::io {

/// Which bytes of a gzip file are meant; for a plain file the two are the same.
enum class Content { decompressed, as_stored };

/// A file read from front to back. Gzip is told by its first bytes, not by the name; several members in a row are one
/// file. Throws DataError when the file is missing, unreadable, a directory, empty, or gzip that is truncated, corrupt
/// or inflates to more than 64 MiB and 200 times its size.
class HEARSAY_API InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path, Content content = Content::decompressed);
  InputFile(InputFile&&) noexcept;
  InputFile& operator=(InputFile&&) noexcept;
  ~InputFile();

  /// Fills the front of `buffer` and says how many bytes; fewer than asked for only at the end of the file.
  std::size_t read(std::span<char> buffer);

  /// Leaves out the next bytes of the content: without reading them where the file is a plain one, which may then end
  /// before; DataError where another ends before.
  void skip(std::uint64_t bytes);

  /// Back to the first byte. A pipe cannot go back: DataError.
  void rewind();

  /// The path as it was given: what messages begin with.
  const std::string& name() const;

  /// The first bytes of the content, up to 64, however far the reading has come.
  std::string_view head() const;

  /// No more content than this can come: the size of a plain file, 200 times that of a gzip file or 64 MiB, no bound
  /// for a pipe.
  std::uint64_t content_bound() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The whole content of a file. Throws DataError where it has more than `most` bytes.
HEARSAY_API std::string read_whole(const std::filesystem::path& path, std::uint64_t most = ~std::uint64_t{0});

/// The content of bytes that may be gzip; other bytes come back as they are. Errors begin with `name`.
HEARSAY_API std::string decompress(std::string_view bytes, std::string_view name);

/// A file that appears under its name complete, or not at all. Bytes go to a file without a name, or where the file
/// system knows none to a temporary file beside the target; commit() brings them to the disk and gives the name.
/// Without a commit nothing is left and an old target stays as it was, after a kill too: what a killed process did
/// leave is removed by the next one that writes there. A target that is no regular file (/dev/null, a pipe) is written
/// to directly. Throws as require_writable does, and Error when the disk fails.
class HEARSAY_API AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& target);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::string_view bytes);
  void commit();

  /// The same where nothing has the name, not even a link that leads nowhere. False, and nothing is changed, where
  /// something has: of two that make the same file one succeeds.
  bool commit_new();

 private:
  void put_in_place();
  bool take_free_name();
  [[noreturn]] void fail(std::string_view what) const;  // errno says why

  std::string name_;                 // as given, for messages
  std::filesystem::path target_;     // symbolic links followed
  std::filesystem::path temporary_;  // empty while the file has no name, and after commit()
  bool direct_ = false;              // no regular file, and written as it is
  int descriptor_ = -1;
};

/// Throws InvalidArgument if no file could be written at `path`: the directory is missing or closed to us, or `path` is
/// a directory or a read-only file. Creates and truncates nothing.
HEARSAY_API void require_writable(const std::filesystem::path& path);

/// SHA-256 in lower-case hexadecimal.
HEARSAY_API std::string sha256_hex(std::string_view bytes);
HEARSAY_API std::string sha256_file(const std::filesystem::path& path, Content content = Content::as_stored);

}  // namespace hearsay::io

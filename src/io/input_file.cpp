#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <optional>
#include <system_error>

#include "hearsay/error.hpp"
#include "hearsay/io/built_in.hpp"
#include "hearsay/io/file.hpp"
#include "io/byte_source.hpp"
#include "io/gzip.hpp"

namespace hearsay::io {
namespace {

constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

std::string why_not(int error) { return std::generic_category().message(error); }

}  // namespace

// Bytes already looked at (the first ones, to tell gzip; the head of the content) are kept and handed out first, so
// that reading a pipe loses nothing.
struct InputFile::State {
  std::string name;
  int descriptor = -1;
  std::optional<std::string_view> built_in;  // in place of a descriptor
  std::size_t built_in_read = 0;
  std::uint64_t bound = unbounded;
  bool regular = false;
  std::array<char, 64> head{};
  std::size_t head_size = 0;
  std::size_t head_read = 0;
  std::string magic;  // raw bytes to replay before the descriptor
  std::size_t magic_read = 0;
  std::optional<GzipReader> gzip;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (descriptor >= 0) ::close(descriptor);
  }

  void open() {
    built_in = built_in_file(name);
    if (built_in) {
      bound = built_in->size();
      return;
    }
    descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 && errno == ENOENT) throw DataError(fmt::format("{}: no such file", name));
    if (descriptor < 0) throw DataError(fmt::format("{}: cannot be opened: {}", name, why_not(errno)));
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) throw DataError(fmt::format("{}: {}", name, why_not(errno)));
    if (S_ISDIR(status.st_mode)) throw DataError(fmt::format("{}: is a directory, not a file", name));
    regular = S_ISREG(status.st_mode);
    if (regular) bound = static_cast<std::uint64_t>(status.st_size);
  }

  void look_at_the_start(Content content) {
    magic.resize(2);
    magic.resize(read_stored(magic));
    if (magic.empty()) throw DataError(fmt::format("{}: the file is empty", name));
    if (content == Content::decompressed && is_gzip(magic)) {
      gzip.emplace(
          name, [this](std::span<char> out) { return read_raw(out); }, bound == unbounded ? 0 : bound);
      bound = bound == unbounded ? unbounded : most_inflated(bound);
    }
    head_size = read_content(head);
  }

  std::size_t read_stored(std::span<char> out) {
    if (!built_in) return read_descriptor(out);
    const std::size_t count = built_in->copy(out.data(), out.size(), built_in_read);
    built_in_read += count;
    return count;
  }

  std::size_t read_descriptor(std::span<char> out) {
    std::size_t filled = 0;
    while (filled < out.size()) {
      const ssize_t count = ::read(descriptor, out.data() + filled, out.size() - filled);
      if (count == 0) break;
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw DataError(fmt::format("{}: cannot be read: {}", name, why_not(errno)));
      filled += static_cast<std::size_t>(count);
    }
    return filled;
  }

  std::size_t read_raw(std::span<char> out) {
    const std::size_t replayed = magic.copy(out.data(), out.size(), magic_read);
    magic_read += replayed;
    return replayed + read_stored(out.subspan(replayed));
  }

  std::size_t read_content(std::span<char> out) { return gzip ? gzip->read(out) : read_raw(out); }

  std::size_t read(std::span<char> out) {
    const std::size_t replayed = std::min(out.size(), head_size - head_read);
    std::copy_n(head.data() + head_read, replayed, out.data());
    head_read += replayed;
    return replayed + read_content(out.subspan(replayed));
  }

  void skip(std::uint64_t bytes) {
    const auto in_head = std::min<std::uint64_t>(bytes, head_size - head_read);
    head_read += static_cast<std::size_t>(in_head);
    bytes -= in_head;
    if (regular && !gzip) {
      const auto in_magic = std::min<std::uint64_t>(bytes, magic.size() - magic_read);
      magic_read += static_cast<std::size_t>(in_magic);
      if (::lseek(descriptor, static_cast<off_t>(bytes - in_magic), SEEK_CUR) < 0)
        throw DataError(fmt::format("{}: cannot be read: {}", name, why_not(errno)));
      return;
    }
    std::array<char, 1 << 14> unread;
    while (bytes > 0) {
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, unread.size()));
      if (read_content(std::span(unread).first(part)) != part)
        throw DataError(fmt::format("{}: ends within what was to be left out", name));
      bytes -= part;
    }
  }

  void rewind() {
    if (!built_in && ::lseek(descriptor, 0, SEEK_SET) != 0)
      throw DataError(fmt::format("{}: cannot be read a second time", name));
    built_in_read = 0;
    magic_read = magic.size();
    head_read = head_size;
    if (gzip) gzip->restart();
  }
};

InputFile::InputFile(const std::filesystem::path& path, Content content) : state_(std::make_unique<State>()) {
  state_->name = path.string();
  state_->open();
  state_->look_at_the_start(content);
}

InputFile::InputFile(InputFile&&) noexcept = default;
InputFile& InputFile::operator=(InputFile&&) noexcept = default;
InputFile::~InputFile() = default;

std::size_t InputFile::read(std::span<char> buffer) { return state_->read(buffer); }
void InputFile::skip(std::uint64_t bytes) { state_->skip(bytes); }
void InputFile::rewind() { state_->rewind(); }
const std::string& InputFile::name() const { return state_->name; }
std::string_view InputFile::head() const { return {state_->head.data(), state_->head_size}; }
std::uint64_t InputFile::content_bound() const { return state_->bound; }

std::string read_whole(const std::filesystem::path& path, std::uint64_t most) {
  InputFile file(path);
  const auto on_disk = std::filesystem::is_regular_file(path) ? std::filesystem::file_size(path) : 0;
  return drain(source_of(file), on_disk + 1, most);  // one byte more, so that a plain file ends in the first pull
}

std::string decompress(std::string_view bytes, std::string_view name) {
  if (!is_gzip(bytes)) return std::string(bytes);
  GzipReader gzip(std::string(name), source_of(bytes, name).pull, bytes.size());
  const ByteSource inflated{
      .name = std::string(name), .bound = unbounded, .pull = [&gzip](std::span<char> out) { return gzip.read(out); }};
  return drain(inflated, 4 * bytes.size(), unbounded);
}

}  // namespace hearsay::io

#include "io/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>

#include "hearsay/error.hpp"
#include "io/gzip.hpp"

namespace hearsay::io {
namespace {

constexpr std::uint32_t end_magic = 0x06054b50, end64_magic = 0x06064b50, locator_magic = 0x07064b50,
                        entry_magic = 0x02014b50, local_magic = 0x04034b50;
constexpr std::uint64_t end_bytes = 22, locator_bytes = 20, end64_bytes = 56, entry_bytes = 46, local_bytes = 30;
constexpr std::uint64_t in_zip64 = 0xffffffff;  // of a field: the number is in the extra fields

// Numbers of some bytes, the least first, where they lie; throws where the bytes end before.
class ZipBytes {
 public:
  ZipBytes(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  std::uint64_t size() const { return bytes_.size(); }
  std::string_view part(std::uint64_t at, std::uint64_t count) const {
    if (at > bytes_.size() || count > bytes_.size() - at)
      fail("is damaged: what its directory names lies beyond its end");
    return bytes_.substr(at, count);
  }
  std::uint64_t number(std::uint64_t at, int bytes) const {
    std::uint64_t value = 0;
    const std::string_view from = part(at, static_cast<std::uint64_t>(bytes));
    for (int i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(from[static_cast<std::size_t>(i)]);
    return value;
  }
  [[noreturn]] void fail(std::string_view what) const { throw DataError(fmt::format("{}: {}", name_, what)); }

 private:
  std::string_view bytes_, name_;
};

struct ZipDirectory {
  std::uint64_t at, entries;
};

// The record at the end stands before a comment of up to 65,535 bytes.
ZipDirectory directory_of(const ZipBytes& zip) {
  if (zip.size() < end_bytes) zip.fail("is no .zip file, or not all of one");
  const std::uint64_t last = zip.size() - end_bytes, first = last - std::min<std::uint64_t>(last, 0xffff);
  std::uint64_t at = last;
  while (!(zip.number(at, 4) == end_magic && at + end_bytes + zip.number(at + 20, 2) == zip.size())) {
    if (at == first) zip.fail("is no .zip file, or not all of one: it has no directory at its end");
    --at;
  }
  if (zip.number(at + 4, 2) != 0 || zip.number(at + 6, 2) != 0) zip.fail("is one of several files of a .zip");
  ZipDirectory found{.at = zip.number(at + 16, 4), .entries = zip.number(at + 10, 2)};
  const bool beyond = found.at == in_zip64 || found.entries == 0xffff;
  if (beyond && at >= locator_bytes && zip.number(at - locator_bytes, 4) == locator_magic) {
    const std::uint64_t there = zip.number(at - locator_bytes + 8, 8);
    (void)zip.part(there, end64_bytes);
    if (zip.number(there, 4) != end64_magic) zip.fail("is damaged: its directory is not where it should be");
    found = {.at = zip.number(there + 48, 8), .entries = zip.number(there + 32, 8)};
  }
  if (found.entries > zip.size() / entry_bytes) zip.fail("is damaged: its directory promises more than the file holds");
  return found;
}

// The sizes and the place that did not fit, in the order of the fields that say so.
void take_zip64(const ZipBytes& zip, std::uint64_t at, std::uint64_t length, ZipMember& member) {
  for (const std::uint64_t end = at + length; at + 4 <= end;) {
    const std::uint64_t kind = zip.number(at, 2), bytes = zip.number(at + 2, 2);
    std::uint64_t field = at + 4;
    at = field + bytes;
    if (kind != 1) continue;
    for (std::uint64_t* value : {&member.bytes, &member.stored_bytes, &member.header})
      if (*value == in_zip64 && field + 8 <= at) *value = zip.number(field, 8), field += 8;
  }
}

// One member as it is unpacked.
class ZipStream {
 public:
  ZipStream(std::string name, std::string_view stored, const ZipMember& member)
      : name_(std::move(name)),
        rest_(stored),
        deflated_(member.deflated),
        left_(member.bytes),
        crc_wanted_(member.crc) {
    constexpr int no_header = -15;
    if (deflated_ && inflateInit2(&stream_, no_header) != Z_OK) throw std::bad_alloc();
  }
  ZipStream(const ZipStream&) = delete;
  ZipStream& operator=(const ZipStream&) = delete;
  ~ZipStream() {
    if (deflated_) inflateEnd(&stream_);
  }

  std::size_t pull(std::span<char> out) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), left_));
    std::size_t filled = 0;
    while (filled < wanted) {
      const std::size_t room = std::min<std::size_t>(wanted - filled, std::size_t{1} << 24);
      const std::size_t made = deflated_ ? inflated(out.data() + filled, room) : copied(out.data() + filled, room);
      crc_ = crc32(crc_, reinterpret_cast<const Bytef*>(out.data() + filled), static_cast<uInt>(made));
      filled += made;
      left_ -= made;
    }
    if (left_ == 0 && crc_ != crc_wanted_) fail("its bytes have another checksum than the directory says");
    return filled;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const { throw DataError(fmt::format("{}: {}", name_, what)); }

  std::size_t copied(char* out, std::size_t room) {
    if (rest_.empty()) fail("is truncated");
    const std::size_t count = std::min(room, rest_.size());
    std::copy_n(rest_.data(), count, out);
    rest_.remove_prefix(count);
    return count;
  }

  std::size_t inflated(char* out, std::size_t room) {
    const std::size_t given = std::min<std::size_t>(rest_.size(), std::size_t{1} << 24);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest_.data()));
    stream_.avail_in = static_cast<uInt>(given);
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(room);
    const int verdict = inflate(&stream_, Z_NO_FLUSH);
    rest_.remove_prefix(given - stream_.avail_in);
    const std::size_t made = room - stream_.avail_out;
    if (verdict != Z_OK && verdict != Z_STREAM_END && verdict != Z_BUF_ERROR)
      fail(fmt::format("its deflated data are corrupt ({})", stream_.msg != nullptr ? stream_.msg : zError(verdict)));
    if (made == 0 && (verdict == Z_STREAM_END || rest_.empty())) fail("is truncated");
    return made;
  }

  std::string name_;
  std::string_view rest_;
  bool deflated_;
  std::uint64_t left_;
  std::uint32_t crc_wanted_;
  uLong crc_ = 0;
  z_stream stream_{};
};

}  // namespace

std::vector<ZipMember> zip_members(std::string_view file, std::string_view name) {
  const ZipBytes zip(file, name);
  const ZipDirectory directory = directory_of(zip);
  std::vector<ZipMember> members;
  std::uint64_t at = directory.at;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    (void)zip.part(at, entry_bytes);
    if (zip.number(at, 4) != entry_magic) zip.fail("is damaged: its directory is no directory");
    const std::uint64_t name_bytes = zip.number(at + 28, 2), extra = zip.number(at + 30, 2);
    ZipMember member{.name = std::string(zip.part(at + entry_bytes, name_bytes)),
                     .crc = static_cast<std::uint32_t>(zip.number(at + 16, 4)),
                     .stored_bytes = zip.number(at + 20, 4),
                     .bytes = zip.number(at + 24, 4),
                     .header = zip.number(at + 42, 4)};
    const std::uint64_t method = zip.number(at + 10, 2);
    take_zip64(zip, at + entry_bytes + name_bytes, extra, member);
    if ((zip.number(at + 8, 2) & 1) != 0) zip.fail(fmt::format("{}: is encrypted", member.name));
    if (method != 0 && method != 8)
      zip.fail(fmt::format("{}: is packed by method {}; stored (0) and deflated (8) can be read", member.name, method));
    member.deflated = method == 8;
    if (!member.deflated && member.bytes != member.stored_bytes)
      zip.fail(fmt::format("{}: is stored as it is, and has two sizes", member.name));
    if (member.deflated && member.bytes > most_inflated(member.stored_bytes))
      zip.fail(fmt::format("{}: {} bytes cannot mean {}", member.name, member.stored_bytes, member.bytes));
    (void)zip.part(member.header, local_bytes);
    (void)zip.part(member.header, member.stored_bytes);
    members.push_back(std::move(member));
    at += entry_bytes + name_bytes + extra + zip.number(at + 32, 2);
  }
  return members;
}

ByteSource source_of(std::string_view file, const ZipMember& member, std::string_view name) {
  const std::string where = fmt::format("{}: {}", name, member.name);
  const ZipBytes zip(file, where);
  if (zip.number(member.header, 4) != local_magic) zip.fail("is damaged: it does not begin where the directory says");
  const std::uint64_t begin =
      member.header + local_bytes + zip.number(member.header + 26, 2) + zip.number(member.header + 28, 2);
  auto stream = std::make_shared<ZipStream>(where, zip.part(begin, member.stored_bytes), member);
  return {.name = where, .bound = member.bytes, .pull = [stream](std::span<char> out) { return stream->pull(out); }};
}

}  // namespace hearsay::io

#include "hearsay/protocol/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hearsay/error.hpp"
#include "protocol/crc32c.hpp"
#include "protocol/little_endian.hpp"

namespace hearsay::protocol {
namespace {

constexpr std::uint32_t magic = 0x59535248;  // "HRSY"

// Bytes that a message is given at once: most are shorter, and longer ones are believed as they come.
constexpr std::uint64_t at_once = std::uint64_t{16} << 20;

// Where the fields of the header lie.
enum Place : std::size_t {
  at_magic = 0,
  at_version = 4,
  at_kind = 6,
  at_reserved = 7,
  at_run = 8,
  at_configuration = 16,
  at_epoch = 24,
  at_sender = 28,
  at_round = 32,
  at_message = 40,
  at_offset = 48,
  at_payload = 56,
  at_checksum = 60
};

// Of everything but itself.
std::uint32_t checksum(std::span<const std::byte> frame) {
  return crc32c(frame.subspan(header_bytes), crc32c(frame.first(at_checksum)));
}

[[noreturn]] void refuse(const std::string& what) { throw CommunicationError("a frame " + what); }

// What can be told before the rest is read: whether it is a frame of ours at all, and whole.
void require_frame(std::span<const std::byte> bytes) {
  if (bytes.size() < header_bytes)
    refuse(fmt::format("of {} bytes: must have {} at least, its header", bytes.size(), header_bytes));
  if (const auto word = load<std::uint32_t>(bytes, at_magic); word != magic)
    refuse(fmt::format("that begins with {:08x}: must begin with {:08x}", word, magic));
  if (const auto spoken = load<std::uint16_t>(bytes, at_version); spoken != version)
    refuse(fmt::format("of protocol version {}: must be {}", spoken, version));
  const std::size_t payload = bytes.size() - header_bytes;
  if (const auto said = load<std::uint32_t>(bytes, at_payload); said != payload)
    refuse(fmt::format("of {} bytes after its header: must be {}, as it says", payload, said));
  if (payload > chunk_bytes)
    refuse(fmt::format("of {} bytes after its header: must be {} at most", payload, chunk_bytes));
  if (const auto said = load<std::uint32_t>(bytes, at_checksum), is = checksum(bytes); said != is)
    refuse(fmt::format("whose checksum is {:08x}: must be {:08x}, as it says", is, said));
}

void require_chunk(const Frame& frame, std::uint64_t largest_message) {
  if (frame.message_bytes > largest_message)
    refuse(fmt::format("of a message of {} bytes: must be {} at most", frame.message_bytes, largest_message));
  const std::uint64_t rest = frame.offset <= frame.message_bytes ? frame.message_bytes - frame.offset : 0;
  const bool in_place = frame.offset % chunk_bytes == 0 && (rest > 0 || frame.message_bytes == 0) &&
                        (frame.message_bytes > 0 || frame.offset == 0);
  if (!in_place)
    refuse(fmt::format("at byte {} of a message of {}: must be at a multiple of {} within it", frame.offset,
                       frame.message_bytes, chunk_bytes));
  if (const std::uint64_t length = std::min<std::uint64_t>(chunk_bytes, rest); frame.payload.size() != length)
    refuse(fmt::format("with {} bytes of a message of {} from byte {} on: must have {}", frame.payload.size(),
                       frame.message_bytes, frame.offset, length));
}

}  // namespace

const char* name(FrameKind kind) {
  switch (kind) {
    case FrameKind::hello:
      return "hello";
    case FrameKind::block:
      return "block";
    case FrameKind::gather:
      return "gather";
    case FrameKind::farewell:
      return "farewell";
    case FrameKind::heartbeat:
      return "heartbeat";
    case FrameKind::members:
      return "members";
  }
  return "unknown";
}

FrameBytes to_bytes(const Frame& frame) {
  FrameBytes bytes(header_bytes + frame.payload.size());
  const std::span<std::byte> out(bytes);
  store(out, at_magic, magic);
  store(out, at_version, version);
  store(out, at_kind, static_cast<std::uint8_t>(frame.kind));
  store(out, at_reserved, std::uint8_t{0});
  store(out, at_run, frame.run);
  store(out, at_configuration, frame.configuration);
  store(out, at_epoch, frame.epoch);
  store(out, at_sender, frame.sender);
  store(out, at_round, frame.round);
  store(out, at_message, frame.message_bytes);
  store(out, at_offset, frame.offset);
  store(out, at_payload, static_cast<std::uint32_t>(frame.payload.size()));
  std::copy(frame.payload.begin(), frame.payload.end(), bytes.begin() + header_bytes);
  store(out, at_checksum, checksum(out));
  return bytes;
}

Frame frame_from(std::span<const std::byte> bytes, std::uint64_t largest_message) {
  require_frame(bytes);
  const auto kind = load<std::uint8_t>(bytes, at_kind);
  if (kind < static_cast<std::uint8_t>(FrameKind::hello) || kind > static_cast<std::uint8_t>(FrameKind::members))
    refuse(fmt::format("of kind {}: must lie in [1, 6]", kind));
  if (const auto reserved = load<std::uint8_t>(bytes, at_reserved); reserved != 0)
    refuse(fmt::format("with {} in its reserved byte: must be 0", reserved));
  const Frame frame{.kind = static_cast<FrameKind>(kind),
                    .run = load<std::uint64_t>(bytes, at_run),
                    .configuration = load<std::uint64_t>(bytes, at_configuration),
                    .epoch = load<std::uint32_t>(bytes, at_epoch),
                    .sender = load<std::uint32_t>(bytes, at_sender),
                    .round = load<std::uint64_t>(bytes, at_round),
                    .message_bytes = load<std::uint64_t>(bytes, at_message),
                    .offset = load<std::uint64_t>(bytes, at_offset),
                    .payload = bytes.subspan(header_bytes)};
  require_chunk(frame, largest_message);
  return frame;
}

std::vector<FrameBytes> frames_of(Frame about, std::span<const std::byte> message) {
  std::vector<FrameBytes> frames;
  about.message_bytes = message.size();
  about.offset = 0;
  do {
    about.payload = message.subspan(about.offset, std::min(chunk_bytes, message.size() - about.offset));
    frames.push_back(to_bytes(about));
    about.offset += chunk_bytes;
  } while (about.offset < message.size());
  return frames;
}

void Assembly::clear() {
  begun_ = false;
  length_ = 0;
  bytes_.clear();
  later_.clear();
}

bool Assembly::add(const Frame& frame) {
  const bool first = !begun_;
  if (first) {
    kind_ = frame.kind;
    run_ = frame.run;
    length_ = frame.message_bytes;
    bytes_.reserve(std::min<std::uint64_t>(length_, at_once));
    begun_ = true;
  }
  if (frame.kind != kind_ || frame.message_bytes != length_)
    refuse(fmt::format("of a {} of {} bytes: must be a {} of {}, as its first frame said", name(frame.kind),
                       frame.message_bytes, name(kind_), length_));
  if (length_ == 0) return first;
  if (frame.offset < bytes_.size() || later_.contains(frame.offset)) return false;
  if (frame.offset > bytes_.size()) {
    later_.emplace(frame.offset, std::vector<std::byte>(frame.payload.begin(), frame.payload.end()));
    return true;
  }
  bytes_.insert(bytes_.end(), frame.payload.begin(), frame.payload.end());
  for (auto next = later_.find(bytes_.size()); next != later_.end(); next = later_.find(bytes_.size())) {
    bytes_.insert(bytes_.end(), next->second.begin(), next->second.end());
    later_.erase(next);
  }
  return true;
}

}  // namespace hearsay::protocol

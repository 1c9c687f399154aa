// What travels between two agents: frames, each a header of 64 bytes and a chunk of a message. All numbers are little
// endian, whatever machine wrote them. docs/reference/protocol.md has the layout as a table.
//
// A frame says which run it belongs to, by which configuration, in which membership epoch and round, and who sent it;
// its last word is a checksum of all the rest. Reading one trusts nothing: each field is held against a rule first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "hearsay/export.hpp"

namespace hearsay::protocol {

/// Agents that speak different versions do not speak.
inline constexpr std::uint16_t version = 3;

inline constexpr std::size_t header_bytes = 64;

/// A message longer than this is cut into pieces of this length, the last of which may be shorter.
inline constexpr std::size_t chunk_bytes = std::size_t{256} * 1024;

enum class FrameKind : std::uint8_t {
  hello = 1,  ///< who one is, and what must be the same at both ends
  block,      ///< a round of gossip: votes and a block
  gather,     ///< a round in which what agents said of themselves is handed on
  farewell,   ///< the last frame of a link: how the run ended
  heartbeat,  ///< still here
  members     ///< who takes part from now on: see membership.hpp
};
HEARSAY_API const char* name(FrameKind kind);

struct Frame {
  FrameKind kind = FrameKind::heartbeat;
  std::uint64_t run = 0;            ///< see session.hpp: of a hello the sender's nonce, else an edge's or the run's id
  std::uint64_t configuration = 0;  ///< its digest
  std::uint32_t epoch = 0;          ///< of the membership
  std::uint32_t sender = 0;
  std::uint64_t round = 0;          ///< counted from the beginning of the epoch: gives iteration and gossip round
  std::uint64_t message_bytes = 0;  ///< of the whole message
  std::uint64_t offset = 0;         ///< of this chunk in it
  std::span<const std::byte> payload = {};
};

using FrameBytes = std::vector<std::byte>;

HEARSAY_API FrameBytes to_bytes(const Frame& frame);

/// Borrows the bytes. Throws CommunicationError, which names field, value and rule: bytes that are too few or too many,
/// no frame of ours, another version, a kind that does not exist, a message longer than `largest_message`, a chunk out
/// of place, a checksum that does not hold.
HEARSAY_API Frame frame_from(std::span<const std::byte> bytes, std::uint64_t largest_message);

/// A message as frames, of which `about` has everything but what differs between them.
HEARSAY_API std::vector<FrameBytes> frames_of(Frame about, std::span<const std::byte> message);

/// A message whose frames may arrive in any order, and more than once. It takes memory for what has arrived, not for
/// what was announced.
class HEARSAY_API Assembly {
 public:
  /// False: this chunk was there already. Throws CommunicationError where the frame is of a message of another length
  /// or kind.
  bool add(const Frame& frame);

  /// For another message; keeps the memory.
  void clear();

  bool begun() const { return begun_; }
  bool whole() const { return begun_ && bytes_.size() == length_; }
  FrameKind kind() const { return kind_; }
  std::uint64_t run() const { return run_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  FrameKind kind_ = FrameKind::heartbeat;
  std::uint64_t run_ = 0;
  std::uint64_t length_ = 0;
  std::vector<std::byte> bytes_;                           // up to the first chunk that is missing
  std::map<std::uint64_t, std::vector<std::byte>> later_;  // those behind it, by where they begin
  bool begun_ = false;
};

}  // namespace hearsay::protocol

// What carries frames between one agent and its neighbours. The protocol (protocol/session.hpp) decides what the frames
// say; a driver of this interface decides how they travel: simulated, between threads, over MPI, over gRPC.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

/// Something that came out of the links.
struct LinkEvent {
  enum class Kind {
    frame,   ///< a whole frame of a neighbour
    closed,  ///< the link to this neighbour is gone, with the reason; may come again as `opened`
    opened,  ///< a link is (again) there
    idle     ///< nothing until the deadline
  };
  Kind kind = Kind::idle;
  Index peer = -1;  ///< agent number
  std::vector<std::byte> frame = {};
  std::string reason = {};  ///< of `closed`
};

class HEARSAY_API Links {
 public:
  Links() = default;
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  /// Ends the links; what was taken is still handed over, as far as that takes no more than a moment: the last frame of
  /// a run says how it ended.
  virtual ~Links() = default;

  virtual Index self() const = 0;                         ///< this agent's number
  virtual std::span<const Index> neighbours() const = 0;  ///< ascending

  /// Takes the frame over. Frames to one neighbour arrive in the order they were sent, or the link closes. Never waits
  /// for the neighbour longer than until the deadline; false: not taken (no link, or its buffer is still full then).
  virtual bool send(Index peer, std::vector<std::byte> frame, double deadline) = 0;

  /// The next event, waiting no longer than until the deadline (seconds of now()).
  virtual LinkEvent poll(double deadline) = 0;

  /// Calls may come from more than one thread, one at a time: then this agent gives signs of life while it computes.
  virtual bool any_thread() const { return false; }

  /// Seconds on a clock that never goes back. The protocol has no clock but this.
  virtual double now() const = 0;
};

}  // namespace hearsay

// Links whose frames the caller carries, by whatever way it has: a broker, a hub, mail. The agent runs on one thread;
// the calls of the carrier come from any other.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "hearsay/export.hpp"
#include "hearsay/links.hpp"

namespace hearsay {

/// A frame on its way, and the agent it is for.
struct CarriedFrame {
  Index to = 0;
  std::vector<std::byte> bytes = {};
};

/// What the agent's thread ends with when nobody carries for it any more; no std::exception, so that no farewell is
/// written that would not arrive.
struct Abandoned {};

class HEARSAY_API HandLinks final : public Links {
 public:
  enum class Clock {
    own,  ///< the machine's
    told  ///< the carrier's: time stands still between two calls of tell()
  };

  /// Every link is there to begin with. At most `buffer` bytes of frames that were not yet looked at are kept of each
  /// neighbour, and one frame at least.
  HandLinks(Index self, std::vector<Index> neighbours, Clock clock = Clock::own,
            std::size_t buffer = std::size_t{16} << 20);

  // ---- The carrier --------------------------------------------------------------------------------------------------

  /// A frame of a neighbour, as it was taken there. Waits for room until so many seconds have passed; false: there is
  /// none. What comes after the end is dropped. Throws InvalidArgument for an agent that is no neighbour, as do the
  /// next two.
  bool receive(Index from, std::span<const std::byte> frame, double wait);

  /// The way to a neighbour is gone, and what was taken for it but not carried; or is there again.
  void closed(Index peer, const std::string& reason);
  void opened(Index peer);

  /// Of the told clock, in seconds. Throws InvalidArgument where time would go back.
  void tell(double seconds);

  /// Waits until the agent has come to rest (it has ended, or waits for frames or for time to pass) or until so many
  /// seconds have passed: whether it has.
  bool rests(double wait);

  /// All that it wants to have sent, in the order in which it is to arrive.
  std::vector<CarriedFrame> take();

  /// Waits until there is something to take or the agent has ended, or so many seconds.
  bool await_frames(double wait);

  /// The agent has ended, and nothing is left to take.
  bool done() const;

  /// Lets the agent's next call throw Abandoned.
  void abandon();

  /// The agent's thread is through.
  void end();

  // ---- The agent ----------------------------------------------------------------------------------------------------

  Index self() const override { return self_; }
  std::span<const Index> neighbours() const override { return neighbours_; }
  /// Takes what it is given as long as there is a way: no agent is more than a round ahead, which bounds what can wait.
  bool send(Index peer, std::vector<std::byte> frame, double deadline) override;
  LinkEvent poll(double deadline) override;
  double now() const override;

 private:
  struct Way {
    bool open = true;
    std::size_t waiting = 0;  // bytes of its frames in the inbox
  };

  Way& way(Index peer);
  double time() const;  // the mutex is held
  bool at_rest() const;
  void push(LinkEvent event);

  const Index self_;
  const std::vector<Index> neighbours_;
  const Clock clock_;
  const std::size_t buffer_;
  const double began_;
  mutable std::mutex mutex_;
  std::condition_variable for_agent_, for_carrier_;
  std::map<Index, Way> ways_;
  std::deque<LinkEvent> inbox_;
  std::vector<CarriedFrame> outbox_;
  double told_ = 0, deadline_ = 0;
  bool waits_ = false, ended_ = false, abandoned_ = false;
};

}  // namespace hearsay

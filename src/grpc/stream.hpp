// One call between two agents, whichever end began it, and the hub that all calls of an agent share.
//
// gRPC reports on threads of its own. Every function here that is not a reaction wants the hub's mutex held; reactions
// take it. gRPC never runs a reaction inside the call that starts an operation, so operations may be started under it.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hearsay/grpc.hpp"
#include "hearsay/links.hpp"

namespace hearsay::over_grpc {

struct Hub;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(Hub& hub, std::size_t edge, bool dialled) : hub_(hub), edge_(edge), dialled_(dialled) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  bool dialled() const { return dialled_; }
  bool up() const { return up_ && !over_; }

  bool has_room(std::size_t bytes) const;  ///< for one more frame to send
  void offer(std::vector<std::byte> frame);
  void was_read(std::size_t bytes);  ///< the agent took a frame: there is room for another
  void leave();                      ///< what was offered, and then a clean end
  void drop(std::string reason);     ///< the end, now

 protected:
  virtual void start_read() = 0;
  virtual void start_write() = 0;
  virtual void end_cleanly() = 0;
  virtual void end_now() = 0;  ///< once; nothing is started from then on

  void keep_alive() { self_ = shared_from_this(); }  ///< until ended()
  void come_up(PeerFacts facts);
  void read_done(bool ok);
  void write_done(bool ok);
  void finish();                   ///< end_now(), the first time
  void ended(std::string reason);  ///< the last reaction; `this` may be gone afterwards

  Hub& hub_;
  std::size_t edge_;
  bool dialled_;
  grpc::ByteBuffer incoming_;
  std::deque<std::pair<grpc::ByteBuffer, std::size_t>> outbox_;  // and their sizes
  std::string why_;                                              // we ended it
  bool over_ = false;

 private:
  friend struct Hub;
  void read_on();
  void go_on_writing();

  std::shared_ptr<Stream> self_;
  std::size_t outbox_bytes_ = 0, unread_bytes_ = 0;
  bool up_ = false, reading_ = false, writing_ = false, leaving_ = false, left_ = false, reported_ = false;
  bool broken_ = false;  // nothing can be sent any more, and what the other end has sent is still read
};

/// The link to one neighbour, with or without a call at the moment.
struct Edge {
  GrpcPeer peer;
  std::shared_ptr<grpc::Channel> channel = {};  ///< where this end dials
  std::shared_ptr<Stream> stream = {};
  std::unique_ptr<grpc::Alarm> redial = {};
  double wait_seconds = 0;
  std::string trouble = {};
  LinkTraffic traffic = {};
  PeerFacts facts = {};
};

struct Arrival {
  LinkEvent event;
  std::shared_ptr<Stream> from = {};  ///< of a frame
};

struct Hub {
  explicit Hub(GrpcOptions from);

  std::size_t buffer_bytes() const { return options.largest_frame * options.buffered_frames; }
  Edge* edge_of(Index agent);
  void hear(std::string refusal);   ///< keeps the newest few; wants no mutex held or any
  std::vector<std::string> told();  ///< what was heard since
  void report_closed(Stream& stream, std::string reason);
  void redial_later(std::size_t edge);
  void dial(std::size_t edge);

  GrpcOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Edge> edges;
  std::deque<Arrival> arrivals;
  std::vector<std::shared_ptr<Stream>> finished;  ///< to be freed by the agent's own thread
  std::int64_t alive = 0;                         ///< streams and alarms that gRPC will still report on
  bool closing = false;

 private:
  std::mutex hearing_;  // gRPC may log in a call that is made with the other mutex held
  std::deque<std::string> refusals_;
};

/// Keys of what the two ends tell each other before the first frame.
inline constexpr char method_name[] = "/hearsay.Agents/Exchange";
inline constexpr char from_key[] = "hearsay-from", to_key[] = "hearsay-to", federation_key[] = "hearsay-federation",
                      protocol_key[] = "hearsay-transport", version_key[] = "hearsay-version",
                      clock_key[] = "hearsay-clock", purpose_key[] = "hearsay-purpose";
inline constexpr char protocol_version[] = "1";

inline constexpr char check_purpose[] = "check";

std::string clock_text();
PeerFacts facts_from(const std::string& told_version, const std::string& told_clock);

/// Calls the neighbour.
std::shared_ptr<Stream> dialled_stream(Hub& hub, std::size_t edge);

}  // namespace hearsay::over_grpc

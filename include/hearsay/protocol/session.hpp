// One agent's side of the protocol as a state machine: frames in, frames out. It opens nothing, waits for nobody and
// has no clock: time is told to it, in seconds. LinkNetwork (link_network.hpp) drives it over Links; a test or a
// binding may as well.
//
//   greeting  hellos go both ways on every edge: facts that must be the same at both ends, and a nonce of this run's
//             own; each end repeats the other's. So a hello is known to be fresh, and an edge gets an id of both nonces
//   talking   rounds: one message to each neighbour and one from each; complete when all are there. The nonces of all
//             agents, gathered in the first rounds, make the run's id
//   changing  where agents that are gone are to be left out: those that are left agree on who they are
//   (membership.hpp),
//             and talk again, in an epoch of their own whose rounds are counted anew
//   ended     a farewell was said on every link, the last frame there: how the run ended, and where that began
//
// Frames of another run, of rounds that are over, and copies are dropped and counted; the next round's are kept; what
// is further ahead, or not what it should be, ends the run with an error that names agent, field, value and rule. A
// link that breaks and comes back loses nothing: both rounds that the other end may still need are sent again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "hearsay/protocol/arrivals.hpp"
#include "hearsay/protocol/frame.hpp"
#include "hearsay/protocol/membership.hpp"
#include "hearsay/transport.hpp"

namespace hearsay::protocol {

/// In seconds.
struct Patience {
  /// Until all neighbours have said hello; those who have are then waited for until their own neighbours have too.
  double greeting = 60;
  /// For a neighbour's message of a round, from when this agent sent its own. One that is silent is waited for that
  /// long at most, or less where it gives signs of life whatever it computes: as long as its frames were ever apart,
  /// and a good deal more, but a quarter of this at least. One whose heartbeats come is waited for twice as long: it
  /// may be waiting itself, and whoever knows for whom tells. One that says that it computes, ten times as long.
  double round = 60;
  double link = 10;      ///< that a link may be gone during a run
  double heartbeat = 1;  ///< between two signs of life
};

/// How a run ended at an agent.
struct Ending {
  enum class Kind : std::uint32_t {
    finished,
    error,
    invalid_argument,
    data_error,
    communication_error,
    left_out,  ///< others go on, or may: said over one link by whoever does not use it any more
    gone       ///< an agent or a link is: everyone may take the run up again, when all are there
  };
  Kind kind = Kind::finished;
  Index origin = 0;          ///< the agent that it began at
  std::string message = {};  ///< without that agent's name

  bool failed() const { return kind != Kind::finished; }
};

/// Agents that are gone are left out, and the others go on.
struct Exclusion {
  Index quorum = 0;                                 ///< fewer than these stop; more than half of all agents
  std::vector<std::pair<Index, Index>> edges = {};  ///< of the whole graph
};

struct SessionOptions {
  Index self = 0;
  Index agents = 1;
  std::vector<Index> neighbours = {};       ///< ascending
  std::vector<std::string> names = {};      ///< of all agents, for messages; may be empty
  std::uint64_t nonce = 0;                  ///< unlike that of any other run of this agent, and not 0
  std::uint64_t configuration = 0;          ///< its digest
  std::vector<Fact> facts = {};             ///< what must be the same at both ends of an edge
  std::uint64_t agreement_rounds = 0;       ///< after which the run's id is known: the diameter of the graph
  bool beats = false;                       ///< gives signs of life while it computes, too
  std::uint64_t largest_message = 1 << 20;  ///< in bytes: a longer one is refused before memory is taken for it
  Patience patience = {};
  std::optional<Exclusion> exclusion = {};  ///< none: an agent that is gone ends the run
  /// Where a run that an agent's loss ended is taken up again by a session of its own: each has a higher number than
  /// those that are lost, and who is behind catches up. Empty: there is one session and no other.
  std::optional<std::uint64_t> attempt = {};
};

/// What came and went on one link.
struct PeerCounts {
  Index peer = 0;
  std::int64_t frames_sent = 0, bytes_sent = 0;
  std::int64_t frames_received = 0, bytes_received = 0;
  std::int64_t duplicates = 0;  ///< frames that were there already
  std::int64_t stale = 0;       ///< of rounds that are over
  std::int64_t foreign = 0;     ///< of another run
  std::int64_t reconnections = 0;
  double waited = 0;  ///< seconds from this agent's own message to the neighbour's, over all rounds
};

class HEARSAY_API Session {
 public:
  enum class State { greeting, talking, changing, ended };

  /// Throws InvalidArgument for options that cannot be.
  Session(SessionOptions options, double now);

  State state() const { return state_; }
  const SessionOptions& options() const { return options_; }

  // ---- What comes in ------------------------------------------------------------------------------------------------

  void received(Index peer, std::span<const std::byte> frame, double now);
  void opened(Index peer, double now);
  void closed(Index peer, const std::string& reason, double now);

  /// The agent computes, or waits for its neighbours: they are told by its signs of life.
  void set_computing(bool computes) { computes_ = computes; }

  /// Time has passed: deadlines, signs of life. next_tick() is when that has something to do.
  void tick(double now);
  double next_tick() const;

  // ---- What goes out ------------------------------------------------------------------------------------------------

  /// The next frame for this neighbour, or null; sent() takes it off the queue.
  const FrameBytes* next_frame(Index peer) const;
  void sent(Index peer, double now);
  bool nothing_to_send() const;

  // ---- Rounds -------------------------------------------------------------------------------------------------------

  /// The same message for every neighbour, or one for each in their order. Only while talking, and when the last round
  /// is complete.
  void begin_round(FrameKind kind, std::span<const std::byte> message, double now);
  void begin_round(FrameKind kind, const std::vector<std::vector<std::byte>>& messages, double now);

  bool round_complete() const;
  std::uint64_t rounds_begun() const { return begun_; }

  /// What the neighbour said in the round that is complete.
  std::span<const std::byte> heard(Index peer) const;

  /// The id of all rounds from here on, after the agreement's: until then each edge has its own, which only its two
  /// ends know.
  void set_run(std::uint64_t run);
  std::uint64_t run() const { return run_; }

  // ---- Members ------------------------------------------------------------------------------------------------------

  /// Grows when other members take part from then on, and rounds are counted from 0 again.
  std::uint32_t epoch() const { return epoch_; }
  const View& view() const { return view_; }

  /// How far this agent is, for the others to hear of when members change.
  void set_standing(const Standing& standing) { standing_ = standing; }

  /// Another member has ended well, and so knows that all of them hold the result that this one holds.
  bool concluded() const { return concluded_; }

  /// The link to this neighbour is not used any more.
  bool is_cut(Index peer) const { return this->peer(peer).cut; }

  /// Of the session that may follow this one: beyond its own, and none that a neighbour is ahead by.
  std::uint64_t next_attempt() const { return std::max(options_.attempt.value_or(0) + 1, heard_attempt_); }
  bool run_known() const { return run_known_; }

  // ---- The end ------------------------------------------------------------------------------------------------------

  /// Says farewell to everyone; nothing else is sent any more.
  void leave(const Ending& ending);

  /// Why the run is over, other than by leave().
  const std::optional<Ending>& failure() const { return failure_; }

  /// Every neighbour has said farewell too.
  bool everyone_left() const;

  const PeerCounts& counts(Index peer) const;
  const std::optional<Ending>& farewell_of(Index peer) const;

  /// "agent 3", or "agent 3 (leeds)".
  std::string name_of(Index agent) const;

 private:
  using Frames = std::vector<FrameBytes>;
  struct Queued {
    std::shared_ptr<const Frames> frames;
    std::size_t next = 0;
  };
  struct Peer {
    Index agent = 0;
    bool gone = false;  // its link is
    bool cut = false;   // out of use, for good
    double gone_since = 0;
    std::string reason = {};
    std::uint64_t nonce = 0;   // that it confirmed to be its own by repeating ours
    std::uint64_t echoed = 0;  // of its nonces, the last that we repeated
    int answers = 0;           // hellos that were sent to answer one
    Assembly current = {}, next = {};
    std::optional<Ending> farewell = {};
    std::uint64_t farewell_round = 0;
    std::deque<Queued> queue = {};
    std::shared_ptr<const Frames> latest = {}, previous = {}, goodbye = {}, members = {};  // what it may need again
    double heard_at = 0, sent_at = 0;
    bool computes = false, beats = false;  // as it said in its last sign of life
    Arrivals arrivals = {};
    PeerCounts counts = {};
  };

  Peer& peer(Index agent);
  const Peer& peer(Index agent) const;
  std::uint64_t edge_id(const Peer& peer) const;
  std::uint64_t expected_run(const Peer& peer, std::uint64_t round) const;
  Frame about(FrameKind kind, std::uint64_t run) const;
  void queue(Peer& to, Frame frame, std::span<const std::byte> message);
  void say_hello(Peer& to, std::uint64_t echo);

  void take(Peer& from, const Frame& frame, double now);
  void take_hello(Peer& from, const Frame& frame, double now);
  void confirm(Peer& from, std::uint64_t nonce, double now);
  bool catch_up(Peer& from, std::uint64_t attempt);
  void take_farewell(Peer& from, const Frame& frame, double now);
  void take_round(Peer& from, const Frame& frame, double now);
  void take_members(Peer& from, const Frame& frame, double now);
  bool excludes() const { return membership_.has_value() && run_known_; }
  void lose(Peer& from, const std::string& what, double now);
  void cut(Peer& from, const std::string& why, double now);
  void begin_change(double now);
  void spread(double now);
  void install(View view, double now);
  void look_for_members(double now);
  double limit_while_changing(const Peer& peer) const;
  double next_of_change() const;
  void begin(FrameKind kind, double now);
  void look_for_missing(double now);
  void look_for_greetings(double now);
  double limit_for(const Peer& peer) const;
  double quiet_limit(const Peer& peer) const;
  void take_heartbeat(Peer& from, const Frame& frame);
  void fail(Ending ending);
  void fail(const std::string& message, Ending::Kind kind = Ending::Kind::communication_error);
  void say_farewell(const Ending& ending);
  void say_farewell(Peer& to, const Ending& ending);

  SessionOptions options_;
  State state_ = State::greeting;
  bool computes_ = false;
  std::vector<Peer> peers_;
  std::uint32_t epoch_ = 0;
  std::uint64_t run_ = 0;
  bool run_known_ = false;
  std::optional<Membership> membership_;
  View view_ = {};
  Standing standing_ = {};
  bool concluded_ = false;
  std::uint64_t heard_attempt_ = 0;
  double news_at_ = 0;                 // of a change
  std::uint64_t begun_ = 0;            // rounds
  FrameKind kind_ = FrameKind::block;  // of the round in progress
  double started_, round_began_ = 0;
  std::optional<Ending> failure_;
};

/// FNV-1a over numbers and over text, the same on every machine.
HEARSAY_API std::uint64_t mixed_digest(std::span<const std::uint64_t> numbers);
HEARSAY_API std::uint64_t text_digest(std::string_view text);

}  // namespace hearsay::protocol

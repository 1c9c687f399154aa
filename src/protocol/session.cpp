#include "hearsay/protocol/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hearsay/error.hpp"
#include "network/bytes.hpp"
#include "network/failure.hpp"

namespace hearsay::protocol {
namespace {

using detail::ByteReader;
using detail::ByteWriter;

constexpr const char* whose = "a message between agents";

// A peer that is what it should be needs two answers, and two more each time its link breaks.
constexpr int most_answers = 1000;

// Of a farewell, so that it fits wherever a message does; and of a hello.
constexpr std::size_t longest_message = 1000;
constexpr std::uint64_t largest_greeting = chunk_bytes;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

void validate(const SessionOptions& options) {
  const Index n = options.agents;
  require(n >= 1 && n <= std::numeric_limits<std::int32_t>::max(),
          fmt::format("agents = {}: must lie in [1, 2^31)", n));
  require(options.self >= 0 && options.self < n, fmt::format("agent {}: must lie in [0, {})", options.self, n));
  require(options.nonce != 0, "nonce = 0: must be another number, new for every run");
  Index last = -1;
  for (const Index neighbour : options.neighbours) {
    require(neighbour > last && neighbour < n && neighbour != options.self,
            fmt::format("neighbour {} of agent {}: must be other agents in [0, {}), ascending", neighbour, options.self,
                        n));
    last = neighbour;
  }
  if (options.exclusion)
    require(Membership::largest_message(n, options.exclusion->edges.size()) <= chunk_bytes,
            fmt::format("{} agents with {} edges: are too many to leave out who is gone", n,
                        options.exclusion->edges.size()));
  for (const double seconds : {options.patience.greeting, options.patience.round, options.patience.heartbeat})
    require(seconds > 0, fmt::format("patience of {} s: must be positive", seconds));
  require(options.patience.link >= 0, fmt::format("patience of {} s: must not be negative", options.patience.link));
}

std::string differences(const std::vector<Fact>& ours, const std::vector<Fact>& theirs) {
  const auto value_in = [](const std::vector<Fact>& facts, const std::string& what) -> std::string {
    const auto found = std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.what == what; });
    return found == facts.end() ? "nothing" : found->value.empty() ? "none" : found->value;
  };
  std::string all;
  const auto compare = [&](const std::string& what) {
    const std::string a = value_in(ours, what), b = value_in(theirs, what);
    if (a != b) all += fmt::format("{}{} = {} there, and {} here", all.empty() ? "" : "; ", what, b, a);
  };
  for (const Fact& fact : ours) compare(fact.what);
  for (const Fact& fact : theirs)
    if (value_in(ours, fact.what) == "nothing") compare(fact.what);
  return all;
}

}  // namespace

std::uint64_t mixed_digest(std::span<const std::uint64_t> numbers) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const std::uint64_t number : numbers)
    for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ (number >> shift & 0xff)) * 0x100000001b3ull;
  return hash;
}

std::uint64_t text_digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ull;
  return hash;
}

Session::Session(SessionOptions options, double now) : options_(std::move(options)), started_(now) {
  validate(options_);
  for (const Index neighbour : options_.neighbours) {
    Peer& to = peers_.emplace_back();
    to.agent = to.counts.peer = neighbour;
    to.heard_at = to.sent_at = now;
    say_hello(to, 0);
  }
  if (options_.exclusion)
    membership_.emplace(options_.agents, options_.self, options_.exclusion->edges, options_.exclusion->quorum);
  if (peers_.empty()) state_ = State::talking;
}

std::string Session::name_of(Index agent) const {
  const auto i = static_cast<std::size_t>(agent);
  return i < options_.names.size() && !options_.names[i].empty()
             ? fmt::format("agent {} ({})", agent, options_.names[i])
             : fmt::format("agent {}", agent);
}

const Session::Peer& Session::peer(Index agent) const {
  const auto found = std::lower_bound(peers_.begin(), peers_.end(), agent,
                                      [](const Peer& peer, Index wanted) { return peer.agent < wanted; });
  require(found != peers_.end() && found->agent == agent,
          fmt::format("agent {}: is no neighbour of agent {}", agent, options_.self));
  return *found;
}

Session::Peer& Session::peer(Index agent) { return const_cast<Peer&>(std::as_const(*this).peer(agent)); }

// ---- Identity -------------------------------------------------------------------------------------------------------

std::uint64_t Session::edge_id(const Peer& with) const {
  const bool first = options_.self < with.agent;
  const std::uint64_t numbers[] = {options_.configuration, first ? options_.nonce : with.nonce,
                                   first ? with.nonce : options_.nonce};
  return mixed_digest(numbers);
}

std::uint64_t Session::expected_run(const Peer& with, std::uint64_t round) const {
  return epoch_ == 0 && round < options_.agreement_rounds ? edge_id(with) : run_;
}

Frame Session::about(FrameKind kind, std::uint64_t run) const {
  return {.kind = kind,
          .run = run,
          .configuration = options_.configuration,
          .epoch = epoch_,
          .sender = static_cast<std::uint32_t>(options_.self),
          .round = begun_};
}

void Session::set_run(std::uint64_t run) {
  require(epoch_ == 0 && begun_ == options_.agreement_rounds && !run_known_,
          fmt::format("the run's id: must be set once, after {} rounds and not after {}", options_.agreement_rounds,
                      begun_));
  run_ = run;
  run_known_ = true;
}

// ---- What goes out --------------------------------------------------------------------------------------------------

void Session::queue(Peer& to, Frame frame, std::span<const std::byte> message) {
  to.queue.push_back({std::make_shared<const Frames>(frames_of(frame, message)), 0});
}

void Session::say_hello(Peer& to, std::uint64_t echo) {
  ByteWriter writer;
  writer.put(echo);
  writer.put(static_cast<std::uint64_t>(options_.facts.size()));
  for (const Fact& fact : options_.facts) {
    writer.put(std::string_view(fact.what));
    writer.put(std::string_view(fact.value));
  }
  require(writer.bytes().size() <= largest_greeting,
          fmt::format("facts of {} bytes: must be {} at most", writer.bytes().size(), largest_greeting));
  to.echoed = echo;
  Frame frame = about(FrameKind::hello, options_.nonce);
  frame.round = options_.attempt.value_or(0);
  queue(to, frame, bytes_of(writer.bytes()));
}

const FrameBytes* Session::next_frame(Index agent) const {
  const Peer& to = peer(agent);
  return to.queue.empty() ? nullptr : &(*to.queue.front().frames)[to.queue.front().next];
}

void Session::sent(Index agent, double now) {
  Peer& to = peer(agent);
  Queued& front = to.queue.front();
  ++to.counts.frames_sent;
  to.counts.bytes_sent += static_cast<std::int64_t>((*front.frames)[front.next].size());
  to.sent_at = now;
  if (++front.next == front.frames->size()) to.queue.pop_front();
}

bool Session::nothing_to_send() const {
  return std::all_of(peers_.begin(), peers_.end(),
                     [](const Peer& to) { return to.gone || to.cut || to.queue.empty(); });
}

// ---- What comes in --------------------------------------------------------------------------------------------------

void Session::opened(Index agent, double now) {
  Peer& to = peer(agent);
  if (to.gone) ++to.counts.reconnections;
  to.gone = false;
  to.heard_at = now;
  if (to.farewell) return;
  to.queue.clear();  // it went to a link that is no more
  if (state_ != State::ended) say_hello(to, to.nonce != 0 ? to.nonce : to.echoed);
  for (const auto& message : {to.members, to.previous, to.latest, to.goodbye})
    if (message) to.queue.push_back({message, 0});
}

void Session::closed(Index agent, const std::string& reason, double now) {
  Peer& from = peer(agent);
  if (!from.gone) from.gone_since = now;
  from.gone = true;
  from.reason = reason;
  from.queue.clear();
  if (state_ != State::ended) tick(now);
}

void Session::received(Index agent, std::span<const std::byte> bytes, double now) {
  Peer& from = peer(agent);
  if (from.beats && !from.gone) from.arrivals.add(now - from.heard_at);
  ++from.counts.frames_received;
  from.counts.bytes_received += static_cast<std::int64_t>(bytes.size());
  from.heard_at = now;
  from.gone = false;
  try {
    const Frame frame = frame_from(bytes, std::max(options_.largest_message, largest_greeting));
    if (from.cut && frame.kind != FrameKind::hello && frame.kind != FrameKind::farewell) return;
    if (frame.sender != static_cast<std::uint64_t>(agent))
      throw CommunicationError(
          fmt::format("a frame whose sender is {}: must be {}, whose link it came by", frame.sender, agent));
    take(from, frame, now);
  } catch (const CommunicationError& error) {
    if (state_ != State::ended && !from.cut) fail(fmt::format("{} sent {}", name_of(agent), error.what()));
  }
  if (state_ == State::talking) look_for_missing(now);
}

void Session::take(Peer& from, const Frame& frame, double now) {
  switch (frame.kind) {
    case FrameKind::hello:
      return take_hello(from, frame, now);
    case FrameKind::farewell:
      return take_farewell(from, frame, now);
    case FrameKind::heartbeat:
      return take_heartbeat(from, frame);
    case FrameKind::block:
    case FrameKind::gather:
      if (state_ == State::ended) return;
      if (!membership_ || (frame.epoch == epoch_ && state_ != State::changing)) return take_round(from, frame, now);
      ++from.counts.stale;  // of an epoch that is over, or about to be
      return;
    case FrameKind::members:
      return take_members(from, frame, now);
  }
}

// A hello that repeats our nonce was written in this run. One that does not may be its writer's first, or a copy from
// another time: it is answered, and believed in nothing.
void Session::take_hello(Peer& from, const Frame& frame, double now) {
  if (state_ == State::ended) return;
  if (frame.offset != 0 || frame.payload.size() != frame.message_bytes)
    throw CommunicationError(fmt::format("a hello of {} bytes: must be {} at most", frame.message_bytes, chunk_bytes));
  ByteReader reader(text_of(frame.payload), whose);
  const auto echo = reader.get<std::uint64_t>();
  std::vector<Fact> facts(reader.count(2 * sizeof(std::uint64_t)));
  for (Fact& fact : facts) {
    fact.what = reader.text();
    fact.value = reader.text();
  }
  reader.require_end();
  if (frame.run == 0) throw CommunicationError("a hello with nonce = 0: must be another number");
  const bool fresh = echo == options_.nonce;
  if (from.echoed != frame.run && from.answers < most_answers) {
    ++from.answers;
    say_hello(from, frame.run);
  }
  if (!fresh) {
    if (echo != 0) ++from.counts.foreign;
    return;
  }
  if (const std::string differ = differences(options_.facts, facts); !differ.empty())
    return fail(fmt::format("{} does not mean the same run: {}", name_of(from.agent), differ));
  if (frame.configuration != options_.configuration)
    return fail(fmt::format("{} does not mean the same run: configuration = {:016x} there, and {:016x} here",
                            name_of(from.agent), frame.configuration, options_.configuration));
  if (catch_up(from, frame.round)) confirm(from, frame.run, now);
}

// All go by the highest number that any has. One that is behind hears of it by our hello.
bool Session::catch_up(Peer& from, std::uint64_t attempt) {
  const std::uint64_t own = options_.attempt.value_or(0);
  if (!options_.attempt && attempt > 0)
    throw CommunicationError(fmt::format("a hello of attempt {}: must be 0, for this run has no other", attempt));
  if (attempt <= own) return attempt == own;
  heard_attempt_ = std::max(heard_attempt_, attempt);
  if (state_ != State::greeting) {
    fail(fmt::format("{} takes the run up again", name_of(from.agent)), Ending::Kind::gone);
    return false;
  }
  options_.attempt = attempt;
  for (Peer& to : peers_) {
    say_hello(to, to.nonce != 0 ? to.nonce : to.echoed);
    to.nonce = 0;  // of an attempt that is over
  }
  return true;
}

void Session::confirm(Peer& from, std::uint64_t nonce, double now) {
  if (from.nonce == nonce) return;
  if (from.cut || (from.nonce != 0 && excludes())) {  // it may know now that it is not waited for
    from.nonce = nonce;
    const std::string what = "it was started again during the run";
    return from.cut ? say_farewell(from, {.kind = Ending::Kind::left_out, .origin = options_.self, .message = what})
                    : cut(from, what, now);
  }
  if (from.nonce != 0 && begun_ > 0)
    return fail(
        fmt::format("{} has begun anew, and {} was in round {}", name_of(from.agent), name_of(options_.self), begun_),
        Ending::Kind::gone);
  from.nonce = nonce;
  from.next = {};
  if (state_ == State::greeting &&
      std::all_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.nonce != 0; }))
    state_ = State::talking;
}

void Session::take_farewell(Peer& from, const Frame& frame, double now) {
  if (from.nonce == 0 || frame.run != edge_id(from)) {
    ++from.counts.foreign;
    return;
  }
  if (from.farewell) {
    ++from.counts.duplicates;
    return;
  }
  if (frame.payload.size() != frame.message_bytes)
    throw CommunicationError(
        fmt::format("a farewell of {} bytes: must be {} at most", frame.message_bytes, chunk_bytes));
  ByteReader reader(text_of(frame.payload), whose);
  Ending said{.kind = reader.choice(Ending::Kind::gone)};
  said.origin = reader.get<int>();
  said.message = reader.text();
  reader.require_end();
  if (said.origin < 0 || said.origin >= options_.agents)
    throw CommunicationError(
        fmt::format("a farewell that names agent {}: must lie in [0, {})", said.origin, options_.agents));
  from.farewell = said;
  from.farewell_round = frame.round;
  if (state_ == State::ended || from.cut) return;
  if (said.kind == Ending::Kind::left_out && excludes()) return cut(from, said.message, now);
  if (said.kind == Ending::Kind::left_out)
    said.message = fmt::format("is not taken into the run of {}: {}", name_of(from.agent), said.message);
  if (said.kind == Ending::Kind::left_out) said.origin = options_.self;
  if (said.failed()) return fail(said);
  concluded_ = concluded_ || (excludes() && standing_.holds);
}

// begun_ - 1 is the round in progress: what is before it is over, begun_ is the neighbour's next, and nobody can be
// further, for that takes our message of it.
void Session::take_round(Peer& from, const Frame& frame, double now) {
  // It may have learnt the run's id before us; begin() holds this one against it.
  const bool unknown_yet = !run_known_ && frame.round == options_.agreement_rounds;
  if (from.nonce == 0 || (frame.run != expected_run(from, frame.round) && !unknown_yet)) {
    ++from.counts.foreign;
    return;
  }
  if (frame.configuration != options_.configuration)
    throw CommunicationError(
        fmt::format("a frame of configuration {:016x}: must be {:016x}", frame.configuration, options_.configuration));
  if (frame.epoch != epoch_)
    throw CommunicationError(fmt::format("a frame of epoch {}: must be {}", frame.epoch, epoch_));
  if (frame.round > begun_)
    throw CommunicationError(fmt::format("a frame of round {}: must be {} at most, the next", frame.round, begun_));
  if (frame.round + 1 < begun_) {
    ++from.counts.stale;
    return;
  }
  if (frame.message_bytes > options_.largest_message)
    throw CommunicationError(fmt::format("a frame of a message of {} bytes: must be {} at most", frame.message_bytes,
                                         options_.largest_message));
  Assembly& message = frame.round == begun_ ? from.next : from.current;
  if (message.begun() && message.run() != frame.run) {
    ++from.counts.foreign;
    return;
  }
  const bool before = message.whole();
  from.computes = false;
  if (!message.add(frame))
    ++from.counts.duplicates;
  else if (message.whole() && !before)
    from.counts.waited += frame.round == begun_ ? 0 : std::max(0.0, now - round_began_);
  if (frame.round < begun_ && message.kind() != kind_)
    throw CommunicationError(
        fmt::format("a {} in round {}: must be a {}", name(message.kind()), frame.round, name(kind_)));
}

// ---- Rounds ---------------------------------------------------------------------------------------------------------

void Session::begin_round(FrameKind kind, std::span<const std::byte> message, double now) {
  require(message.size() <= options_.largest_message,
          fmt::format("a message of {} bytes: must be {} at most", message.size(), options_.largest_message));
  begin(kind, now);
  if (state_ == State::ended) return;
  std::shared_ptr<const Frames> common;  // edges have the same id once the run has one
  for (Peer& to : peers_) {
    if (to.cut) continue;
    Frame frame = about(kind, expected_run(to, begun_ - 1));
    frame.round = begun_ - 1;
    if (!common || (epoch_ == 0 && begun_ <= options_.agreement_rounds))
      common = std::make_shared<const Frames>(frames_of(frame, message));
    to.previous = std::exchange(to.latest, common);
    if (!to.gone) to.queue.push_back({common, 0});
  }
  look_for_missing(now);
}

void Session::begin_round(FrameKind kind, const std::vector<std::vector<std::byte>>& messages, double now) {
  const auto count =
      static_cast<std::size_t>(std::count_if(peers_.begin(), peers_.end(), [](const Peer& to) { return !to.cut; }));
  require(messages.size() == count,
          fmt::format("{} messages: must be {}, one for each neighbour", messages.size(), count));
  for (const auto& message : messages)
    require(message.size() <= options_.largest_message,
            fmt::format("a message of {} bytes: must be {} at most", message.size(), options_.largest_message));
  begin(kind, now);
  if (state_ == State::ended) return;
  auto message = messages.begin();
  for (Peer& to : peers_) {
    if (to.cut) continue;
    Frame frame = about(kind, expected_run(to, begun_ - 1));
    frame.round = begun_ - 1;
    to.previous = std::exchange(to.latest, std::make_shared<const Frames>(frames_of(frame, *message++)));
    if (!to.gone) to.queue.push_back({to.latest, 0});
  }
  look_for_missing(now);
}

void Session::begin(FrameKind kind, double now) {
  require(state_ == State::talking, "a round: can begin only while the session is talking");
  require(begun_ < options_.agreement_rounds || run_known_, "a round: can begin only when the run has an id");
  require(begun_ == 0 || round_complete(),
          fmt::format("a round: can begin only when round {} is complete", begun_ - 1));
  kind_ = kind;
  round_began_ = now;
  for (Peer& from : peers_) {
    std::swap(from.current, from.next);
    from.next.clear();
    const bool begun = from.current.begun();
    if (begun && from.current.run() != expected_run(from, begun_))
      return fail(fmt::format("{} is in run {:016x}: must be {:016x}", name_of(from.agent), from.current.run(),
                              expected_run(from, begun_)));
    if (begun && from.current.kind() != kind)
      return fail(fmt::format("{} sent a {} in round {}: must be a {}", name_of(from.agent), name(from.current.kind()),
                              begun_, name(kind)));
  }
  ++begun_;
}

bool Session::round_complete() const {
  return state_ != State::changing && begun_ > 0 &&
         std::all_of(peers_.begin(), peers_.end(), [](const Peer& from) { return from.cut || from.current.whole(); });
}

std::span<const std::byte> Session::heard(Index agent) const { return peer(agent).current.bytes(); }

// ---- The end --------------------------------------------------------------------------------------------------------

void Session::fail(const std::string& message, Ending::Kind kind) {
  fail(Ending{.kind = kind, .origin = options_.self, .message = message});
}

void Session::fail(Ending ending) {
  if (state_ == State::ended) return;
  failure_ = std::move(ending);
  say_farewell(*failure_);
}

void Session::leave(const Ending& ending) {
  if (state_ != State::ended) say_farewell(ending);
}

// Of a run that failed nobody needs the rest of the blocks.
void Session::say_farewell(const Ending& ending) {
  state_ = State::ended;
  for (Peer& to : peers_) {
    if (to.cut) continue;  // it has had its word
    if (ending.failed()) to.latest = to.previous = nullptr;
    if (ending.failed())
      std::erase_if(to.queue, [](const Queued& queued) { return queued.next == 0 && queued.frames->size() > 1; });
    if (to.counts.frames_sent == 0) to.queue.clear();  // nobody has ever been there
    say_farewell(to, ending);
  }
}

void Session::say_farewell(Peer& to, const Ending& ending) {
  ByteWriter writer;
  writer.put(ending.kind);
  writer.put(static_cast<int>(ending.origin));
  writer.put(std::string_view(ending.message).substr(0, longest_message));
  const std::uint64_t confirmed = to.nonce;
  if (confirmed == 0) to.nonce = to.echoed;  // as far as we know: the other end drops what is of another edge
  if (to.nonce != 0) {
    to.goodbye =
        std::make_shared<const Frames>(frames_of(about(FrameKind::farewell, edge_id(to)), bytes_of(writer.bytes())));
    if (!to.gone) to.queue.push_back({to.goodbye, 0});
  }
  to.nonce = confirmed;
}

bool Session::everyone_left() const {
  return std::all_of(peers_.begin(), peers_.end(),
                     [](const Peer& peer) { return peer.cut || peer.farewell.has_value(); });
}

const PeerCounts& Session::counts(Index agent) const { return peer(agent).counts; }

const std::optional<Ending>& Session::farewell_of(Index agent) const { return peer(agent).farewell; }

}  // namespace hearsay::protocol

// What a session makes of the time that it is told: how long it waits, and for whom; its signs of life, and theirs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "hearsay/error.hpp"
#include "hearsay/protocol/session.hpp"

namespace hearsay::protocol {
namespace {

// A peer that was heard of so many heartbeats ago is alive.
constexpr double alive = 4;

// Times the patience of a round: for one that is there and does not come, for one that computes, and the least for one
// that is silent though it always gives signs of life.
constexpr double waits_itself = 2, slow = 10, shortest_silence = 0.25;

// What a heartbeat says.
constexpr unsigned says_computes = 1, says_beats = 2;

}  // namespace

void Session::take_heartbeat(Peer& from, const Frame& frame) {
  if (from.nonce == 0 || frame.run != edge_id(from)) {
    ++from.counts.foreign;
    return;
  }
  const unsigned says = frame.payload.size() == 1 ? std::to_integer<unsigned>(frame.payload.front()) : ~0u;
  if (says > (says_computes | says_beats) || frame.message_bytes != 1)
    throw CommunicationError(fmt::format("a heartbeat of {} bytes: must be one, of 0 to 3", frame.message_bytes));
  from.computes = (says & says_computes) != 0;
  from.beats = (says & says_beats) != 0;
}

// When waiting for its message of this round ends: for one that is silent after the patience, for one whose heartbeats
// come later. In the first rounds it may still be waiting for others to greet it, and may have begun to as late as we
// met.
double Session::limit_for(const Peer& from) const {
  const Patience& patience = options_.patience;
  const double silent = std::max(round_began_ + quiet_limit(from), from.heard_at + alive * patience.heartbeat);
  const bool agreeing = epoch_ == 0 && begun_ <= options_.agreement_rounds;
  const double last = agreeing ? std::max(round_began_, started_ + 2 * patience.greeting) + patience.round
                               : round_began_ + (from.computes ? slow : waits_itself) * patience.round;
  return std::min(silent, last);
}

// Of who gives signs of life whatever it does, silence tells much sooner.
double Session::quiet_limit(const Peer& from) const {
  const double longest = options_.patience.round;
  return from.beats ? std::clamp(from.arrivals.usual(), shortest_silence * longest, longest) : longest;
}

// Someone whose message of this round will not come any more.
void Session::look_for_missing(double now) {
  if (state_ != State::talking || begun_ == 0) return;
  for (Peer& from : peers_) {
    if (from.cut || from.current.whole()) continue;
    const std::string what = fmt::format("its message of round {}", begun_ - 1);
    if (from.farewell && concluded_) continue;
    if (from.farewell && from.farewell_round < begun_)
      return lose(
          from, fmt::format("{} ended its run, and {} expected {}", name_of(from.agent), name_of(options_.self), what),
          now);
    if (from.gone && now >= from.gone_since + options_.patience.link)
      return lose(
          from, fmt::format("the link to {} is gone ({}), and {} did not come", name_of(from.agent), from.reason, what),
          now);
    if (now >= limit_for(from))
      return lose(from,
                  fmt::format("{} did not send {} within {:g} s; it was last heard of {:.3g} s ago",
                              name_of(from.agent), what, limit_for(from) - round_began_, now - from.heard_at),
                  now);
  }
}

void Session::look_for_greetings(double now) {
  if (now < started_ + options_.patience.greeting) return;
  std::vector<std::string> missing;
  for (const Peer& from : peers_)
    if (from.nonce == 0)
      missing.push_back(name_of(from.agent) + (from.gone ? " (no link: " + from.reason + ")"
                                               : from.counts.frames_received == 0
                                                   ? " (not heard of)"
                                                   : " (heard of, but it has not answered our hello)"));
  fail(fmt::format("not ready within {:g} s: {}", options_.patience.greeting, fmt::join(missing, ", ")));
}

void Session::tick(double now) {
  if (state_ == State::ended) return;
  if (state_ == State::greeting) look_for_greetings(now);
  if (state_ == State::talking) look_for_missing(now);
  if (state_ == State::changing) look_for_members(now);
  if (state_ == State::ended) return;
  const std::byte says[] = {std::byte((computes_ ? says_computes : 0) | (options_.beats ? says_beats : 0))};
  for (Peer& to : peers_)
    if (!to.cut && to.nonce != 0 && !to.gone && !to.farewell && to.queue.empty() &&
        now >= to.sent_at + options_.patience.heartbeat)
      queue(to, about(FrameKind::heartbeat, edge_id(to)), says);
}

double Session::next_tick() const {
  double next = std::numeric_limits<double>::infinity();
  if (state_ == State::ended) return next;
  if (state_ == State::greeting) next = started_ + options_.patience.greeting;
  if (state_ == State::changing) next = next_of_change();
  for (const Peer& with : peers_) {
    if (with.cut) continue;
    if (with.nonce != 0 && !with.gone && !with.farewell && with.queue.empty())
      next = std::min(next, with.sent_at + options_.patience.heartbeat);
    if (state_ != State::talking || begun_ == 0 || with.current.whole()) continue;
    next = std::min(next, limit_for(with));
    if (with.gone) next = std::min(next, with.gone_since + options_.patience.link);
  }
  return next;
}

}  // namespace hearsay::protocol

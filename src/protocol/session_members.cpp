// The part of a session that leaves out who is gone: see membership.hpp for how the others agree on it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hearsay/error.hpp"
#include "hearsay/protocol/session.hpp"

namespace hearsay::protocol {
namespace {

// A change that brings nothing new for so many times the patience of a round comes to nothing.
constexpr double fruitless = 4;

}  // namespace

// What ends the run, unless the others go on without it.
void Session::lose(Peer& from, const std::string& what, double now) {
  if (excludes()) return cut(from, what, now);
  fail(what, Ending::Kind::gone);
}

void Session::cut(Peer& from, const std::string& why, double now) {
  if (from.cut) return;
  begin_change(now);
  from.cut = true;
  from.queue.clear();
  from.latest = from.previous = from.members = nullptr;
  say_farewell(from, {.kind = Ending::Kind::left_out, .origin = options_.self, .message = why});
  membership_->cut(from.agent);
  news_at_ = now;
  spread(now);
}

void Session::begin_change(double now) {
  if (state_ != State::talking) return;
  state_ = State::changing;
  news_at_ = now;
  membership_->begin(standing_);
  for (Peer& to : peers_) to.latest = to.previous = nullptr;
}

void Session::take_members(Peer& from, const Frame& frame, double now) {
  if (state_ == State::ended) return;
  if (from.nonce == 0 || frame.run != edge_id(from)) {
    ++from.counts.foreign;
    return;
  }
  if (!membership_ || frame.payload.size() != frame.message_bytes)
    throw CommunicationError(fmt::format("a word of {} bytes about the members: must {}", frame.message_bytes,
                                         membership_ ? "be one frame" : "not come where nobody is left out"));
  if (!run_known_) return fail(fmt::format("{} leaves agents out before everyone was there", name_of(from.agent)));
  if (frame.epoch <= epoch_) {
    ++from.counts.stale;
    return;
  }
  begin_change(now);
  if (!membership_->take(frame.payload)) return;
  news_at_ = now;
  spread(now);
}

// What is new goes to all neighbours, and is looked at here.
void Session::spread(double now) {
  if (!membership_->enough())
    return fail({.kind = Ending::Kind::left_out,
                 .origin = options_.self,
                 .message = fmt::format("{} of {} agents are within reach ({}): must be {} at least to go on",
                                        membership_->reach().size(), options_.agents,
                                        fmt::join(membership_->reach(), ", "), options_.exclusion->quorum)});
  const std::vector<std::byte> message = membership_->message();
  for (Peer& to : peers_) {
    if (to.cut || to.nonce == 0) continue;
    Frame frame = about(FrameKind::members, edge_id(to));
    frame.epoch = membership_->ballot();
    frame.round = 0;
    std::erase_if(to.queue, [&](const Queued& queued) { return queued.next == 0 && queued.frames == to.members; });
    to.members = std::make_shared<const Frames>(frames_of(frame, message));
    if (!to.gone) to.queue.push_back({to.members, 0});
  }
  if (auto view = membership_->settle()) install(std::move(*view), now);
}

// Frames of the new epoch come by each link after those that brought its view: so nobody hears of it too early.
void Session::install(View view, double now) {
  const std::uint64_t numbers[] = {run_, view.digest};
  run_ = mixed_digest(numbers);
  epoch_ = view.epoch;
  view_ = std::move(view);
  if (!view_.everyone_holds()) standing_.holds = false;
  begun_ = 0;
  round_began_ = now;
  for (Peer& with : peers_) {
    with.current.clear();
    with.next.clear();
  }
  state_ = State::talking;
}

double Session::limit_while_changing(const Peer& from) const {
  const double silent = std::max(from.heard_at, news_at_) + options_.patience.round;
  return from.gone ? std::min(silent, from.gone_since + options_.patience.link) : silent;
}

// Who does not take part in the change, and a change that comes to nothing.
void Session::look_for_members(double now) {
  for (Peer& from : peers_) {
    if (from.cut || now < limit_while_changing(from)) continue;
    if (from.farewell && concluded_) continue;
    return cut(from,
               from.gone ? fmt::format("the link to {} is gone ({})", name_of(from.agent), from.reason)
                         : fmt::format("{} was last heard of {:.3g} s ago", name_of(from.agent), now - from.heard_at),
               now);
  }
  if (now >= news_at_ + fruitless * options_.patience.round)
    fail(fmt::format("who takes part could not be agreed on within {:g} s: {}", now - news_at_,
                     fmt::join(membership_->reach(), ", ")));
}

double Session::next_of_change() const {
  double next = news_at_ + fruitless * options_.patience.round;
  for (const Peer& with : peers_)
    if (!with.cut) next = std::min(next, limit_while_changing(with));
  return next;
}

}  // namespace hearsay::protocol

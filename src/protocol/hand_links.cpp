#include "hearsay/hand_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "hearsay/error.hpp"

namespace hearsay {
namespace {

// In seconds: clocks count no further, and nobody waits that long.
constexpr double longest_hand_wait = 1e9;

double machine_time() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Condition>
bool wait_a_while(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, double seconds,
                  const Condition& condition) {
  if (!(seconds > 0)) return condition();
  return changed.wait_for(lock, std::chrono::duration<double>(std::min(seconds, longest_hand_wait)), condition);
}

}  // namespace

HandLinks::HandLinks(Index self, std::vector<Index> neighbours, Clock clock, std::size_t buffer)
    : self_(self), neighbours_(std::move(neighbours)), clock_(clock), buffer_(buffer), began_(machine_time()) {
  for (const Index neighbour : neighbours_) ways_[neighbour] = {};
}

HandLinks::Way& HandLinks::way(Index peer) {
  const auto found = ways_.find(peer);
  require(found != ways_.end(), fmt::format("agent {}: is no neighbour of agent {}", peer, self_));
  return found->second;
}

double HandLinks::time() const { return clock_ == Clock::told ? told_ : machine_time() - began_; }

double HandLinks::now() const {
  const std::scoped_lock lock(mutex_);
  return time();
}

bool HandLinks::at_rest() const { return ended_ || (waits_ && inbox_.empty() && time() < deadline_); }

// ---- The carrier ----------------------------------------------------------------------------------------------------

void HandLinks::push(LinkEvent event) {
  inbox_.push_back(std::move(event));
  for_agent_.notify_all();
}

bool HandLinks::receive(Index from, std::span<const std::byte> frame, double wait) {
  std::unique_lock lock(mutex_);
  Way& of = way(from);
  const auto room = [&] { return ended_ || of.waiting == 0 || of.waiting + frame.size() <= buffer_; };
  if (!wait_a_while(for_carrier_, lock, wait, room)) return false;
  if (ended_) return true;
  of.open = true;
  of.waiting += frame.size();
  push({.kind = LinkEvent::Kind::frame, .peer = from, .frame = {frame.begin(), frame.end()}});
  return true;
}

void HandLinks::closed(Index peer, const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  way(peer).open = false;
  std::erase_if(outbox_, [&](const CarriedFrame& frame) { return frame.to == peer; });
  push({.kind = LinkEvent::Kind::closed, .peer = peer, .reason = reason});
}

void HandLinks::opened(Index peer) {
  const std::scoped_lock lock(mutex_);
  way(peer).open = true;
  push({.kind = LinkEvent::Kind::opened, .peer = peer});
}

void HandLinks::tell(double seconds) {
  const std::scoped_lock lock(mutex_);
  require(clock_ == Clock::told, "the time: can be told only where the clock is the carrier's");
  require(seconds >= told_, fmt::format("the time {} s: must not be before {}, which was told last", seconds, told_));
  told_ = seconds;
  for_agent_.notify_all();
}

bool HandLinks::rests(double wait) {
  std::unique_lock lock(mutex_);
  return wait_a_while(for_carrier_, lock, wait, [&] { return at_rest(); });
}

std::vector<CarriedFrame> HandLinks::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(outbox_, {});
}

bool HandLinks::await_frames(double wait) {
  std::unique_lock lock(mutex_);
  return wait_a_while(for_carrier_, lock, wait, [&] { return ended_ || !outbox_.empty(); });
}

bool HandLinks::done() const {
  const std::scoped_lock lock(mutex_);
  return ended_ && outbox_.empty();
}

void HandLinks::abandon() {
  const std::scoped_lock lock(mutex_);
  abandoned_ = true;
  for_agent_.notify_all();
}

void HandLinks::end() {
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  inbox_.clear();
  for_carrier_.notify_all();
}

// ---- The agent ------------------------------------------------------------------------------------------------------

bool HandLinks::send(Index peer, std::vector<std::byte> frame, double /*deadline*/) {
  const std::scoped_lock lock(mutex_);
  if (abandoned_) throw Abandoned{};
  if (!way(peer).open) return false;
  outbox_.push_back({.to = peer, .bytes = std::move(frame)});
  for_carrier_.notify_all();
  return true;
}

LinkEvent HandLinks::poll(double deadline) {
  std::unique_lock lock(mutex_);
  deadline_ = deadline;
  waits_ = true;
  if (at_rest()) for_carrier_.notify_all();
  const auto woken = [&] { return abandoned_ || !inbox_.empty() || time() >= deadline; };
  if (clock_ == Clock::told)
    for_agent_.wait(lock, woken);
  else
    wait_a_while(for_agent_, lock, deadline - time(), woken);
  waits_ = false;
  if (abandoned_) throw Abandoned{};
  if (inbox_.empty()) return {};
  LinkEvent event = std::move(inbox_.front());
  inbox_.pop_front();
  if (event.kind == LinkEvent::Kind::frame) {
    way(event.peer).waiting -= event.frame.size();
    for_carrier_.notify_all();  // who waits for room
  }
  return event;
}

}  // namespace hearsay

#include "grpc/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace hearsay::over_grpc {

namespace {

// gRPC takes the memory over as it is.
grpc::ByteBuffer buffer_of(std::vector<std::byte> frame) {
  auto* kept = new std::vector<std::byte>(std::move(frame));
  const grpc::Slice slice(
      kept->data(), kept->size(), [](void* owner) { delete static_cast<std::vector<std::byte>*>(owner); }, kept);
  return {&slice, 1};
}

std::vector<std::byte> bytes_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::vector<std::byte> bytes(buffer.Length());
  if (bytes.empty() || !buffer.Dump(&slices).ok()) return {};
  std::byte* to = bytes.data();
  for (const grpc::Slice& slice : slices) {
    std::memcpy(to, slice.begin(), slice.size());
    to += slice.size();
  }
  return bytes;
}

constexpr std::size_t most_refusals = 64;

}  // namespace

std::string clock_text() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

PeerFacts facts_from(const std::string& told_version, const std::string& told_clock) {
  std::int64_t theirs = 0, ours = 0;
  const std::string own = clock_text();
  std::from_chars(told_clock.data(), told_clock.data() + told_clock.size(), theirs);
  std::from_chars(own.data(), own.data() + own.size(), ours);
  return {.version = told_version.substr(0, 40), .clock_ahead = static_cast<double>(theirs - ours) / 1000};
}

bool Stream::has_room(std::size_t bytes) const {
  return outbox_.empty() || outbox_bytes_ + bytes <= hub_.buffer_bytes();
}

void Stream::offer(std::vector<std::byte> frame) {
  const std::size_t bytes = frame.size();
  Edge& edge = hub_.edges[edge_];
  edge.traffic.frames_sent += 1;
  edge.traffic.bytes_sent += static_cast<std::int64_t>(bytes);
  outbox_bytes_ += bytes;
  outbox_.emplace_back(buffer_of(std::move(frame)), bytes);
  go_on_writing();
}

void Stream::go_on_writing() {
  if (over_ || writing_ || left_ || broken_) return;
  if (!outbox_.empty()) {
    writing_ = true;
    start_write();
  } else if (leaving_) {
    left_ = true;
    end_cleanly();
  }
}

void Stream::write_done(bool ok) {
  const std::scoped_lock lock(hub_.mutex);
  writing_ = false;
  if (!outbox_.empty()) {
    outbox_bytes_ -= outbox_.front().second;
    outbox_.pop_front();
  }
  if (!ok && dialled_) {
    // To the end that called, gRPC says that a call is over only once all that came has been read: so reading goes on.
    broken_ = true;
    return leaving_ ? drop("this agent is leaving") : read_on();
  }
  if (!ok) return finish();
  hub_.changed.notify_all();
  go_on_writing();
}

// What nobody has taken yet is bounded: beyond that nothing is read, and gRPC holds the sender back.
void Stream::read_on() {
  if (over_ || reading_ || (unread_bytes_ >= hub_.buffer_bytes() && !leaving_)) return;
  reading_ = true;
  start_read();
}

void Stream::was_read(std::size_t bytes) {
  unread_bytes_ -= bytes;
  read_on();
}

void Stream::read_done(bool ok) {
  const std::scoped_lock lock(hub_.mutex);
  reading_ = false;
  if (!ok) return finish();
  if (!up_) return drop("it sent a frame before it said who it is");
  if (leaving_) {  // nobody takes it any more
    incoming_.Clear();
    return read_on();
  }
  Edge& edge = hub_.edges[edge_];
  std::vector<std::byte> frame = bytes_of(incoming_);
  incoming_.Clear();
  edge.traffic.frames_received += 1;
  edge.traffic.bytes_received += static_cast<std::int64_t>(frame.size());
  unread_bytes_ += frame.size();
  hub_.arrivals.push_back(
      {{.kind = LinkEvent::Kind::frame, .peer = edge.peer.agent, .frame = std::move(frame)}, shared_from_this()});
  hub_.changed.notify_all();
  read_on();
}

void Stream::come_up(PeerFacts facts) {
  Edge& edge = hub_.edges[edge_];
  up_ = true;
  edge.facts = std::move(facts);
  edge.trouble.clear();
  edge.wait_seconds = hub_.options.first_retry_seconds;
  hub_.arrivals.push_back({{.kind = LinkEvent::Kind::opened, .peer = edge.peer.agent}});
  hub_.changed.notify_all();
  read_on();
}

void Stream::leave() {
  leaving_ = true;
  if (broken_) return drop("this agent is leaving");
  go_on_writing();
  read_on();
}

void Stream::drop(std::string reason) {
  if (why_.empty()) why_ = std::move(reason);
  finish();
}

void Stream::finish() {
  if (std::exchange(over_, true)) return;
  hub_.changed.notify_all();  // who waits for room waits in vain
  end_now();
}

// Not freed here: with a call goes its hold on the channel, and the last hold of all must not be let go on a thread of
// gRPC's, which would then wait for itself to end.
void Stream::ended(std::string reason) {
  const std::scoped_lock lock(hub_.mutex);
  over_ = true;
  hub_.report_closed(*this, why_.empty() ? std::move(reason) : why_);
  hub_.alive -= 1;
  hub_.changed.notify_all();
  hub_.finished.push_back(std::move(self_));
}

Hub::Hub(GrpcOptions from) : options(std::move(from)) {
  for (const GrpcPeer& peer : options.peers) {
    edges.push_back({.peer = peer});
    edges.back().wait_seconds = options.first_retry_seconds;
    edges.back().trouble = peer.address.empty() ? "it has not called yet" : "it has not answered yet";
  }
}

Edge* Hub::edge_of(Index agent) {
  const auto found = std::find_if(edges.begin(), edges.end(), [agent](const Edge& e) { return e.peer.agent == agent; });
  return found == edges.end() ? nullptr : &*found;
}

void Hub::hear(std::string refusal) {
  const std::scoped_lock lock(hearing_);
  if (std::find(refusals_.begin(), refusals_.end(), refusal) != refusals_.end()) return;
  if (refusals_.size() == most_refusals) refusals_.pop_front();
  refusals_.push_back(std::move(refusal));
}

std::vector<std::string> Hub::told() {
  const std::scoped_lock lock(hearing_);
  std::vector<std::string> texts(refusals_.begin(), refusals_.end());
  refusals_.clear();
  return texts;
}

// A call that another took the place of has been reported by then.
void Hub::report_closed(Stream& stream, std::string reason) {
  if (std::exchange(stream.reported_, true)) return;
  Edge& edge = edges[stream.edge_];
  if (edge.stream.get() != &stream) return;
  edge.stream.reset();
  edge.trouble = reason;
  if (stream.up_)
    arrivals.push_back({{.kind = LinkEvent::Kind::closed, .peer = edge.peer.agent, .reason = std::move(reason)}});
  changed.notify_all();
  if (edge.channel && !closing) redial_later(stream.edge_);
}

void Hub::redial_later(std::size_t index) {
  Edge& edge = edges[index];
  if (edge.redial) return;
  const auto wait =
      std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::duration<double>(edge.wait_seconds));
  edge.wait_seconds = std::min(2 * edge.wait_seconds, options.slowest_retry_seconds);
  edge.redial = std::make_unique<grpc::Alarm>();
  alive += 1;
  edge.redial->Set(std::chrono::system_clock::now() + wait, [this, index](bool) {
    std::unique_ptr<grpc::Alarm> spent;  // freed after the lock
    const std::scoped_lock lock(mutex);
    spent = std::move(edges[index].redial);
    alive -= 1;
    changed.notify_all();
    if (!closing && !edges[index].stream) dial(index);
  });
}

void Hub::dial(std::size_t index) { edges[index].stream = dialled_stream(*this, index); }

}  // namespace hearsay::over_grpc

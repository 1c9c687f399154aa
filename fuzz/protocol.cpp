// Frames from a neighbour that is not what it should be. The first byte says what the rest is: a frame; what happens to
// a session, step by step, with frames whose checksums hold; what agents hand on of each other; or what a neighbour
// that greets as it should then says in place of its blocks; what agents tell each other of who takes part.
#include <hearsay/link_network.hpp>
#include <hearsay/protocol/session.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "protocol/flood.hpp"

// Not asked for, since it is given; linked all the same.
hearsay::GossipSpectrum hearsay::gossip_spectrum(const GossipMatrix&) { return {}; }

namespace {

using namespace hearsay;
using namespace hearsay::protocol;

constexpr std::uint64_t nonces[] = {11, 22}, configuration = 77, run_id = 5, largest = 3 * chunk_bytes;

class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  unsigned byte() {
    if (bytes_.empty()) return 0;
    const auto value = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }
  std::vector<std::byte> take(std::size_t count) {
    const std::string_view front = bytes_.substr(0, count);
    bytes_.remove_prefix(front.size());
    const auto* data = reinterpret_cast<const std::byte*>(front.data());
    return {data, data + front.size()};
  }

 private:
  std::string_view bytes_;
};

SessionOptions options_of(Index self, bool excludes = false) {
  SessionOptions options{.self = self,
                         .agents = 2,
                         .neighbours = {1 - self},
                         .nonce = nonces[self],
                         .configuration = configuration,
                         .facts = {{"rank", "5"}},
                         .agreement_rounds = 1,
                         .largest_message = largest};
  if (excludes) options.exclusion = Exclusion{.quorum = 2, .edges = {{0, 1}}};
  return options;
}

std::uint64_t edge_id() {
  const std::uint64_t numbers[] = {configuration, nonces[0], nonces[1]};
  return mixed_digest(numbers);
}

// Whose fields are mostly right.
FrameBytes built(Input& input) {
  const std::uint64_t runs[] = {nonces[1], edge_id(), run_id, input.byte()};
  const unsigned odd = input.byte();
  const std::vector<std::byte> payload = input.take(input.byte());
  const std::uint64_t offset = odd & 1 ? chunk_bytes * (odd >> 5) : 0;
  Frame frame{.kind = static_cast<FrameKind>(1 + input.byte() % 6),
              .run = runs[input.byte() % 4],
              .configuration = odd & 2 ? odd : configuration,
              .epoch = odd & 4 ? odd : 0,
              .sender = odd & 8 ? odd : 1,
              .round = input.byte() % 8,
              .message_bytes = offset + payload.size(),
              .offset = offset,
              .payload = payload};
  if (odd & 16) frame.message_bytes += odd;
  return to_bytes(frame);
}

void drain(Session& session, Index to) {
  while (session.next_frame(to) != nullptr) {
    static_cast<void>(frame_from(*session.next_frame(to), largest));  // what we say is right
    session.sent(to, 0);
  }
}

void live(std::string_view bytes, bool excludes) {
  Input input(bytes);
  Session session(options_of(0, excludes), 0), peer(options_of(1, excludes), 0);
  double now = 0;
  bool named = false;
  while (!input.empty()) {
    switch (input.byte() % 10) {
      case 0: {
        const std::vector<std::byte> raw = input.take(input.byte());
        session.received(1, raw, now);
        break;
      }
      case 1:
      case 2:
        session.received(1, built(input), now);
        break;
      case 3:
        session.opened(1, now);
        break;
      case 4:
        session.closed(1, "fuzz", now);
        break;
      case 5:
        now += input.byte() / 4.0;
        session.tick(now);
        break;
      case 6:  // the peer as it should be
        while (const FrameBytes* frame = peer.next_frame(0)) {
          const FrameBytes own = *frame;
          peer.sent(0, now);
          session.received(1, own, now);
        }
        while (const FrameBytes* frame = session.next_frame(1)) {
          const FrameBytes own = *frame;
          session.sent(1, now);
          peer.received(0, own, now);
        }
        break;
      case 7:
        if (session.state() == Session::State::talking && (session.rounds_begun() == 0 || session.round_complete()) &&
            (session.rounds_begun() == 0 || named))
          session.begin_round(input.byte() % 2 == 0 ? FrameKind::block : FrameKind::gather, input.take(input.byte()),
                              now);
        break;
      case 8:
        if (!named && session.rounds_begun() == 1 && session.epoch() == 0) session.set_run(run_id);
        named = named || session.rounds_begun() == 1;
        break;
      case 9:
        drain(session, 1);
        break;
    }
    fuzz::check(!session.failure() || session.state() == Session::State::ended);
    fuzz::check(!session.failure() || (!session.failure()->message.empty() && session.failure()->origin < 2) ||
                session.farewell_of(1).has_value());
    fuzz::check(!std::isnan(session.next_tick()));
    if (session.round_complete()) fuzz::check(session.heard(1).size() <= largest);
  }
  session.leave({});
  drain(session, 1);
}

// Agent 1 of two, whose session is ours and whose messages are the input's.
class HostileLinks final : public Links {
 public:
  explicit HostileLinks(std::string_view bytes) : input_(bytes), peer_(options_of(1), 0) {}
  Index self() const override { return 0; }
  std::span<const Index> neighbours() const override { return other_; }
  bool send(Index, std::vector<std::byte> frame, double) override {
    peer_.received(0, frame, now_);
    return true;
  }
  LinkEvent poll(double deadline) override {
    if (peer_.state() == Session::State::talking && (peer_.rounds_begun() == 0 || peer_.round_complete())) speak();
    if (const FrameBytes* frame = peer_.next_frame(0)) {
      LinkEvent event{.kind = LinkEvent::Kind::frame, .peer = 1, .frame = *frame};
      peer_.sent(0, now_);
      return event;
    }
    now_ = std::max(now_, std::min(deadline, now_ + 1));
    return {};
  }
  double now() const override { return now_; }

 private:
  // First the nonces, as they should be, unless the input begins with a zero.
  void speak() {
    if (peer_.rounds_begun() == 1 && !named_) {
      const std::uint64_t numbers[] = {configuration, nonces[0], nonces[1]};
      peer_.set_run(mixed_digest(numbers));
      named_ = true;
    }
    if (peer_.rounds_begun() == 0 && input_.byte() != 0) {
      std::string own(8, '\0');
      own[0] = static_cast<char>(nonces[1]);
      peer_.begin_round(FrameKind::gather, Flood(2, 1, own, 100).message_for(0), now_);
      return;
    }
    if (input_.empty()) return peer_.leave({});
    const auto kind = input_.byte() % 8 == 0 ? FrameKind::gather : FrameKind::block;
    std::vector<std::byte> header(16);
    const unsigned shape = input_.byte();
    header[0] = static_cast<std::byte>(shape % 8 == 7 ? shape : 3);
    header[8] = static_cast<std::byte>(shape % 16 == 15 ? shape : 2);
    std::vector<std::byte> message = shape % 32 == 31 ? std::vector<std::byte>{} : header;
    const std::vector<std::byte> rest = input_.take(input_.byte());
    message.insert(message.end(), rest.begin(), rest.end());
    peer_.begin_round(kind, message, now_);
  }

  Input input_;
  Session peer_;
  std::vector<Index> other_{1};
  double now_ = 0;
  bool named_ = false;
};

void mix(std::string_view bytes, MessagePrecision precision) {
  HostileLinks links(bytes);
  LinkNetwork net(links, GossipMatrix::ring(2),
                  {.precision = precision,
                   .spectrum = GossipSpectrum{},
                   .nonce = nonces[0],
                   .configuration = configuration,
                   .facts = {{"rank", "5"}},
                   .largest_block = 100,
                   .longest_words = 100});
  net.run([&] {
    net.connect();
    Block<double> Z = Block<double>::Constant(1, 3, 1.5), out(1, 3), votes = Block<double>::Zero(1, 2);
    for (int round = 0; round < 3; ++round) {
      net.mix({}, Z, Z, out, votes);
      fuzz::check(out.allFinite() && !votes.hasNaN());
      Z = out;
    }
    const auto heard = net.gather_everywhere("own", "fuzz");
    fuzz::check(heard.size() == 2 && heard[0] == "own" && heard[1].size() <= 100);
  });
}

void hand_on(std::string_view bytes) {
  Input input(bytes);
  Flood flood(3, 0, "own", 50);
  while (!input.empty()) {
    flood.take(1, input.take(input.byte()));
    flood.end_round();
    fuzz::check(flood.message_for(2).size() <= largest_flood_message(3, 50));
  }
  for (const std::string& words : flood.all()) fuzz::check(words.size() <= 50);
}

// Of four agents on a ring; whatever its neighbours tell, an agent is never in a view without itself or without enough.
void agree(std::string_view bytes) {
  Input input(bytes);
  Membership own(4, 0, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, 3), other(4, 1, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, 3);
  while (!input.empty()) {
    switch (input.byte() % 6) {
      case 0:
        own.begin({.iterations = input.byte(), .holds = input.byte() % 2 == 1, .digest = input.byte()});
        break;
      case 1:
        if (own.changing()) own.cut(input.byte() % 2 == 0 ? 1 : 3);
        break;
      case 2:
        static_cast<void>(own.take(input.take(input.byte())));
        break;
      case 3:
        other.begin({.iterations = input.byte()});
        static_cast<void>(own.take(other.message()));
        static_cast<void>(other.take(own.message()));
        break;
      case 4: {
        std::vector<std::byte> changed = own.message();
        changed[input.byte() % changed.size()] = static_cast<std::byte>(input.byte());
        static_cast<void>(own.take(changed));
        break;
      }
      case 5:
        if (const auto view = own.settle())
          fuzz::check(view->members.size() >= 3 && view->members.front() == 0 &&
                      view->standings.size() == view->members.size());
        break;
    }
    fuzz::check(own.message().size() <= Membership::largest_message(4, 4) && own.ballot() >= own.installed());
  }
}

void read_frame(std::string_view bytes) {
  const std::span<const std::byte> raw(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  const Frame frame = frame_from(raw, largest);
  const FrameBytes again = to_bytes(frame);
  fuzz::check(std::equal(again.begin(), again.end(), raw.begin(), raw.end()));
  Assembly message;
  fuzz::check(message.add(frame) && !message.add(frame));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    if (bytes.empty()) return;
    const unsigned kind = static_cast<unsigned char>(bytes[0]) % 8;
    bytes.remove_prefix(1);
    if (kind == 0) read_frame(bytes);
    if (kind == 1) live(bytes, false);
    if (kind == 6) live(bytes, true);
    if (kind == 7) agree(bytes);
    if (kind == 2) hand_on(bytes);
    if (kind == 3) mix(bytes, MessagePrecision::real64);
    if (kind == 4) mix(bytes, MessagePrecision::real32);
    if (kind == 5) mix(bytes, MessagePrecision::bfloat16);
  });
}

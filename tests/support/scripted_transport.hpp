// Rank 0 of two, whose peer says what it is told to, right or wrong, and then nothing more.
#pragma once

#include <hearsay/transport.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace hearsay::test {

class ScriptedTransport final : public Transport {
 public:
  explicit ScriptedTransport(std::deque<std::vector<std::byte>> script) : script_(std::move(script)) {}

  int rank() const override { return 0; }
  int size() const override { return 2; }
  void send(int to, std::span<const std::byte> message) override {
    events_.push_back({Event::Kind::sent, to, message.size()});
  }
  void receive(int from, std::span<std::byte> buffer) override {
    if (script_.empty()) return;  // and wait() will tell
    const std::vector<std::byte> message = take(from);
    if (message.size() <= buffer.size()) std::copy(message.begin(), message.end(), buffer.begin());
    events_.push_back({Event::Kind::received, from, message.size()});
  }
  Event wait() override {
    if (events_.empty()) throw TimeoutError("the peer is silent");
    const Event event = events_.front();
    events_.pop_front();
    return event;
  }
  std::vector<std::byte> take(int) override {
    if (script_.empty()) throw TimeoutError("the peer is silent");
    std::vector<std::byte> message = std::move(script_.front());
    script_.pop_front();
    return message;
  }
  std::vector<std::string> gather(const std::string& bytes) override {
    const std::vector<std::byte> message = take(1);
    return {bytes, std::string(reinterpret_cast<const char*>(message.data()), message.size())};
  }
  std::string broadcast(const std::string& bytes) override { return bytes; }

 private:
  std::deque<std::vector<std::byte>> script_;
  std::deque<Event> events_;
};

}  // namespace hearsay::test

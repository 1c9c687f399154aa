#include "hearsay/thread_links.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "network/entries.hpp"

namespace hearsay {
namespace {

using Clock = std::chrono::steady_clock;

// In seconds: clocks count no further, and nobody waits that long.
constexpr double longest_wait = 1e9;

// What all agents share; everything is guarded by the one mutex.
class Exchange {
 public:
  Exchange(Index agents, std::size_t buffer) : buffer_(buffer), boxes_(static_cast<std::size_t>(agents)) {}

  double now() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  void join(Index agent, std::span<const Index> neighbours) {
    const std::scoped_lock lock(mutex_);
    for (const Index neighbour : neighbours)
      box(agent).events.push_back({.kind = LinkEvent::Kind::opened, .peer = neighbour});
  }

  bool send(Index from, Index to, std::vector<std::byte> frame, double deadline) {
    std::unique_lock lock(mutex_);
    std::size_t& waiting = box(to).waiting[from];
    const auto room = [&] { return waiting == 0 || waiting + frame.size() <= buffer_ || box(to).gone; };
    if (!wait(lock, box(to), deadline, room) || box(to).gone) return false;
    waiting += frame.size();
    box(to).events.push_back({.kind = LinkEvent::Kind::frame, .peer = from, .frame = std::move(frame)});
    box(to).changed.notify_all();
    return true;
  }

  LinkEvent poll(Index agent, double deadline) {
    std::unique_lock lock(mutex_);
    Box& own = box(agent);
    if (!wait(lock, own, deadline, [&] { return !own.events.empty(); })) return {};
    LinkEvent event = std::move(own.events.front());
    own.events.pop_front();
    own.waiting[event.peer] -= event.frame.size();
    if (!event.frame.empty()) own.changed.notify_all();  // for who waits for room
    return event;
  }

  void leave(Index agent, std::span<const Index> neighbours) {
    const std::scoped_lock lock(mutex_);
    box(agent).gone = true;
    box(agent).changed.notify_all();
    for (const Index neighbour : neighbours) {
      box(neighbour).events.push_back({.kind = LinkEvent::Kind::closed, .peer = agent, .reason = "the agent has left"});
      box(neighbour).changed.notify_all();
    }
  }

 private:
  struct Box {
    std::condition_variable changed;
    std::deque<LinkEvent> events;
    std::map<Index, std::size_t> waiting;  // bytes of each neighbour's frames among them
    bool gone = false;
  };

  Box& box(Index agent) { return boxes_[static_cast<std::size_t>(agent)]; }

  template <class Condition>
  bool wait(std::unique_lock<std::mutex>& lock, Box& at, double deadline, const Condition& condition) {
    const double seconds = std::min(deadline - now(), longest_wait);
    if (!(seconds > 0)) return condition();
    return at.changed.wait_for(lock, std::chrono::duration<double>(seconds), condition);
  }

  const Clock::time_point began_ = Clock::now();
  const std::size_t buffer_;
  std::mutex mutex_;
  std::deque<Box> boxes_;
};

class ThreadLinks final : public Links {
 public:
  ThreadLinks(Exchange& exchange, Index self, std::vector<Index> neighbours)
      : exchange_(&exchange), self_(self), neighbours_(std::move(neighbours)) {
    exchange_->join(self_, neighbours_);
  }
  ~ThreadLinks() override { exchange_->leave(self_, neighbours_); }

  Index self() const override { return self_; }
  std::span<const Index> neighbours() const override { return neighbours_; }
  bool send(Index peer, std::vector<std::byte> frame, double deadline) override {
    return exchange_->send(self_, peer, std::move(frame), deadline);
  }
  LinkEvent poll(double deadline) override { return exchange_->poll(self_, deadline); }
  bool any_thread() const override { return true; }
  double now() const override { return exchange_->now(); }

 private:
  Exchange* exchange_;
  Index self_;
  std::vector<Index> neighbours_;
};

}  // namespace

std::vector<std::exception_ptr> run_on_thread_links(const GossipMatrix& W, const std::function<void(Links&)>& body,
                                                    std::size_t buffer) {
  Exchange exchange(W.agents(), buffer);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(W.agents()));
  {
    std::vector<std::jthread> threads;
    for (Index agent = 0; agent < W.agents(); ++agent) {
      threads.emplace_back([&, agent] {
        try {
          ThreadLinks links(exchange, agent, detail::neighbours_of(W.matrix(), agent));
          body(links);
        } catch (...) {
          thrown[static_cast<std::size_t>(agent)] = std::current_exception();
        }
      });
    }
  }
  return thrown;
}

}  // namespace hearsay

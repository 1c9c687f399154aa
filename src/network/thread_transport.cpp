// Ranks that are threads. Nothing is buffered: a send ends when its message has been copied into the receiver's memory,
// as a large one does under MPI, so that a protocol which relies on buffers hangs here as well.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "hearsay/error.hpp"
#include "hearsay/transport.hpp"

namespace hearsay {
namespace {

using Event = Transport::Event;

// In seconds: clocks count no further, and nobody waits that long.
constexpr double longest_timeout = 1e9;

// What all ranks share; every member is guarded by the one mutex.
class Hub {
 public:
  explicit Hub(int ranks)
      : size_(static_cast<std::size_t>(ranks)),
        links_(size_ * size_),
        events_(size_),
        under_way_(size_),
        said_(size_) {}

  int size() const { return static_cast<int>(size_); }

  void send(int from, int to, std::span<const std::byte> message) {
    const std::scoped_lock lock(mutex_);
    Link& link = this->link(from, to);
    ++under_way_[at(from)];
    link.sent.push_back(message);
    if (link.buffer)
      deliver(from, to);
    else
      changed_.notify_all();  // someone may be in take()
  }

  void receive(int from, int to, std::span<std::byte> buffer) {
    const std::scoped_lock lock(mutex_);
    Link& link = this->link(from, to);
    require(!link.buffer, fmt::format("receive from rank {}: one is under way already", from));
    ++under_way_[at(to)];
    link.buffer = buffer;
    if (!link.sent.empty()) deliver(from, to);
  }

  Event wait(int rank, double timeout) {
    std::unique_lock lock(mutex_);
    require(under_way_[at(rank)] > 0, "wait: nothing is under way");
    auto& events = events_[at(rank)];
    wait_until(lock, timeout, [&] { return !events.empty(); });
    const Event event = events.front();
    events.pop_front();
    --under_way_[at(rank)];
    return event;
  }

  std::vector<std::byte> take(int from, int to, double timeout) {
    std::unique_lock lock(mutex_);
    Link& link = this->link(from, to);
    wait_until(lock, timeout, [&] { return !link.sent.empty(); });
    const std::vector<std::byte> message(link.sent.front().begin(), link.sent.front().end());
    finish_send(from, to);
    return message;
  }

  // What every rank said; nobody goes on before all have read it.
  std::vector<std::string> exchange(int rank, const std::string& bytes, double timeout) {
    std::unique_lock lock(mutex_);
    said_[at(rank)] = bytes;
    barrier(lock, timeout);
    std::vector<std::string> all = said_;
    barrier(lock, timeout);
    return all;
  }

  void fail(int rank, std::exception_ptr error) {
    const std::scoped_lock lock(mutex_);
    if (!error_) {
      error_ = std::move(error);
      failed_rank_ = rank;
    }
    changed_.notify_all();
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  struct Link {
    std::deque<std::span<const std::byte>> sent;  // and not yet received
    std::optional<std::span<std::byte>> buffer;   // of a receive under way
  };

  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  Link& link(int from, int to) {
    require(from >= 0 && from < size() && to >= 0 && to < size() && from != to,
            fmt::format("message from rank {} to rank {}: must be two different ranks in [0, {})", from, to, size_));
    return links_[at(from) * size_ + at(to)];
  }

  void deliver(int from, int to) {
    if (timed_out_) return;  // and the memory of who gave up may be gone
    Link& link = this->link(from, to);
    const std::span<const std::byte> message = link.sent.front();
    if (message.size() <= link.buffer->size()) std::copy(message.begin(), message.end(), link.buffer->begin());
    link.buffer.reset();
    events_[at(to)].push_back({Event::Kind::received, from, message.size()});
    finish_send(from, to);
  }

  void finish_send(int from, int to) {
    Link& link = this->link(from, to);
    events_[at(from)].push_back({Event::Kind::sent, to, link.sent.front().size()});
    link.sent.pop_front();
    changed_.notify_all();
  }

  template <class Condition>
  void wait_until(std::unique_lock<std::mutex>& lock, double timeout, const Condition& condition) {
    const auto over = [&] { return condition() || error_ || timed_out_; };
    if (timeout > longest_timeout)
      changed_.wait(lock, over);
    else if (!changed_.wait_for(lock, std::chrono::duration<double>(timeout), over))
      give_up(timeout);
    if (timed_out_) throw TimeoutError("another rank gave up waiting");
    if (!condition())
      throw CommunicationError(fmt::format("rank {} is gone, and others were waiting for it", failed_rank_));
  }

  [[noreturn]] void give_up(double timeout) {
    timed_out_ = true;
    changed_.notify_all();
    throw TimeoutError(fmt::format("heard nothing from another rank for {:g} s, and gave up", timeout));
  }

  void barrier(std::unique_lock<std::mutex>& lock, double timeout) {
    const auto generation = generation_;
    if (++waiting_ == size_) {
      waiting_ = 0;
      ++generation_;
      changed_.notify_all();
    }
    wait_until(lock, timeout, [&] { return generation_ != generation; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t size_;
  std::vector<Link> links_;  // from * size + to
  std::vector<std::deque<Event>> events_;
  std::vector<int> under_way_;
  std::vector<std::string> said_;
  std::size_t waiting_ = 0, generation_ = 0;
  std::exception_ptr error_;
  int failed_rank_ = -1;
  bool timed_out_ = false;
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(Hub& hub, int rank) : hub_(&hub), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return hub_->size(); }
  void send(int to, std::span<const std::byte> message) override { hub_->send(rank_, to, message); }
  void receive(int from, std::span<std::byte> buffer) override { hub_->receive(from, rank_, buffer); }
  Event wait() override { return hub_->wait(rank_, timeout()); }
  std::vector<std::byte> take(int from) override { return hub_->take(from, rank_, timeout()); }
  std::vector<std::string> gather(const std::string& bytes) override {
    std::vector<std::string> all = hub_->exchange(rank_, bytes, timeout());
    return rank_ == 0 ? std::move(all) : std::vector<std::string>{};
  }
  std::string broadcast(const std::string& bytes) override { return hub_->exchange(rank_, bytes, timeout()).front(); }

 private:
  Hub* hub_;
  int rank_;
};

}  // namespace

void run_on_threads(int ranks, const std::function<void(Transport&)>& body) {
  require(ranks >= 1, fmt::format("ranks = {}: must be at least 1", ranks));
  Hub hub(ranks);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&hub, &body, rank] {
        try {
          ThreadTransport transport(hub, rank);
          body(transport);
        } catch (...) {
          hub.fail(rank, std::current_exception());
        }
      });
  }
  hub.rethrow();
}

}  // namespace hearsay

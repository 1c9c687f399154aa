// Messages between two ranks are cut into pieces, of which only the last is shorter than piece_bytes, and may be empty:
// so a receiver knows the end without being told a length.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <set>
#include <thread>

#include "hearsay/error.hpp"
#include "hearsay/mpi.hpp"
#include "return_code.hpp"

namespace hearsay::mpi {
namespace {

constexpr int data_tag = 1, control_tag = 2;

// Tests after which a waiting rank offers its processor to others: there may be more ranks than processors.
constexpr int eager_tests = 200;

constexpr std::size_t lost = std::numeric_limits<std::size_t>::max();

// Until test(), which asks MPI, says so; `whom` names who is waited for.
template <class Test, class Whom>
void poll(double timeout, const Whom& whom, const Test& test) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin;
  for (int tests = 0; !test(); tests = std::min(tests + 1, eager_tests)) {
    if (tests < eager_tests - 1) continue;
    if (tests < eager_tests) begin = Clock::now();
    std::this_thread::yield();
    if (std::chrono::duration<double>(Clock::now() - begin).count() > timeout)
      throw TimeoutError(fmt::format("heard nothing from {} for {:g} s, and gave up", whom(), timeout));
  }
}

std::string rank_text(int rank) { return fmt::format("rank {}", rank); }

int count_of(MPI_Status& status) {
  int bytes = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  return bytes;
}

}  // namespace

class Communicator::State {
 public:
  State(MPI_Comm communicator, std::size_t piece_bytes) : piece_(piece_bytes) {
    require(piece_bytes >= 1 && piece_bytes <= default_piece_bytes,
            fmt::format("piece_bytes = {}: must lie in [1, {}]", piece_bytes, default_piece_bytes));
    check(MPI_Comm_dup(communicator, &communicator_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    int over = 0;
    MPI_Finalized(&over);
    if (over == 0) MPI_Comm_free(&communicator_);
  }

  int rank() const { return rank_; }
  int size() const { return size_; }

  void send(int to, std::span<const std::byte> message) {
    const std::size_t operation = begin({.kind = Event::Kind::sent, .peer = to, .bytes = message.size()});
    for (std::size_t first = 0; first <= message.size(); first += piece_)
      start(operation, isend(to, message, first, data_tag));
  }

  void receive(int from, std::span<std::byte> buffer) {
    const std::size_t operation = begin({.kind = Event::Kind::received, .peer = from, .buffer = buffer});
    receive_piece(operation);
  }

  Event wait(double timeout) {
    require(!requests_.empty(), "wait: nothing is under way");
    for (;;) {
      MPI_Status status;
      const auto [request, code] = any_ended(status, timeout);
      const std::size_t owner = owners_[request];
      remove(request);
      if (ended(owner, code, status)) {
        const Operation& operation = operations_[owner];
        free_.push_back(owner);
        return {.kind = operation.kind, .peer = operation.peer, .bytes = operation.bytes};
      }
    }
  }

  std::vector<std::byte> take(int from, int tag, double timeout) {
    std::vector<std::byte> message;
    for (std::size_t piece = piece_; piece == piece_;) {
      MPI_Message matched = MPI_MESSAGE_NULL;
      MPI_Status status;
      poll(
          timeout, [&] { return rank_text(from); },
          [&] {
            int there = 0;
            check(MPI_Improbe(from, tag, communicator_, &there, &matched, &status), "MPI_Improbe");
            return there != 0;
          });
      const int bytes = count_of(status);
      piece = static_cast<std::size_t>(bytes);
      const std::size_t before = message.size();
      message.resize(before + piece);
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Imrecv(message.data() + before, bytes, MPI_BYTE, &matched, &request), "MPI_Imrecv");
      finish(request, "MPI_Imrecv", from, timeout);
    }
    return message;
  }

  std::vector<std::string> gather(const std::string& bytes, double timeout) {
    if (rank_ != 0) {
      const std::span<const std::byte> message = std::as_bytes(std::span(bytes));
      std::vector<MPI_Request> requests;
      for (std::size_t first = 0; first <= message.size(); first += piece_)
        requests.push_back(isend(0, message, first, control_tag));
      for (MPI_Request& request : requests) finish(request, "gather", 0, timeout);
      return {};
    }
    std::vector<std::string> all = {bytes};
    for (int from = 1; from < size_; ++from) {
      const std::vector<std::byte> message = take(from, control_tag, timeout);
      all.emplace_back(reinterpret_cast<const char*>(message.data()), message.size());
    }
    return all;
  }

  std::string broadcast(const std::string& bytes, double timeout) {
    std::string said = rank_ == 0 ? bytes : "";
    std::uint64_t length = said.size();
    broadcast_piece(&length, sizeof length, timeout);
    said.resize(length);
    for (std::size_t first = 0; first < said.size(); first += piece_)
      broadcast_piece(said.data() + first, std::min(piece_, said.size() - first), timeout);
    return said;
  }

 private:
  struct Operation {
    Event::Kind kind;
    int peer;
    std::size_t bytes = 0;             // of the message; of a receive, so far
    std::span<std::byte> buffer = {};  // of a receive
    int pending = 0;                   // pieces under way
  };

  // Of a message to or from this peer.
  static void finish(MPI_Request& request, const char* what, int peer, double timeout) {
    poll(
        timeout, [&] { return rank_text(peer); },
        [&] {
          int done = 0;
          check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
          return done != 0;
        });
  }

  // "rank 1, rank 4": those with something under way.
  std::string peers_text() const {
    std::set<int> peers;
    for (const std::size_t owner : owners_) peers.insert(operations_[owner].peer);
    std::string text;
    for (const int peer : peers) text += (text.empty() ? "" : ", ") + rank_text(peer);
    return text;
  }

  std::size_t begin(const Operation& operation) {
    if (free_.empty()) {
      free_.push_back(operations_.size());
      operations_.emplace_back();
    }
    const std::size_t place = free_.back();
    free_.pop_back();
    operations_[place] = operation;
    return place;
  }

  void start(std::size_t operation, MPI_Request request) {
    ++operations_[operation].pending;
    requests_.push_back(request);
    owners_.push_back(operation);
  }

  MPI_Request isend(int to, std::span<const std::byte> message, std::size_t first, int tag) {
    const auto piece = message.subspan(first, std::min(piece_, message.size() - first));
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to, tag, communicator_, &request),
          "MPI_Isend");
    return request;
  }

  void receive_piece(std::size_t operation) {
    const auto [kind, peer, bytes, buffer, pending] = operations_[operation];
    const auto rest = buffer.subspan(bytes, std::min(piece_, buffer.size() - bytes));
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(rest.data(), static_cast<int>(rest.size()), MPI_BYTE, peer, data_tag, communicator_, &request),
          "MPI_Irecv");
    start(operation, request);
  }

  // Which request ended, and with what code. One by one, for MPI_Testany does not tell which request has failed.
  std::pair<std::size_t, int> any_ended(MPI_Status& status, double timeout) {
    std::size_t ended = 0;
    int code = MPI_SUCCESS;
    poll(
        timeout, [&] { return peers_text(); },
        [&] {
          for (ended = 0; ended < requests_.size(); ++ended) {
            int done = 0;
            code = MPI_Test(&requests_[ended], &done, &status);
            if (done != 0 || code != MPI_SUCCESS) return true;
          }
          return false;
        });
    return {ended, code};
  }

  void remove(std::size_t request) {
    requests_[request] = requests_.back();
    owners_[request] = owners_.back();
    requests_.pop_back();
    owners_.pop_back();
  }

  // Whether the piece that ended was the last of its message.
  bool ended(std::size_t owner, int code, MPI_Status& status) {
    Operation& operation = operations_[owner];
    --operation.pending;
    if (operation.kind == Event::Kind::sent) {
      check(code, "MPI_Isend");
      return operation.pending == 0;
    }
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    if (error_class == MPI_ERR_TRUNCATE) {
      operation.bytes = lost;
      return true;
    }
    check(code, "MPI_Irecv");
    const auto piece = static_cast<std::size_t>(count_of(status));
    operation.bytes += piece;
    if (piece < piece_) return true;
    receive_piece(owner);
    return false;
  }

  void broadcast_piece(void* bytes, std::size_t count, double timeout) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(bytes, static_cast<int>(count), MPI_BYTE, 0, communicator_, &request), "MPI_Ibcast");
    finish(request, "MPI_Ibcast", 0, timeout);
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::size_t piece_;
  std::vector<MPI_Request> requests_;
  std::vector<std::size_t> owners_;  // of each request, the operation it is a piece of
  std::vector<Operation> operations_;
  std::vector<std::size_t> free_;  // places in operations_
};

Communicator::Communicator(MPI_Comm communicator, std::size_t piece_bytes)
    : state_(std::make_unique<State>(communicator, piece_bytes)) {}
Communicator::~Communicator() = default;

int Communicator::rank() const { return state_->rank(); }
int Communicator::size() const { return state_->size(); }
void Communicator::send(int to, std::span<const std::byte> message) { state_->send(to, message); }
void Communicator::receive(int from, std::span<std::byte> buffer) { state_->receive(from, buffer); }
Transport::Event Communicator::wait() { return state_->wait(timeout()); }
std::vector<std::byte> Communicator::take(int from) { return state_->take(from, data_tag, timeout()); }
std::vector<std::string> Communicator::gather(const std::string& bytes) { return state_->gather(bytes, timeout()); }
std::string Communicator::broadcast(const std::string& bytes) { return state_->broadcast(bytes, timeout()); }

}  // namespace hearsay::mpi

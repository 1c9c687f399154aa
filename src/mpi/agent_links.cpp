#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <thread>

#include "hearsay/csr.hpp"
#include "hearsay/error.hpp"
#include "hearsay/mpi_links.hpp"
#include "return_code.hpp"

namespace hearsay::mpi {
namespace {

constexpr int frame_tag = 3;

// Looks after which a waiting process offers its processor to others, and after which it sleeps between two.
constexpr int eager_looks = 100, patient_looks = 400;
constexpr auto nap = std::chrono::microseconds(50);

// In seconds: how long the others are waited for at the end.
constexpr double last_wait = 10;

using Clock = std::chrono::steady_clock;

}  // namespace

class AgentLinks::State {
 public:
  State(MPI_Comm communicator, const GossipMatrix& W, std::size_t buffer) : buffer_(buffer) {
    int size = 0, rank = 0;
    check(MPI_Comm_size(communicator, &size), "MPI_Comm_size");
    require(size == W.agents(), fmt::format("{} ranks for {} agents: must be one each", size, W.agents()));
    check(MPI_Comm_dup(communicator, &communicator_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(communicator_, &rank), "MPI_Comm_rank");
    self_ = rank;
    const CsrMatrix<double>& matrix = W.matrix();
    const auto row = static_cast<std::size_t>(self_);
    for (auto e = static_cast<std::size_t>(matrix.row_start[row]);
         e < static_cast<std::size_t>(matrix.row_start[row + 1]); ++e)
      if (matrix.columns[e] != self_) neighbours_.push_back(matrix.columns[e]);
    for (const Index neighbour : neighbours_) opened_.push_back(neighbour);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Everyone's frames are received before the communicator goes. Where others are gone it stays, for want of them.
  ~State() {
    int over = 0;
    MPI_Finalized(&over);
    if (over != 0) return;
    try {
      if (leave_together()) MPI_Comm_free(&communicator_);
    } catch (const Error&) {  // MPI is in no state to be told
    }
  }

  Index self() const { return self_; }
  std::span<const Index> neighbours() const { return neighbours_; }
  double now() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  bool send(Index peer, std::vector<std::byte> frame, double deadline) {
    const auto room = [&] {
      forget_sent();
      std::size_t waiting = 0;
      for (const Sending& sending : sending_) waiting += sending.peer == peer ? sending.frame.size() : 0;
      return waiting == 0 || waiting + frame.size() <= buffer_;
    };
    if (!wait_until(deadline, room)) return false;
    Sending& sending = sending_.emplace_back(Sending{.peer = peer, .frame = std::move(frame)});
    check(MPI_Isend(sending.frame.data(), static_cast<int>(sending.frame.size()), MPI_BYTE, static_cast<int>(peer),
                    frame_tag, communicator_, &sending.request),
          "MPI_Isend");
    return true;
  }

  LinkEvent poll(double deadline) {
    if (!opened_.empty()) {
      const Index peer = opened_.front();
      opened_.pop_front();
      return {.kind = LinkEvent::Kind::opened, .peer = peer};
    }
    LinkEvent event;
    wait_until(deadline, [&] {
      forget_sent();  // MPI moves large frames while it is asked for something
      return receive(event);
    });
    return event;
  }

 private:
  struct Sending {
    Index peer = 0;
    std::vector<std::byte> frame = {};  // stays where it is until MPI has sent it
    MPI_Request request = MPI_REQUEST_NULL;
  };

  template <class Condition>
  bool wait_until(double deadline, const Condition& condition) const {
    for (int looks = 0; !condition(); ++looks) {
      if (now() >= deadline) return false;
      if (looks > patient_looks)
        std::this_thread::sleep_for(nap);
      else if (looks > eager_looks)
        std::this_thread::yield();
    }
    return true;
  }

  void forget_sent() {
    std::erase_if(sending_, [](Sending& sending) {
      int done = 0;
      check(MPI_Test(&sending.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      return done != 0;
    });
  }

  bool receive(LinkEvent& event) {
    MPI_Message matched = MPI_MESSAGE_NULL;
    MPI_Status status;
    int there = 0, bytes = 0;
    check(MPI_Improbe(MPI_ANY_SOURCE, frame_tag, communicator_, &there, &matched, &status), "MPI_Improbe");
    if (there == 0) return false;
    check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    event = {.kind = LinkEvent::Kind::frame, .peer = status.MPI_SOURCE};
    event.frame.resize(static_cast<std::size_t>(bytes));
    check(MPI_Mrecv(event.frame.data(), bytes, MPI_BYTE, &matched, MPI_STATUS_IGNORE), "MPI_Mrecv");
    return std::binary_search(neighbours_.begin(), neighbours_.end(), event.peer);
  }

  bool leave_together() {
    const double deadline = now() + last_wait;
    MPI_Request all_sent = MPI_REQUEST_NULL;
    bool asked = false;
    return wait_until(deadline, [&] {
      LinkEvent unread;
      while (receive(unread)) continue;
      forget_sent();
      if (!sending_.empty()) return false;
      if (!asked) check(MPI_Ibarrier(communicator_, &all_sent), "MPI_Ibarrier");
      asked = true;
      int done = 0;
      check(MPI_Test(&all_sent, &done, MPI_STATUS_IGNORE), "MPI_Test");
      return done != 0;
    });
  }

  const Clock::time_point began_ = Clock::now();
  std::size_t buffer_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  Index self_ = 0;
  std::vector<Index> neighbours_;
  std::deque<Index> opened_;    // not told of yet
  std::list<Sending> sending_;  // whose requests stay where they are
};

AgentLinks::AgentLinks(MPI_Comm communicator, const GossipMatrix& W, std::size_t buffer)
    : state_(std::make_unique<State>(communicator, W, buffer)) {}
AgentLinks::~AgentLinks() = default;

Index AgentLinks::self() const { return state_->self(); }
std::span<const Index> AgentLinks::neighbours() const { return state_->neighbours(); }
bool AgentLinks::send(Index peer, std::vector<std::byte> frame, double deadline) {
  return state_->send(peer, std::move(frame), deadline);
}
LinkEvent AgentLinks::poll(double deadline) { return state_->poll(deadline); }
double AgentLinks::now() const { return state_->now(); }

}  // namespace hearsay::mpi

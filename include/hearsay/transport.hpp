// The ranks a job runs on, seen from one of them: processes under MPI (mpi.hpp), threads, or this process alone.
//
// The data path is messages between neighbours and nothing else. The control path, before and after a run, is
// collective: every rank makes the same calls in the same order.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/error.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

/// What carries the messages failed, and perhaps on this rank alone: no call of the same transport can be relied on,
/// and no agreement is looked for. A process ends its whole job (mpi::World::abort).
class HEARSAY_API LinkError : public CommunicationError {
 public:
  using CommunicationError::CommunicationError;
};

/// Others did not answer in time.
class HEARSAY_API TimeoutError : public LinkError {
 public:
  using LinkError::LinkError;
};

/// Something that must be the same on every rank.
struct Fact {
  std::string what, value;
};

class HEARSAY_API Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// How long a call waits for others before it throws TimeoutError: for ever, unless this is set. A rank that computes
  /// is waited for too, so this is to be well above what its longest product or reading takes.
  void set_timeout(double seconds);
  double timeout() const { return timeout_; }

  // ---- Data path ----------------------------------------------------------------------------------------------------

  struct Event {
    enum class Kind { sent, received } kind;
    int peer;
    std::size_t bytes;  ///< of the message; where that is more than the buffer holds, its content is lost
  };

  /// Both only start; what they are given must stay until wait() tells that they have ended. Messages between two ranks
  /// arrive in the order they were sent. Of receives, one at a time from each rank.
  virtual void send(int to, std::span<const std::byte> message) = 0;
  virtual void receive(int from, std::span<std::byte> buffer) = 0;

  /// Blocks until something started has ended, and says what.
  virtual Event wait() = 0;

  /// The next message of a rank from which no receive is under way, however long it is; blocks until it is there. For
  /// the end of a run, when nobody knows what is still on its way.
  virtual std::vector<std::byte> take(int from) = 0;

  // ---- Control path -------------------------------------------------------------------------------------------------

  /// What every rank said, by rank, at rank 0; nothing elsewhere.
  virtual std::vector<std::string> gather(const std::string& bytes) = 0;

  /// What rank 0 said.
  virtual std::string broadcast(const std::string& bytes) = 0;

  /// What every rank said, by rank, at every rank.
  std::vector<std::string> gather_everywhere(const std::string& bytes);

  /// Added in the order of the ranks; NaN wins a maximum.
  double sum(double value);
  double max(double value);

  /// Runs the body on every rank. If it throws on one, all ranks throw, an error of the same class with the rank and
  /// the message: without the rank where all say the same. The body exchanges nothing between the ranks;
  /// RankNetwork::run() is for one that does.
  void everywhere(const std::function<void()>& body);

  /// Throws InvalidArgument, at every rank, unless all of them give the same facts: it names the first rank that
  /// differs from rank 0, and what differs.
  void require_alike(std::span<const Fact> facts);

 private:
  double timeout_ = std::numeric_limits<double>::infinity();
};

/// This process alone: one rank, with nobody to talk to.
class HEARSAY_API AloneTransport final : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void send(int to, std::span<const std::byte> message) override;
  void receive(int from, std::span<std::byte> buffer) override;
  Event wait() override;
  std::vector<std::byte> take(int from) override;
  std::vector<std::string> gather(const std::string& bytes) override { return {bytes}; }
  std::string broadcast(const std::string& bytes) override { return bytes; }
};

/// Runs the body on so many threads of this process, each with a transport that makes it one rank, and returns when all
/// have ended. A body that throws ends the waiting of the others; the first to throw is rethrown.
HEARSAY_API void run_on_threads(int ranks, const std::function<void(Transport&)>& body);

}  // namespace hearsay

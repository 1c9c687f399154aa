// Ranks that are MPI processes. The one header that knows <mpi.h>; link hearsay::mpi.
//
//   mpi::World world(argc, argv);
//   world.everywhere([&] { ... read this rank's data ... });
//   RankNetwork net(world, W);
//
// Works with Open MPI and MPICH. What happens when a rank fails: docs/guide/mpi.md.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "hearsay/export.hpp"
#include "hearsay/transport.hpp"

namespace hearsay::mpi {

/// MPI counts in int; longer messages go in pieces of this many bytes.
inline constexpr std::size_t default_piece_bytes = std::size_t{1} << 30;

/// A Transport on a private duplicate of a communicator. To be made, and destroyed, by all its ranks. MPI is called
/// from the thread that calls it and no other.
class HEARSAY_API Communicator : public Transport {
 public:
  explicit Communicator(MPI_Comm communicator, std::size_t piece_bytes = default_piece_bytes);
  ~Communicator() override;

  int rank() const override;
  int size() const override;
  void send(int to, std::span<const std::byte> message) override;
  void receive(int from, std::span<std::byte> buffer) override;
  Event wait() override;
  std::vector<std::byte> take(int from) override;
  std::vector<std::string> gather(const std::string& bytes) override;
  std::string broadcast(const std::string& bytes) override;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// MPI_Init and MPI_Finalize, unless somebody else has called MPI_Init already.
class HEARSAY_API Session {
 public:
  Session(int& argc, char**& argv);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Ends the whole job with this exit code.
  [[noreturn]] void abort(int exit_code) const;

 private:
  bool ours_ = false;
};

/// MPI from beginning to end, and all its processes as ranks. Destroyed by an exception that is about to leave main()
/// on one rank alone, it ends the whole job (MPI_Abort), because the others would wait for ever.
class HEARSAY_API World final : private Session, public Communicator {
 public:
  World(int& argc, char**& argv, std::size_t piece_bytes = default_piece_bytes);
  ~World() override;

  /// For set_threads(): this machine's processors that its ranks may use, divided among them; at least 1.
  int threads_per_rank() const { return threads_per_rank_; }

  using Session::abort;

 private:
  int exceptions_before_;
  int threads_per_rank_ = 1;
};

/// Which MPI this is: "Open MPI v4.1.4", "MPICH 4.0.2".
HEARSAY_API std::string library();

/// The line that starts a command on so many ranks, whatever the number of processors.
HEARSAY_API std::string mpirun_line(Index ranks, std::string_view command);

/// Throws InvalidArgument, with that line, where there are fewer ranks than wanted.
HEARSAY_API void require_ranks(const Transport& ranks, Index wanted, std::string_view command);

}  // namespace hearsay::mpi

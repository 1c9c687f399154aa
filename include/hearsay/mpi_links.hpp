// Links between MPI processes: agent i is rank i. For agents of one cluster that are to speak the protocol of those
// between organisations; where all trust each other RankNetwork (rank_network.hpp) is the shorter way.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/export.hpp"
#include "hearsay/links.hpp"
#include "hearsay/network.hpp"

namespace hearsay::mpi {

/// On a private duplicate of a communicator: to be made, and destroyed, by all its ranks. At most `buffer` bytes of
/// frames wait to be taken by each neighbour, and one frame at least. MPI does not tell of a process that is gone: it
/// is silent.
class HEARSAY_API AgentLinks final : public Links {
 public:
  /// Throws InvalidArgument unless the communicator has as many ranks as W has agents.
  AgentLinks(MPI_Comm communicator, const GossipMatrix& W, std::size_t buffer = std::size_t{16} << 20);
  ~AgentLinks() override;

  Index self() const override;
  std::span<const Index> neighbours() const override;
  bool send(Index peer, std::vector<std::byte> frame, double deadline) override;
  LinkEvent poll(double deadline) override;
  double now() const override;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hearsay::mpi

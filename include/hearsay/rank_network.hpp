// Agents spread over ranks: each rank holds some of them, and a round of gossip is one exchange with the ranks that
// hold their neighbours.
//
//   RankNetwork net(ranks, GossipMatrix::ring(10));                                 // the same on every rank
//   const auto result = decentralized_pca(net, operators_of(shards), {.rank = 5});  // A_i of the agents here
//
// (decentralized_on_ranks.hpp has that call). Results are those of LocalNetwork, bit for bit, for any number of ranks:
// every number is summed in the same order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "hearsay/message.hpp"
#include "hearsay/network.hpp"
#include "hearsay/transport.hpp"

namespace hearsay {

/// The rank of each agent: contiguous blocks, agent i on rank i ranks / agents. With fewer agents than ranks some have
/// none.
HEARSAY_API std::vector<int> contiguous_placement(Index agents, int ranks);

/// What this rank really sent. A block that several agents of another rank need crosses once, so that this may be less
/// than its agents' share of Traffic.
struct WireTraffic {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

struct RankNetworkOptions {
  MessagePrecision precision = MessagePrecision::real64;
  std::vector<int> placement = {};              ///< the rank of each agent; empty: contiguous_placement()
  std::optional<GossipSpectrum> spectrum = {};  ///< of W; measured where it is not given
};

/// Borrows the transport. W and the options must be the same on every rank. Making one exchanges nothing.
class HEARSAY_API RankNetwork {
 public:
  RankNetwork(Transport& ranks, GossipMatrix W, const RankNetworkOptions& options = {});
  RankNetwork(const RankNetwork&) = delete;
  RankNetwork& operator=(const RankNetwork&) = delete;
  ~RankNetwork();

  Index agents() const;
  Index local_agents() const;
  Index agent(Index local) const;
  std::span<const Index> local() const;  ///< the agents here, ascending
  Index diameter() const;
  const GossipSpectrum& spectrum() const;
  const Traffic& traffic() const;  ///< of the whole network, as LocalNetwork counts it
  ConstBlockView<double> unsent() const;
  const GossipMatrix& gossip_matrix() const;
  const WireTraffic& wire() const;
  Transport& ranks() const;

  /// To be called within run(). Throws DataError, which names the agent, for a block of a peer that is not finite, and
  /// CommunicationError, with the rank and its message, when another rank has failed.
  void mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out,
           BlockView<double> votes);

  /// Runs a body that mixes, on every rank; ranks without an agent may leave it empty. However it ends here, the
  /// neighbours are told: if it throws on one rank it ends on all, and all throw an error of that class with the rank
  /// and the message. The body makes no collective call.
  void run(const std::function<void()>& body);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hearsay

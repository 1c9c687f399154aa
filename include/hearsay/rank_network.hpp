// Agents spread over ranks: each rank holds some of them, and a round of gossip is one exchange with the ranks that
// hold their neighbours.
//
//   RankNetwork net(ranks, GossipMatrix::ring(10));                                 // the same on every rank
//   const auto result = decentralized_pca(net, operators_of(shards), {.rank = 5});  // A_i of the agents here
//
// (decentralized_on_ranks.hpp has that call). Results are those of LocalNetwork, bit for bit, for any number of ranks:
// every number is summed in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/message.hpp"
#include "hearsay/network.hpp"
#include "hearsay/transport.hpp"

namespace hearsay {

/// The rank of each agent: contiguous blocks, agent i on rank i ranks / agents. With fewer agents than ranks some have
/// none.
std::vector<int> contiguous_placement(Index agents, int ranks);

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
class RankNetwork {
 public:
  RankNetwork(Transport& ranks, GossipMatrix W, const RankNetworkOptions& options = {});
  RankNetwork(const RankNetwork&) = delete;
  RankNetwork& operator=(const RankNetwork&) = delete;
  ~RankNetwork();

  Index agents() const { return W_.agents(); }
  Index local_agents() const { return static_cast<Index>(own_.size()); }
  Index agent(Index local) const { return own_[static_cast<std::size_t>(local)]; }
  std::span<const Index> local() const { return own_; }  ///< the agents here, ascending
  Index diameter() const { return W_.diameter(); }
  const GossipSpectrum& spectrum() const { return spectrum_; }
  const Traffic& traffic() const { return traffic_; }  ///< of the whole network, as LocalNetwork counts it
  ConstBlockView<double> unsent() const { return untold_; }
  const GossipMatrix& gossip_matrix() const { return W_; }
  const WireTraffic& wire() const { return wire_; }
  Transport& ranks() const { return *ranks_; }

  /// To be called within run(). Throws DataError, which names the agent, for a block of a peer that is not finite, and
  /// CommunicationError, with the rank and its message, when another rank has failed.
  void mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out,
           BlockView<double> votes);

  /// Runs a body that mixes, on every rank; ranks without an agent may leave it empty. However it ends here, the
  /// neighbours are told: if it throws on one rank it ends on all, and all throw an error of that class with the rank
  /// and the message. The body makes no collective call.
  void run(const std::function<void()>& body);

 private:
  struct Link;
  struct Piece {
    Index column, columns;
  };

  bool rounds() const { return precision_ != MessagePrecision::real64; }
  void plan(std::span<const int> placement);
  void plan_edge();
  void cut();
  Link& link(int rank);
  std::size_t message_bytes(std::size_t agents) const;
  const std::byte* blocks(const Link& from) const;
  void post_receives();
  void post_sends(ConstBlockView<double> Z, ConstBlockView<double> votes);
  void progress();
  void accept(Link& from, std::size_t bytes);
  void mix_exact(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out);
  void mix_rounded(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out);
  void mix_edge(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out);
  void await_blocks();
  void maximise(BlockView<double> votes);
  [[noreturn]] void refuse(Index heard) const;
  void close(const std::string& farewell);

  Transport* ranks_;
  GossipMatrix W_;
  GossipSpectrum spectrum_;
  MessagePrecision precision_;
  std::vector<Index> own_;
  std::vector<Link> links_;             // one per neighbouring rank, by rank
  Index heard_ = 0;                     // agents heard from
  CsrMatrix<double> rows_;              // of W, for the agents here; columns: the agents here, then those heard from
  std::vector<Index> inner_, edge_;     // rows that need no message, and the others
  CsrMatrix<double> edge_rows_;         // of the latter; columns: the edge, other agents here, then those heard from
  std::vector<Index> stacked_;          // the agents here among those columns
  Index numbers_ = 0, votes_ = 0;       // of each agent, in the round in progress
  Block<double> said_;                  // votes of the agents here and of those heard from
  Block<double> told_, untold_;         // as LocalNetwork's; told_ also of those heard from
  std::vector<std::byte> changes_;      // what is told of each agent here, encoded
  std::vector<double> change_;          // one of them, decoded
  std::vector<const double*> sources_;  // of edge_rows_' columns
  std::vector<Piece> pieces_;
  Index cut_numbers_ = 0;
  Traffic traffic_;
  WireTraffic wire_;
};

}  // namespace hearsay

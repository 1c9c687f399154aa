// Averaging by talking to neighbours: L rounds of plain, accelerated or Chebyshev gossip, and the network that lives in
// one process.
//
// All three are the recurrence Y_{l+1} = (1 + b_l) (W - c I) Y_l / (1 - c) - b_l Y_{l-1} from Y_0 = Z, whose weights
// sum to one, so that the mean over the agents never changes:
//
//   plain        c = 0, b_l = 0
//   accelerated  c = 0, b_l = omega, Y_{-1} = Y_0            (the paper's)
//   chebyshev    c = (hi + lo)/2, b_0 = 0, then b_l = T_{l-1}(z)/T_{l+1}(z), z = 2 (1 - c)/(hi - lo)
//
// The last applies T_L((W - c I)/h)/T_L(z), h = (hi - lo)/2: no polynomial of degree L contracts more on [lo, hi].
#pragma once

#include <memory>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "hearsay/message.hpp"
#include "hearsay/network.hpp"

namespace hearsay {

enum class GossipKind { plain, accelerated, chebyshev };
HEARSAY_API const char* name(GossipKind kind);

/// A bound on what L rounds leave of the disagreement, in the Frobenius norm over all agents; exact for plain and
/// Chebyshev gossip at the ends of the interval.
HEARSAY_API double gossip_contraction(GossipKind kind, const GossipSpectrum& spectrum, Index rounds);

/// The fewest rounds whose contraction is at most `goal`, taken as 1e-15 where it is less; 0 where goal >= 1.
HEARSAY_API Index gossip_rounds(GossipKind kind, const GossipSpectrum& spectrum, double goal);

/// Blocks that are kept between calls of gossip().
struct GossipWorkspace {
  Block<double> first, second;
};

/// out <- L rounds on Z (local agents x numbers); the votes come along. Z and out are different blocks.
HEARSAY_API void gossip(NetworkRef net, GossipKind kind, Index rounds, const Block<double>& Z, Block<double>& out,
                        BlockView<double> votes, GossipWorkspace& workspace);

/// The same for a caller who has no votes to send and calls it once.
HEARSAY_API Block<double> gossip(NetworkRef net, GossipKind kind, Index rounds, const Block<double>& Z);

/// Each column of the votes becomes its maximum over the whole network: diameter() rounds of votes alone,
/// and more where messages get lost.
HEARSAY_API void agree_on_maximum(NetworkRef net, BlockView<double> votes);

/// All agents in this process: a round is one sparse-times-tall product, threaded, and the same to the last bit for any
/// number of threads. With rounded messages it remembers what has been told: a run that is to be repeated bit for bit
/// takes a new one.
class HEARSAY_API LocalNetwork {
 public:
  /// Measures the spectrum, or is told it.
  explicit LocalNetwork(GossipMatrix W, MessagePrecision precision = MessagePrecision::real64);
  LocalNetwork(GossipMatrix W, const GossipSpectrum& known, MessagePrecision precision = MessagePrecision::real64);

  LocalNetwork(LocalNetwork&&) noexcept;
  LocalNetwork& operator=(LocalNetwork&&) noexcept;
  ~LocalNetwork();

  Index agents() const;
  Index local_agents() const;
  Index agent(Index local) const { return local; }
  Index diameter() const;
  const GossipSpectrum& spectrum() const;
  const Traffic& traffic() const;
  ConstBlockView<double> unsent() const;
  const GossipMatrix& gossip_matrix() const;

  void mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out,
           BlockView<double> votes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hearsay

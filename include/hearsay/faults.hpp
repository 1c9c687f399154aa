// Faults made to order: links that go down, messages that are lost or late, agents that crash and come back; and the
// network that suffers them.
//
//   FaultyNetwork net(GossipMatrix::ring(10), {.links = {{.kind = LinkFault::Kind::drop, .probability = 0.3}},
//                                              .agents = {{.kind = AgentFault::Kind::crash, .agent = 4, .iteration =
//                                              12}}, .seed = 7});
//   const auto result = decentralized_pca(net, operators_of(shards), {.rank = 5});
//
// Everything is drawn from the seed, link by link and round by round, so that a run is the same every time and for any
// number of threads. docs/algorithms/faults.md says what is guaranteed, and why it is done so and not otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/error.hpp"
#include "hearsay/export.hpp"
#include "hearsay/message.hpp"
#include "hearsay/network.hpp"

namespace hearsay {

/// Something that befalls a link, in a range of rounds, with a probability. Rounds are counted from 0, those that carry
/// votes alone included.
struct LinkFault {
  enum class Kind {
    drop,  ///< the link is down for a round, both ways
    loss,  ///< a message from one end to the other does not come
    delay  ///< a message comes some rounds late, in either direction
  };
  static constexpr Index any = -1;
  static constexpr Index forever = std::numeric_limits<Index>::max();

  Kind kind = Kind::drop;
  Index from = any, to = any;                   ///< the ends of the link, in this order for a loss; or any link
  double probability = 1;                       ///< in every round, drawn for each link (drop) or message by itself
  Index first_round = 0, last_round = forever;  ///< both included
  Index rounds_late = 0;                        ///< of a delay: at least 1

  friend bool operator==(const LinkFault&, const LinkFault&) = default;
};
HEARSAY_API const char* name(LinkFault::Kind kind);

/// Something that befalls an agent, just before an iteration.
struct AgentFault {
  enum class Kind {
    crash,  ///< it is gone, and its data with it
    rejoin  ///< it is back with its data
  };

  Kind kind = Kind::crash;
  Index agent = 0;
  Index iteration = 1;  ///< at least 1: everyone is there at the start

  friend bool operator==(const AgentFault&, const AgentFault&) = default;
};
HEARSAY_API const char* name(AgentFault::Kind kind);

struct Faults {
  std::vector<LinkFault> links = {};
  std::vector<AgentFault> agents = {};
  std::uint64_t seed = 0;
  Index patience = 2;     ///< rounds that a late message is waited for; one that is later is lost
  Index quorum = 1;       ///< fewer agents together than this end the run with a CommunicationError
  Index give_up = 10000;  ///< rounds of votes alone after which agents that have not heard of each other do the same
};

/// Throws InvalidArgument, naming fault, value and rule, unless the faults can befall this network.
HEARSAY_API void validate(const Faults& faults, const GossipMatrix& W);

/// Someone would not wait for votes any longer: see FaultyNetwork::wait_while().
class HEARSAY_API Interrupted : public CommunicationError {
 public:
  using CommunicationError::CommunicationError;
};

/// All agents in this process, as in LocalNetwork, and things go wrong. It is as new for every run.
///
/// A link that does not carry a message both ways is not used in that round: its weight moves to the two diagonals, W
/// stays symmetric and doubly stochastic, and the mean over the members never changes. After a crash or a return the
/// members are the largest group of agents with paths between them (of two the one with the smallest agent), and an
/// epoch begins: with W itself where all are there, with Metropolis weights on what is left of its edges otherwise.
///
/// Rounded messages tell changes, so a neighbour that missed some gets them with the next message, or the whole block
/// in doubles where that is shorter.
class HEARSAY_API FaultyNetwork {
 public:
  /// Throws like validate().
  FaultyNetwork(GossipMatrix W, Faults faults, MessagePrecision precision = MessagePrecision::real64);

  FaultyNetwork(FaultyNetwork&&) noexcept;
  FaultyNetwork& operator=(FaultyNetwork&&) noexcept;
  ~FaultyNetwork();

  Index agents() const;
  Index local_agents() const;
  Index agent(Index local) const { return local; }
  Index diameter() const;  ///< of the members' graph, and so the spectrum
  const GossipSpectrum& spectrum() const;
  const Traffic& traffic() const;
  ConstBlockView<double> unsent() const;
  const Epoch& epoch() const;

  void mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out,
           BlockView<double> votes);

  std::optional<Epoch> begin_iteration(Index t);
  void hand_over(BlockView<double> X);
  void begin_votes();
  void settle_votes(BlockView<double> votes);

  /// Asked before every round of settle_votes(), of which there may be give_up: false ends them with an Interrupted.
  /// The solver then stops with the best it has, as an observer's word would make it do.
  void wait_while(std::function<bool()> patient);

  Reception reception(Index local) const;
  const FaultCounts& fault_counts() const;

  /// The weights of the latest round.
  const CsrMatrix<double>& round_matrix() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hearsay

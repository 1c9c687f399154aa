// The network of one agent between organisations: its neighbours are reached by Links, whatever carries them, and the
// protocol (protocol/session.hpp) sees to it that blocks are those of this run and this round.
//
//   LinkNetwork net(links, GossipMatrix::ring(4), options);
//   net.run([&] {
//     net.connect();                                           // or says who is not there, and what does not fit
//     const auto rows = net.gather_everywhere(own_rows);       // what every agent says of itself, at every agent
//     ... decentralized_pca(net, A, {.rank = 5}) ...
//   });
//
// Results are those of LocalNetwork, bit for bit. What fails at one agent ends the run at all of them, each with an
// error that names the agent and what happened there; unless agents that are gone are to be left out:
//
//   for (;;) try { net.set_standing(...); ...; break; }
//     catch (const MembersChanged&) { const protocol::View view = net.agree_on_members(); ... }
//
// From then on the network is that of the members: numbered from 0 in their order, with weights of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/error.hpp"
#include "hearsay/export.hpp"
#include "hearsay/links.hpp"
#include "hearsay/message.hpp"
#include "hearsay/network.hpp"
#include "hearsay/protocol/session.hpp"

namespace hearsay {

struct LinkNetworkOptions {
  MessagePrecision precision = MessagePrecision::real64;
  std::optional<GossipSpectrum> spectrum = {};  ///< of W; measured where it is not given
  std::vector<std::string> names = {};          ///< of the agents, for messages
  std::uint64_t nonce = 0;                      ///< new for every run; 0: drawn from the system
  std::uint64_t configuration = 0;              ///< digest of all that the agents have agreed on beforehand
  std::vector<Fact> facts = {};                 ///< that are compared when agents greet each other
  std::uint64_t largest_block = 1 << 16;        ///< numbers in a block and its votes together
  std::uint64_t longest_words = 1 << 16;        ///< bytes that an agent says of itself at a time
  protocol::Patience patience = {};
  Index quorum = 0;  ///< where agents that are gone are left out: fewer than these stop. 0: such an agent ends the run
  std::optional<std::uint64_t> attempt = {};  ///< see protocol::SessionOptions
  std::function<bool()> go_on = {};           ///< asked now and then while one waits; false ends the run everywhere
};

/// Someone is gone, and the others are about to agree on who takes part: whatever was under way is void.
class HEARSAY_API MembersChanged : public Error {
 public:
  using Error::Error;
};

/// This agent has been left out, or is among too few to go on.
class HEARSAY_API LeftOut : public CommunicationError {
 public:
  using CommunicationError::CommunicationError;
};

/// An agent or a link is gone, as this agent found or heard, and the run is over for all; what it was about may be
/// taken up again by a run of its own, when everyone is there.
class HEARSAY_API AgentGone : public CommunicationError {
 public:
  using CommunicationError::CommunicationError;
};

/// Borrows the links. W and the options must be the same at every agent, but for the nonce and the callback.
class HEARSAY_API LinkNetwork {
 public:
  /// Throws InvalidArgument where the links do not lead to W's neighbours of this agent.
  LinkNetwork(Links& links, GossipMatrix W, const LinkNetworkOptions& options = {});
  LinkNetwork(const LinkNetwork&) = delete;
  LinkNetwork& operator=(const LinkNetwork&) = delete;
  ~LinkNetwork();

  Index agents() const;
  Index local_agents() const { return 1; }
  Index agent(Index) const { return self(); }
  Index self() const;  ///< among those who take part
  Index diameter() const;
  const GossipSpectrum& spectrum() const;
  const Traffic& traffic() const;  ///< of the whole network, as LocalNetwork counts it
  ConstBlockView<double> unsent() const;
  const GossipMatrix& gossip_matrix() const;

  std::uint64_t run_id() const;                     ///< zero before connect()
  std::vector<protocol::PeerCounts> links() const;  ///< what came and went, by neighbour
  std::string name_of(Index agent) const;           ///< "agent 3 (leeds)", of everyone who was there at the start

  const std::vector<Index>& members() const;  ///< who takes part, by the numbers they had at the start
  std::uint32_t epoch() const;                ///< zero while nobody was left out

  /// Of each agent what it has to say for conservation: numbers that add up to nothing over all agents but for
  /// rounding, and their size. They go along with the next rounds' blocks; once everyone has heard of all, a sum that
  /// is something is a DataError, at all agents in the same round. Where there are too many agents for that, nothing
  /// happens.
  void bear_witness(double off, double size);
  static constexpr Index most_witnesses = 64, witness_numbers = 2 * most_witnesses;

  /// What neighbours were told so far, and told this agent, where messages are rounded: the next ones are changes to
  /// it. Part of the state of a run that is to be taken up again, between two iterations.
  std::string told() const;
  /// Throws DataError for what told() cannot have said.
  void set_told(std::string_view told);

  /// A neighbour has said that its run ended well.
  bool neighbour_finished() const;

  /// Of the network by which the run may be taken up again; and whether this one got as far as a run.
  std::uint64_t next_attempt() const;
  bool connected() const;

  /// How far this agent is, for when members change. Of no effect where they do already: what it is told then is over.
  void set_standing(const protocol::Standing& standing);

  /// After MembersChanged: waits until the members have agreed on who they are, and becomes their network. Throws
  /// LeftOut where this agent is not among enough. Where every member holds the same result nothing is left to be done.
  protocol::View agree_on_members();

  /// Another member has ended well: what this agent holds is the result of all.
  bool concluded() const;

  /// Greets all neighbours and agrees on the id of the run. To be called once, and within run(), as the next two.
  void connect();

  /// What every agent says of itself, by agent, at every agent: diameter() rounds of the session. `what` it is, for
  /// messages.
  std::vector<std::string> gather_everywhere(const std::string& own, const std::string& what);

  /// Throws CommunicationError, MembersChanged, and DataError for numbers that are not finite; both name the agent.
  void mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out,
           BlockView<double> votes);

  /// Runs a body that does all the talking. However it ends, the neighbours are told; what it throws is thrown on. When
  /// another agent failed, that is an error of the same class, with its name and message.
  void run(const std::function<void()>& body);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hearsay

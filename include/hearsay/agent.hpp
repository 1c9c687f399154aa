// One agent of a federation, from greeting to result, in one call:
//
//   FederationSettings federation{.names = {"boston", "leeds", "oslo"}, .W = GossipMatrix::ring(3), .digest = ...};
//   federation.settings.power.rank = 5;                                                  // the same at every agent
//   const AgentOutcome outcome = run_agent(links, {.rows = ..., .columns = ...}, federation);
//
// Every agent ends with the result that one process would have found in all their rows, bit for bit, though no row has
// left its agent; or with an Error that says why not, at which agent. Where agents that are gone may be left out
// (`quorum`), it is the result in the rows of those who stayed: result.contributors.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hearsay/decentralized_on_links.hpp"
#include "hearsay/export.hpp"
#include "hearsay/links.hpp"
#include "hearsay/options.hpp"
#include "hearsay/private_agents.hpp"

namespace hearsay {

/// What the agents have agreed on beforehand. All of it is compared before the first block is sent.
struct FederationSettings {
  std::vector<std::string> names = {};     ///< the roster: agent i is the i-th
  GossipMatrix W = GossipMatrix::ring(1);  ///< who talks to whom, and with what weight
  std::string digest = {};                 ///< of the file that says so, as text; may be empty
  DecentralizedSettings network = {};      ///< algorithm, gossip, rounds, tolerance, precision of messages
  SolveSettings settings = {};             ///< rank, momentum, damping, iterations, seed
  bool center = true;                      ///< subtract the mean of all rows
  ColumnMatch columns = ColumnMatch::by_name;
  /// Agents that do not answer any more are left out, and the others go on with their own rows; fewer than so many stop
  /// with a LeftOut. More than half of all. 0: such an agent ends the run for all.
  Index quorum = 0;
  /// Seconds that an agent which is gone may take to come back, with the states that it kept: then all take the run up
  /// again at the newest step that everyone has kept, and the result is that of a run that was not interrupted. 0: such
  /// an agent ends the run for all. Not together with a quorum.
  double wait = 0;
  Index keep_every = 20;  ///< iterations between two states that are kept
  /// Rows are private (AgentRows::hidden): of each agent's nothing leaves but a release that its own noise is in. Then
  /// nothing is centred but by a mean that is public, columns are in one order everywhere, and no agent is waited for.
  std::optional<FederationPrivacy> privacy = {};
  protocol::Patience patience = {};  ///< may differ, as `wait` may
};

/// What this agent has, and keeps.
struct AgentRows {
  Block<double> rows = {};                 ///< may have no rows, but has columns; none where they are private
  std::vector<std::string> columns = {};   ///< their names, if they have any
  std::string name = {};                   ///< of the file, for messages of all agents; the agent's own name if empty
  std::optional<PrivateRows> hidden = {};  ///< in place of rows, where those are private
};

struct AgentProgress {
  const DecentralizedEntry& entry;                 ///< of this agent
  const std::vector<protocol::PeerCounts>& links;  ///< bytes, and how long each neighbour was waited for
};

struct AgentHooks {
  /// Called every iteration; when it returns false at any agent, all stop together a few rounds later, with what they
  /// have.
  std::function<bool(const AgentProgress&)> observe = {};
  /// Asked several times a second while one waits for others; false ends the run everywhere, with an error.
  std::function<bool()> go_on = {};
  std::uint64_t nonce = 0;  ///< new for every run; 0: drawn from the system
  /// Given all states that this agent would need to go on from, as bytes, whenever there is a new one. What it throws
  /// does not end the run: it becomes a note.
  std::function<void(const std::string& states)> keep = {};
  /// What keep() was given last, in an earlier run of the same federation and data that has not ended: all agents go on
  /// from the newest step that everyone has kept, or begin where there is none.
  std::string states = {};
  /// Told why the run is interrupted, when it waits for an agent to come back.
  std::function<void(const std::string& why)> waits = {};
};

struct [[nodiscard]] AgentOutcome {
  Index self = 0;
  DecentralizedResult result = {};         ///< of all agents, as one process returns it: bases, digests, contributors
  std::vector<std::string> features = {};  ///< names of the columns, in the order of the bases' rows
  bool columns_moved = false;              ///< this agent's were put into that order
  ShardTotals totals = {};                 ///< rows of each contributor, and their mean
  DecentralizedOptions options = {};       ///< as used
  GossipSpectrum spectrum = {};
  std::uint64_t run_id = 0;
  /// Empty where every agent has said that it holds the result with this digest. Else why that is not known: the result
  /// is whole and right, but another agent may have ended without it.
  std::string unconfirmed = {};
  std::vector<protocol::PeerCounts> links = {};  ///< by neighbour
  std::vector<Index> taken_up = {};              ///< iterations at which the run was taken up again
  double seconds = 0;                            ///< from the greeting to the farewell
  /// Where rows are private: all that may be told of this outcome, beside what everyone knew before.
  std::optional<PrivateAgentsSolution> released = {};

  const Block<double>& basis() const { return result.bases[static_cast<std::size_t>(self)]; }
  Vector<double> eigenvalues() const { return result.eigenvalues.row(self).transpose(); }
  std::uint64_t own_digest() const { return result.digests[static_cast<std::size_t>(self)]; }
};

/// What agents compare when they greet each other, as text: what each setting is, and of the features their number and
/// names. Two agents whose facts differ refuse each other with both values.
HEARSAY_API std::vector<Fact> federation_facts(const FederationSettings& federation, Index features,
                                               const std::vector<std::string>& columns);

/// The most that an agent of this federation sends at a time.
HEARSAY_API LinkLimits link_limits(const FederationSettings& federation, Index dimension);

/// Blocks until the run has ended. Throws InvalidArgument for settings that cannot be and states of another run,
/// DataError for data that do not fit those of the others and states that are damaged, CommunicationError when an agent
/// or a link failed: then all agents throw, each of them naming whoever it began at.
HEARSAY_API AgentOutcome run_agent(Links& links, AgentRows rows, const FederationSettings& federation,
                                   const AgentHooks& hooks = {});

}  // namespace hearsay

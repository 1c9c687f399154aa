// Private components of rows that lie at several agents. Each record lives at one agent, so that what an agent spends
// is what each of its own rows loses. Whom the agents trust decides who adds how much noise (docs/guide/privacy.md):
//
//   none        each releases its own C_i + E_i in full noise before anything is sent; then they gossip as ever
//   neighbours  each adds 1/m of the variance, and words are added up along a spanning tree, in the clear
//   secure      each adds 1/(m - colluders) of it, and words are added up under masks
//
// Of the last two nothing leaves but a function of the sum. solve_private_agents() has all agents in this process;
// run_agent() (agent.hpp) is one of them, and makes the same bits of the same words.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/export.hpp"
#include "hearsay/network.hpp"
#include "hearsay/private_pca.hpp"
#include "hearsay/private_sums.hpp"
#include "hearsay/solve_decentralized.hpp"

namespace hearsay {

/// Whom an agent trusts with its rows.
enum class Trust { none, neighbours, secure };
HEARSAY_API std::string_view name(Trust trust);

/// The words of all agents added up modulo 2^64; throws CommunicationError where one is missing.
using SumOfWords = std::function<PrivateWords(std::vector<PrivateWords> parts)>;

struct PrivateAgentsRequest {
  Trust trust = Trust::none;
  Index colluders = 1;  ///< of secure: so many agents may put together what they know, and the budget still holds
  PrivacySettings privacy = {};
  DecentralizedRequest solve = {};  ///< rank and seed; where they gossip, the network's and the faults too
  SumOfWords masked_sum = {};       ///< of secure: the core has no cipher
  /// Told what each agent is about to send, before anything is sent.
  std::function<void(Index agent, std::span<const std::uint64_t> words)> leaving = {};
};

/// mu of what the rows of one agent lose: to whom.
struct PromisedMu {
  double outside = 0;     ///< to whoever sees the result
  double one_agent = 0;   ///< to another agent, who knows its own noise and sees what is sent to it
  double all_others = 0;  ///< to all the other agents together
};

struct [[nodiscard]] PrivateAgentsSolution {
  PrivatePcaSolution pca = {};  ///< plan.sigma is of the sum; release is empty where they gossip
  PromisedMu promised = {};
  std::vector<Block<double>> bases = {};             ///< of each agent; all the same but where they gossip
  std::optional<DecentralizedSolution> gossip = {};  ///< of trust none
  Index contributors = 0;                            ///< agents whose rows are in the answer
  Traffic traffic = {};
};

/// Throws InvalidArgument where parts of the request do not go together, before a row is read. How many agents there
/// are: to be said where it is known.
HEARSAY_API void check(const PrivateAgentsRequest& request, std::optional<Index> agents = {});

/// How many parts of the noise make what the budget asks for: each of m agents adds one.
HEARSAY_API Index noise_parts(Trust trust, Index agents, Index colluders);
HEARSAY_API PromisedMu promised_mu(Trust trust, Index agents, Index colluders, double mu);

/// One source of rows for each agent, with noise from words of its own. An agent may have no rows.
HEARSAY_API PrivateAgentsSolution solve_private_agents(std::span<RowSource<double>* const> agents,
                                                       const GossipMatrix& W, const PrivateAgentsRequest& request,
                                                       const std::function<SecretWords(Index agent)>& words);
HEARSAY_API PrivateAgentsSolution solve_private_agents(const std::vector<Block<double>>& agents, const GossipMatrix& W,
                                                       const PrivateAgentsRequest& request,
                                                       const std::function<SecretWords(Index agent)>& words);

// ---- Agents that run apart

/// What they agree on beforehand, all of it public; compared before anything is sent.
struct FederationPrivacy {
  Trust trust = Trust::none;
  Index colluders = 1;  ///< of trust secure
  PrivacySettings privacy = {};
  bool repeatable = false;  ///< noise is drawn from a seed: nothing is private, and everyone must know
};

/// What this agent says, brought to all of them; and what all say, by agent.
using SayAndHear = std::function<std::vector<std::string>(const std::string& own, const std::string& what)>;

/// Puts masks on the words of agent `self` that cancel in the sum over all agents; `run` is another in every run.
using MaskWords = std::function<void(std::span<std::uint64_t> words, Index self, Index agents, std::uint64_t run,
                                     const SayAndHear& talk)>;

/// What one agent does for itself with rows that are private.
struct PrivateRows {
  /// Called once, when everyone is there: what the release costs is to be paid before a row is read.
  std::function<Block<double>()> read = {};
  SecretWords words = {};  ///< for its own noise
  /// Told what it is about to send, before anything is sent.
  std::function<void(std::span<const std::uint64_t> words)> leaving = {};
  MaskWords mask = {};  ///< of trust secure: the core has no cipher
};

}  // namespace hearsay

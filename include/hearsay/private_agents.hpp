// Private components of rows that lie at several agents. Each record lives at one agent, so that what an agent spends
// is what each of its own rows loses. Whom the agents trust decides who adds how much noise (docs/guide/privacy.md):
//
//   none        each releases its own C_i + E_i in full noise before anything is sent; then they gossip as ever
//   neighbours  each adds 1/m of the variance, and words are added up along a spanning tree, in the clear
//   secure      each adds 1/(m - colluders) of it, and words are added up under masks
//
// Of the last two nothing leaves but a function of the sum. All agents are in this process.
#pragma once

#include <functional>
#include <span>
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

}  // namespace hearsay

// A run on ranks, and its results brought together: at rank 0 what one process would have returned.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "decentralized/definition.hpp"
#include "decentralized/gossip_bar.hpp"
#include "decentralized/result_message.hpp"
#include "decentralized/scaling.hpp"
#include "hearsay/decentralized_on_ranks.hpp"
#include "hearsay/error.hpp"
#include "network/bytes.hpp"

namespace hearsay {

using detail::AgentResult;
using detail::ByteReader;
using detail::ByteWriter;

namespace {

// All ranks made the same bar of the same words. One that differs is believed where it is the larger.
void take_larger(ErrorBar& bar, const ErrorBar& other) {
  if (bar.exists() && other.exists() && other.sin_theta > bar.sin_theta) bar = other;
}

// Each rank saw the worst of its own agents; the network's worst is the worst of these.
void merge(DecentralizedResult& into, const DecentralizedResult& other) {
  into.residual = std::max(into.residual, other.residual);
  into.disagreement = std::max(into.disagreement, other.disagreement);
  into.message_noise.last = std::max(into.message_noise.last, other.message_noise.last);
  into.message_noise.largest = std::max(into.message_noise.largest, other.message_noise.largest);
  into.momentum = std::max(into.momentum, other.momentum);
  take_larger(into.bar, other.bar);
  for (std::size_t t = 0; t < into.history.size() && t < other.history.size(); ++t) {
    DecentralizedEntry& entry = into.history[t];
    const DecentralizedEntry& there = other.history[t];
    entry.residual = std::max(entry.residual, there.residual);
    entry.disagreement = std::max(entry.disagreement, there.disagreement);
    entry.momentum = std::max(entry.momentum, there.momentum);
    entry.sin_theta = std::max(entry.sin_theta, there.sin_theta);
  }
}

// At rank 0, from what every rank sent there. `result` is what rank 0 itself has, if an agent lives there.
void assemble(const std::vector<std::string>& said, Index count, const DecentralizedOptions& options,
              DecentralizedResult& result) {
  std::vector<AgentResult> agents;
  for (const std::string& bytes : said) {
    ByteReader reader(bytes);
    std::vector<AgentResult> there = detail::get_agents(reader);
    if (there.empty()) continue;  // it did not run
    DecentralizedResult summary;
    detail::get_summary(reader, agents.empty() ? result : summary);
    if (!agents.empty()) merge(result, summary);
    std::move(there.begin(), there.end(), std::back_inserter(agents));
  }
  std::sort(agents.begin(), agents.end(), [](const AgentResult& a, const AgentResult& b) { return a.agent < b.agent; });
  detail::require_whole(agents, count, options.rank);
  detail::require_contributors(result.contributors, count);
  result.bases.clear();
  result.digests.clear();
  result.eigenvalues.resize(static_cast<Index>(agents.size()), agents.front().eigenvalues.cols());
  result.next_eigenvalue.resize(static_cast<Index>(agents.size()));
  for (std::size_t i = 0; i < agents.size(); ++i) {
    result.bases.push_back(std::move(agents[i].basis));
    result.digests.push_back(agents[i].digest);
    result.eigenvalues.row(static_cast<Index>(i)) = agents[i].eigenvalues;
    result.next_eigenvalue(static_cast<Index>(i)) = agents[i].next_eigenvalue;
  }
  result.digest = digest_of(result.digests);
  result.agreement = basis_agreement(result.bases);
  // The last notes so far told of one rank's agents.
  detail::forget_definition(result);
  if (result.status == Status::noise_floor && !result.notes.empty())
    result.notes.back() = detail::floor_note(result.agreement, options.rounds.value_or(result.rounds_per_iteration));
  detail::judge_definition(result, options.tolerance);
  if (!detail::may_have_bar(result)) result.bar = {};
}

}  // namespace

DecentralizedResult decentralized_pca(RankNetwork& net, std::span<const OperatorRef<double>> A,
                                      const DecentralizedOptions& options, const DecentralizedHooks& hooks) {
  Transport& ranks = net.ranks();
  DecentralizedResult result;
  net.run([&] {
    if (net.local_agents() > 0)
      result = detail::scaled_decentralized_pca(NetworkRef(net), A, options, hooks);
    else
      require(A.empty(), fmt::format("{} operators: must be 0, for no agent lives on rank {}", A.size(), ranks.rank()));
  });

  ByteWriter here;
  detail::put_agents(here, net, result);
  detail::put_summary(here, result);
  ByteWriter agreed;
  const std::vector<std::string> said = ranks.gather(here.bytes());
  ranks.everywhere([&] {
    if (ranks.rank() != 0) return;
    assemble(said, net.agents(), options, result);
    detail::unscale_or_tell(result);  // for everyone, by what all agents found
    detail::put_summary(agreed, result);
  });
  const std::string summary = ranks.broadcast(agreed.bytes());
  ByteReader reader(summary);
  const int scaled = result.exponent;
  const ErrorBar own = result.bar;
  detail::get_summary(reader, result);
  take_larger(result.bar, own);
  if (net.local_agents() > 0 && result.verification.evidence != Knowledge::bound) result.bar = {};  // it heard no words
  if (ranks.rank() != 0 && result.exponent != scaled) detail::multiply_by_power(result, scaled);
  return result;
}

}  // namespace hearsay

#include "hearsay/private_agents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/operators/stored.hpp"
#include "operators/rows_in_memory.hpp"
#include "solve/any_fault.hpp"
#include "solve/private_parts.hpp"
#include "solve/seconds.hpp"

namespace hearsay {

namespace {

using detail::Scale;
using Agents = std::span<RowSource<double>* const>;

// What agents send: each one's words, its noise in them.
std::vector<PrivateWords> parts_of(Agents agents, const PrivateAgentsRequest& request, const ReleasePlan& plan,
                                   const std::function<SecretWords(Index)>& words) {
  std::vector<PrivateWords> parts;
  for (std::size_t i = 0; i < agents.size(); ++i)
    parts.push_back(detail::words_of_agent(*agents[i], request.privacy, plan, words(static_cast<Index>(i))));
  if (request.leaving)
    for (std::size_t i = 0; i < parts.size(); ++i) request.leaving(static_cast<Index>(i), parts[i].span());
  return parts;
}

PrivateWords added_up(std::vector<PrivateWords> parts) {
  PrivateWords sum = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i)
    for (std::size_t w = 0; w < sum.size(); ++w) sum.span()[w] += parts[i].span()[w];
  return sum;
}

// Up a spanning tree, and the sum down again.
Traffic tree_traffic(Index agents, std::size_t words) {
  Traffic traffic;
  traffic.add_round(2 * (agents - 1), static_cast<std::int64_t>(words * sizeof(std::uint64_t)), 0);
  return traffic;
}

PrivateAgentsSolution solve_sum(Agents agents, const PrivateAgentsRequest& request, const ReleasePlan& part,
                                const std::function<SecretWords(Index)>& words) {
  const auto m = static_cast<Index>(agents.size()), d = agents.front()->cols();
  const PrivateWords sum = request.trust == Trust::secure ? request.masked_sum(parts_of(agents, request, part, words))
                                                          : added_up(parts_of(agents, request, part, words));
  PrivateAgentsSolution found = detail::answer_of_sum(sum, m, d, request, part);
  found.traffic = tree_traffic(m, sum.size());
  return found;
}

DecentralizedSolution gossiped(const std::vector<Block<double>>& matrices, const GossipMatrix& W,
                               const PrivateAgentsRequest& request) {
  std::vector<DenseSymmetric<double>> stored;
  for (const Block<double>& matrix : matrices) stored.emplace_back(matrix);
  const auto A = operators_of(stored);
  DecentralizedSolution solution{.options = detail::private_options(request.solve.network, request.solve.settings)};
  const DecentralizedHooks hooks{.observe = request.solve.observe};
  const MessagePrecision precision = request.solve.network.precision;
  const auto begin = std::chrono::steady_clock::now();
  if (detail::any_fault(request.solve.faults)) {
    FaultyNetwork net(W, request.solve.faults, precision);
    if (request.solve.patient) net.wait_while(request.solve.patient);
    solution.result = decentralized_pca(net, A, solution.options, hooks);
    solution.spectrum = gossip_spectrum(W);
  } else {
    LocalNetwork net(W, precision);
    solution.result = decentralized_pca(net, A, solution.options, hooks);
    solution.spectrum = net.spectrum();
  }
  solution.seconds = detail::seconds_since(begin);
  return solution;
}

PrivateAgentsSolution solve_gossip(Agents agents, const GossipMatrix& W, const PrivateAgentsRequest& request,
                                   const ReleasePlan& plan, const std::function<SecretWords(Index)>& words) {
  const Index d = agents.front()->cols();
  const Scale scale = detail::scale_of(plan, d, static_cast<Index>(agents.size()));
  std::vector<Block<double>> matrices;
  for (const PrivateWords& sent : parts_of(agents, request, plan, words))
    matrices.push_back(detail::scaled_release(sent, plan, d, scale));
  DecentralizedSolution gossip = gossiped(matrices, W, request);
  double trace = 0;
  for (const Index agent : gossip.result.contributors)
    trace += detail::trace_of(matrices[static_cast<std::size_t>(agent)], scale);
  PrivateAgentsSolution found = detail::answer_of_gossip(gossip.result, trace, scale, d, request, plan);
  found.gossip = std::move(gossip);
  return found;
}

}  // namespace

PrivateAgentsSolution solve_private_agents(std::span<RowSource<double>* const> agents, const GossipMatrix& W,
                                           const PrivateAgentsRequest& request,
                                           const std::function<SecretWords(Index agent)>& words) {
  const auto m = static_cast<Index>(agents.size());
  require(m >= 1 && m == W.agents(), fmt::format("agents = {}: must be {}, as the network has", m, W.agents()));
  check(request, m);
  const Index d = agents.front()->cols();
  for (const RowSource<double>* agent : agents) require(agent->cols() == d, "features: must be as many at every agent");
  detail::require_dimension(request, d);
  require_memory(static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(m + 4),
                 sizeof(double), "private covariances of all agents");
  const ReleasePlan part = plan_part(request.privacy, d, noise_parts(request.trust, m, request.colluders));
  return request.trust == Trust::none ? solve_gossip(agents, W, request, part, words)
                                      : solve_sum(agents, request, part, words);
}

PrivateAgentsSolution solve_private_agents(const std::vector<Block<double>>& agents, const GossipMatrix& W,
                                           const PrivateAgentsRequest& request,
                                           const std::function<SecretWords(Index agent)>& words) {
  std::vector<detail::DenseRows> rows;
  std::vector<RowSource<double>*> sources;
  rows.reserve(agents.size());
  for (const Block<double>& agent : agents) rows.emplace_back(borrow(agent));
  for (detail::DenseRows& source : rows) sources.push_back(&source);
  return solve_private_agents(sources, W, request, words);
}

}  // namespace hearsay

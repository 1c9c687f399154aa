#include "experiments/agent_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hearsay/dense_eigen.hpp"
#include "hearsay/error.hpp"
#include "hearsay/operators/compose.hpp"

namespace hearsay::experiments {
namespace {

constexpr Index patience = 100;  // iterations without a smaller error, after which it is taken for the floor

Momentum momentum_of(const AgentsRun& run) {
  if (run.momentum == AgentsRun::Rule::paper) return Momentum::paper();
  if (run.momentum == AgentsRun::Rule::automatic) return {};
  return Momentum::optimal(run.agents->eigenvalue(run.rank));
}

}  // namespace

Agents::Agents(std::vector<CovarianceShard> shards, GossipMatrix W)
    : shards_(std::move(shards)), W_(std::move(W)), spectrum_(LocalNetwork(W_).spectrum()) {
  solve();
}

Agents::Agents(std::vector<NodeOperator> nodes, GossipMatrix W)
    : nodes_(std::move(nodes)), W_(std::move(W)), spectrum_(LocalNetwork(W_).spectrum()) {
  solve();
}

std::vector<OperatorRef<double>> Agents::operators() const {
  return nodes_.empty() ? operators_of(shards_) : operators_of(nodes_);
}

void Agents::solve() {
  const auto parts = operators();
  require(static_cast<Index>(parts.size()) == W_.agents(),
          fmt::format("{} agents: must be {}, as the network has", parts.size(), W_.agents()));
  auto eigen = dense_eigen<double>(SumOperator<double>(parts, 1 / static_cast<double>(parts.size())));
  eigenvalues_ = std::move(eigen.values);
  eigenvectors_ = std::move(eigen.vectors);
  for (const auto& part : parts)
    largest_norm_ = std::max(largest_norm_, dense_eigen<double>(part).values.cwiseAbs().maxCoeff());
}

Trace trace(const AgentsRun& run, std::uint64_t seed) {
  require(run.agents != nullptr, fmt::format("data = {}: must be loaded before the run", run.data));
  const Agents& agents = *run.agents;
  require(run.rank >= 1 && run.rank < agents.dim(),
          fmt::format("rank = {}: must lie in [1, {}]", run.rank, agents.dim() - 1));
  const Block<double> U = agents.leading(run.rank);
  LocalNetwork net(agents.gossip_matrix(), agents.spectrum());
  DecentralizedHooks hooks{.reference = &U};
  double least = 1;
  Index since = 0;
  if (run.stop_at > 0)
    hooks.observe = [&](const DecentralizedEntry& entry) {
      if (entry.sin_theta < 0.99 * least) least = entry.sin_theta, since = entry.t;
      return !(entry.sin_theta <= run.stop_at) && entry.t - since < patience;
    };
  const auto result = decentralized_pca(net, agents.operators(),
                                        {.algorithm = run.algorithm,
                                         .rank = run.rank,
                                         .gossip = run.gossip,
                                         .rounds = run.rounds,
                                         .raise_rounds = false,
                                         .max_iterations = run.iterations,
                                         .tolerance = 0,
                                         .momentum = momentum_of(run),
                                         .damping = Damping::symmetric,
                                         .seed = seed},
                                        hooks);
  Trace trace;
  for (const DecentralizedEntry& entry : result.history) {
    trace.error.push_back(entry.sin_theta);
    trace.rounds.push_back(static_cast<double>(entry.rounds));
    trace.bytes.push_back(static_cast<double>(entry.bytes));
  }
  trace.facts = {{"gap_of_W", agents.spectrum().gap()},
                 {"local_norm", agents.largest_norm()},
                 {"lambda_k", agents.eigenvalue(run.rank - 1)},
                 {"lambda_next", agents.eigenvalue(run.rank)}};
  return trace;
}

}  // namespace hearsay::experiments

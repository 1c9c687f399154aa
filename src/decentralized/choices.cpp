#include "decentralized/choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/error.hpp"
#include "hearsay/transport.hpp"

namespace hearsay::detail {
namespace {

bool accelerated(Algorithm algorithm) { return algorithm == Algorithm::adepm || algorithm == Algorithm::adeepca; }
bool tracked(Algorithm algorithm) { return algorithm == Algorithm::deepca || algorithm == Algorithm::adeepca; }

void validate_options(const DecentralizedOptions& options, Index d) {
  require(options.rank >= 1 && options.rank <= d, fmt::format("rank = {}: must lie in [1, {}]", options.rank, d));
  const Index rounds = options.rounds.value_or(1), oversample = options.oversample.value_or(0);
  require(rounds >= 1, fmt::format("rounds = {}: must be at least 1, or automatic", rounds));
  require(oversample >= 0, fmt::format("oversample = {}: must not be negative, or automatic", oversample));
  require(options.max_iterations >= 1, fmt::format("max_iterations = {}: must be at least 1", options.max_iterations));
  require(std::isfinite(options.tolerance) && options.tolerance >= 0,
          fmt::format("tolerance = {}: must be finite and not negative", options.tolerance));
}

// Whether to begin with a block of many columns: for the method that can narrow it later, where the rounds it saves are
// not planned in advance.
bool may_begin_wide(const DecentralizedOptions& options, bool reliable) {
  return reliable && options.algorithm == Algorithm::adeepca && options.momentum.rule == Momentum::Rule::automatic &&
         !options.rounds;
}

Index extra_columns(const DecentralizedOptions& options, bool estimated, bool wide) {
  const Index least = estimated ? 1 : 0;
  if (!options.oversample) return wide ? std::max<Index>(options.rank, 4) : least;
  const Index oversample = *options.oversample;
  require(oversample >= least,
          fmt::format("oversample = {}: must be at least 1, because the momentum is estimated from it", oversample));
  require(oversample <= least || wide,
          fmt::format("oversample = {}: must be {}; only adeepca with automatic momentum and rounds begins with more",
                      oversample, least));
  return oversample;
}

}  // namespace

Shared agree_on_facts(NetworkRef net, std::span<const OperatorRef<double>> A) {
  require(static_cast<Index>(A.size()) == net.local_agents(),
          fmt::format("{} operators: must be {}, one for each agent here", A.size(), net.local_agents()));
  Block<double> votes(net.local_agents(), facts_shared);
  for (Index i = 0; i < votes.rows(); ++i) {
    const auto& agent = A[static_cast<std::size_t>(i)];
    const auto d = static_cast<double>(agent.dim());
    const double exponent = agent.facts().exponent;
    votes.row(i) << d, -d, agent.facts().positive_semidefinite ? 0 : 1, exponent, -exponent;
  }
  agree_on_maximum(net, votes);
  for (Index i = 0; i < votes.rows(); ++i) {
    const auto largest = static_cast<Index>(votes(i, 0)), smallest = static_cast<Index>(-votes(i, 1));
    require(smallest == largest,
            fmt::format("agent {} has dimension {}: must be the same everywhere, and others range from {} to {}",
                        net.agent(i), A[static_cast<std::size_t>(i)].dim(), smallest, largest));
    require(
        votes(i, 3) == -votes(i, 4),
        fmt::format("agent {}: its matrix is divided by 2^{}: must be the same everywhere, and others range from {} "
                    "to {}",
                    net.agent(i), A[static_cast<std::size_t>(i)].facts().exponent, -votes(i, 4), votes(i, 3)));
  }
  return {.d = A.empty() ? 0 : A.front().dim(),
          .positive_semidefinite = votes.rows() == 0 || votes(0, 2) == 0,
          .exponent = A.empty() ? 0 : A.front().facts().exponent};
}

Method choose_method(const Shared& shared, const DecentralizedOptions& options, bool reliable) {
  validate_options(options, shared.d);
  Momentum momentum = accelerated(options.algorithm) ? options.momentum : Momentum::none();
  momentum.edge = std::ldexp(momentum.edge, -shared.exponent);
  const bool estimated = momentum.rule == Momentum::Rule::automatic || momentum.rule == Momentum::Rule::paper;
  // A momentum given as a number, and the paper's own rule, mean the paper's recurrence unless told otherwise.
  const bool centred = !options.damping ? momentum.rule == Momentum::Rule::automatic && shared.positive_semidefinite
                                        : options.damping == Damping::centred;
  const Index extra = extra_columns(options, estimated, may_begin_wide(options, reliable));
  const Index p = std::min(shared.d, options.rank + extra);
  return {.d = shared.d,
          .k = options.rank,
          .p = p,
          .tracked = tracked(options.algorithm),
          .polar = options.algorithm == Algorithm::adeepca,
          .nonnegative = shared.positive_semidefinite || centred,
          .ritz = p > options.rank + 1,
          .exponent = shared.exponent,
          .momentum = momentum,
          .damping = centred ? Damping::centred : Damping::symmetric};
}

}  // namespace hearsay::detail

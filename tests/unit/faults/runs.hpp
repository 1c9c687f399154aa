// Runs on a network that fails, held against a dense solution of exactly the data that are in the answer.
#pragma once

#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/decentralized.hpp>
#include <hearsay/dense_eigen.hpp>
#include <hearsay/faults.hpp>
#include <hearsay/operators/compose.hpp>

#include <algorithm>

#include "unit/decentralized/problems.hpp"

namespace hearsay::test {

inline const Algorithm tracked_algorithms[] = {Algorithm::deepca, Algorithm::adeepca};

inline LinkFault drop(double probability) { return {.kind = LinkFault::Kind::drop, .probability = probability}; }
inline LinkFault loss(double probability) { return {.kind = LinkFault::Kind::loss, .probability = probability}; }
inline LinkFault delay(double probability, Index rounds_late) {
  return {.kind = LinkFault::Kind::delay, .probability = probability, .rounds_late = rounds_late};
}
inline AgentFault crash(Index agent, Index iteration) {
  return {.kind = AgentFault::Kind::crash, .agent = agent, .iteration = iteration};
}
inline AgentFault rejoin(Index agent, Index iteration) {
  return {.kind = AgentFault::Kind::rejoin, .agent = agent, .iteration = iteration};
}

/// Of the average of these agents' A_i.
inline DenseEigen<double> solution_of(const Problem& problem, const std::vector<Index>& agents) {
  const auto all = problem.operators();
  std::vector<OperatorRef<double>> some;
  for (const Index i : agents) some.push_back(all[static_cast<std::size_t>(i)]);
  return dense_eigen<double>(SumOperator<double>(some, 1 / static_cast<double>(some.size())));
}

/// The worst of these agents', against the subspace of their own data.
inline double worst_sine(const Problem& problem, const DecentralizedResult& result, const std::vector<Index>& agents) {
  const Block<double> U = solution_of(problem, agents).vectors.leftCols(problem.k);
  double worst = 0;
  for (const Index i : agents) worst = std::max(worst, sin_theta<double>(U, result.bases[static_cast<std::size_t>(i)]));
  return worst;
}
inline double worst_sine(const Problem& problem, const DecentralizedResult& result) {
  return worst_sine(problem, result, result.contributors);
}

template <class Net>
DecentralizedResult run_on(Net& net, const Problem& problem, DecentralizedOptions options) {
  options.rank = problem.k;
  if (!options.damping) options.damping = problem.damping;
  return decentralized_pca(net, problem.operators(), options);
}

inline DecentralizedResult run(const Problem& problem, const Faults& faults, const DecentralizedOptions& options) {
  FaultyNetwork net(problem.W, faults);
  return run_on(net, problem, options);
}

}  // namespace hearsay::test

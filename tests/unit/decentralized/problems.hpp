// Decentralized problems with their answers: planted ones, and the five of the experiments.
#pragma once

#include <hearsay/decentralized.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hearsay::test {

struct Problem {
  std::string name = {};
  Index k = 0;
  GossipMatrix W = GossipMatrix::ring(1);
  std::optional<Damping> damping = {};       ///< centred where A, and not each A_i, is positive semidefinite
  std::vector<CovarianceShard> shards = {};  ///< either these
  std::vector<NodeOperator> nodes = {};      ///< or these
  Vector<double> eigenvalues = {};           ///< of A, all of them, by a dense eigensolver
  Block<double> U = {};                      ///< d x k
  double largest_norm = 0;                   ///< M = max ||A_i||

  std::vector<OperatorRef<double>> operators() const {
    return shards.empty() ? operators_of(nodes) : operators_of(shards);
  }
};

/// Gaussian samples with standard deviations ratio^j, turned by a random rotation and dealt out on a ring. Agents of
/// unlike data: each sees its own half of the features twice as large.
Problem planted_problem(Index agents, Index samples, Index d, Index k, double ratio, std::uint64_t seed);

/// What a dense eigensolver says of A and the A_i; fills the last three members.
void solve(Problem& problem);

/// The five, from $HEARSAY_DATA; nothing where that is not set.
std::optional<std::vector<Problem>> real_problems();

}  // namespace hearsay::test

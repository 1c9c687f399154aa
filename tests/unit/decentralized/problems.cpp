#include "problems.hpp"

#include <hearsay/datasets.hpp>
#include <hearsay/dense_eigen.hpp>
#include <hearsay/graph_tools.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "support/random_block.hpp"

namespace hearsay::test {
void solve(Problem& problem) {
  const auto operators = problem.operators();
  const SumOperator<double> A(operators, 1 / static_cast<double>(operators.size()));
  const auto eigen = dense_eigen<double>(A);
  problem.eigenvalues = eigen.values;
  problem.U = eigen.vectors.leftCols(problem.k);
  for (const auto& A_i : operators)
    problem.largest_norm = std::max(problem.largest_norm, dense_eigen<double>(A_i).values.cwiseAbs().maxCoeff());
}

Problem planted_problem(Index agents, Index samples, Index d, Index k, double ratio, std::uint64_t seed) {
  Block<double> scale(1, d);
  for (Index j = 0; j < d; ++j) scale(0, j) = std::pow(ratio, static_cast<double>(j));
  const Block<double> turn = random_orthonormal<double>(d, d, {.seed = seed, .stream = Stream::test});
  Block<double> data = (random_block(samples, d, seed).array().rowwise() * scale.row(0).array()).matrix() * turn;
  const Split split = contiguous_split(samples, agents);
  for (std::size_t i = 0; i < split.size(); ++i)
    for (const Index row : split[i]) data.row(row).segment(i % 2 == 0 ? 0 : d / 2, d / 2) *= 2;
  Problem problem{.name = "planted", .k = k, .W = GossipMatrix::ring(agents), .shards = covariance_shards(data, split)};
  solve(problem);
  return problem;
}

std::optional<std::vector<Problem>> real_problems() {
  const char* const directory = std::getenv("HEARSAY_DATA");
  if (directory == nullptr || *directory == '\0') return std::nullopt;
  const auto heart = io::load_fed_heart_disease(directory);
  const auto digits = io::load_digits(directory);
  Block<double> pixels = digits.values / 16;
  pixels.rowwise() -= Block<double>(pixels.colwise().mean()).row(0);  // and divided by m, as the paper has it
  const auto even = covariance_shards(pixels, even_split(pixels.rows(), 10, 5));
  const auto by_label = covariance_shards(pixels, label_split(digits.labels));
  std::vector<std::int32_t> first_nodes(50);
  std::iota(first_nodes.begin(), first_nodes.end(), 0);
  const Graph friends = subgraph(io::load_ego_facebook(directory), first_nodes);

  std::vector<Problem> problems;
  problems.push_back(
      {.name = "heart, k = 2", .k = 2, .W = GossipMatrix::ring(4), .shards = covariance_shards(heart.tables)});
  problems.push_back({.name = "digits even, k = 9", .k = 9, .W = GossipMatrix::ring(10), .shards = even});
  problems.push_back({.name = "digits by label, k = 9", .k = 9, .W = GossipMatrix::ring(10), .shards = by_label});
  problems.push_back({.name = "digits by label, k = 13", .k = 13, .W = GossipMatrix::ring(10), .shards = by_label});
  problems.push_back({.name = "ego-Facebook 50, k = 4",
                      .k = 4,
                      .W = GossipMatrix::metropolis(with_random_edges(friends, 196, 125)),
                      .damping = Damping::centred,
                      .nodes = node_operators(friends)});
  for (Problem& problem : problems) solve(problem);
  return problems;
}

}  // namespace hearsay::test

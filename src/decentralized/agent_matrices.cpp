// The matrices agents hold: a share of the rows, or a node and its edges.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "decentralized/scaling.hpp"
#include "hearsay/decentralized.hpp"
#include "hearsay/error.hpp"
#include "hearsay/graph_tools.hpp"
#include "hearsay/linalg.hpp"

namespace hearsay {
namespace {

// The squares of numbers up to this, and sums of very many of them, are in the range of the least precise message.
constexpr double largest_as_it_is = 0x1p50;

// Divided by the power of two before they are centred: a difference may overflow where neither number does.
std::vector<CovarianceShard> weighted_shards(std::vector<Block<double>> shards, const Vector<double>* mean,
                                             bool centred) {
  Index samples = 0;
  double largest = 0;
  for (const auto& shard : shards) {
    samples += shard.rows();
    largest = std::max(largest, detail::largest_magnitude(shard));
  }
  require(samples > 0, fmt::format("{} shards: at least one must have a row", shards.size()));
  const int exponent = data_exponent(largest);
  Block<double> offset = mean != nullptr ? Block<double>(mean->transpose()) : Block<double>();
  detail::divide_by_power(offset, exponent);
  const double weight = static_cast<double>(shards.size()) / covariance_divisor(samples, centred);
  std::vector<CovarianceShard> operators;
  for (auto& shard : shards) {
    detail::divide_by_power(shard, exponent);
    if (mean != nullptr) shard.rowwise() -= offset.row(0);
    operators.emplace_back(std::move(shard), weight, exponent);
  }
  return operators;
}

}  // namespace

double covariance_divisor(Index samples, bool centred) {
  return centred ? std::max<double>(1.0, static_cast<double>(samples) - 1) : static_cast<double>(samples);
}

int data_exponent(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return 0;
  return largest <= largest_as_it_is && largest >= 1 / largest_as_it_is ? 0 : std::ilogb(largest);
}

double detail::largest_magnitude(const Block<double>& rows) { return rows.size() > 0 ? rows.cwiseAbs().maxCoeff() : 0; }

void detail::divide_by_power(Block<double>& rows, int exponent) {
  if (exponent != 0) rows = rows.unaryExpr([exponent](double x) { return std::ldexp(x, -exponent); }).eval();
}

CovarianceShard::CovarianceShard(Block<double> rows, double weight, int exponent)
    : rows_(std::move(rows)), weight_(weight), exponent_(exponent), samples_(rows_.rows()) {
  require(rows_.cols() > 0, "shard of 0 columns: must have at least one");
  require(std::isfinite(weight) && weight >= 0, fmt::format("weight = {}: must be finite and not negative", weight));
  if (!all_finite<double>(rows_)) throw DataError("shard: has a value that is not finite");
  if (!std::isfinite(weight * rows_.squaredNorm()))  // a bound on the product with any column of length one
    throw DataError("shard: the squares of its values are not finite; divide all data by the same power of two");
  // Two passes over m x d against one over d x d.
  formed_ = 2 * samples_ > dim();
  if (!formed_) return;
  Block<double> A = Block<double>::Zero(dim(), dim());
  accumulate_transposed<double>(borrow(rows_), rows_, A);
  rows_ = weight_ * A;
}

void CovarianceShard::apply(ConstBlockView<double> X, BlockView<double> Y) const {
  if (formed_) return multiply<double>(borrow(rows_), X, Y);
  Block<double> U(samples_, X.cols());
  multiply<double>(borrow(rows_), X, U);
  Y.setZero();
  accumulate_transposed<double>(borrow(rows_), U, Y);
  Y *= weight_;
}

std::vector<CovarianceShard> covariance_shards(const Block<double>& data, const Split& split,
                                               const Vector<double>* mean) {
  require(mean == nullptr || mean->size() == data.cols(),
          fmt::format("mean of {} columns: must have {}, as the data have", mean ? mean->size() : 0, data.cols()));
  std::vector<Block<double>> shards;
  for (const auto& rows : split) {
    auto& shard = shards.emplace_back(static_cast<Index>(rows.size()), data.cols());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (!(rows[r] >= 0 && rows[r] < data.rows()))
        throw InvalidArgument(fmt::format("row {} of a shard: must lie in [0, {})", rows[r], data.rows()));
      shard.row(static_cast<Index>(r)) = data.row(rows[r]);
    }
  }
  return weighted_shards(std::move(shards), mean, mean != nullptr);
}

std::vector<CovarianceShard> covariance_shards(const std::vector<Block<double>>& shards, bool centred) {
  for (std::size_t i = 0; i < shards.size(); ++i)
    require(shards[i].cols() == shards[0].cols(), fmt::format("shard {} has {} columns: must have {}, as shard 0 has",
                                                              i, shards[i].cols(), shards[0].cols()));
  return weighted_shards(shards, nullptr, centred);
}

double covariance_scale(std::span<const CovarianceShard> shards, std::span<const Index> contributors, bool centred) {
  const auto agents = static_cast<Index>(shards.size());
  Index samples = 0, contributed = 0;
  for (const auto& shard : shards) samples += shard.samples();
  for (const Index agent : contributors) {
    require(agent >= 0 && agent < agents, fmt::format("contributor {}: must lie in [0, {})", agent, agents));
    contributed += shards[static_cast<std::size_t>(agent)].samples();
  }
  if (contributed == 0) return 0;
  return static_cast<double>(contributors.size()) / static_cast<double>(agents) * covariance_divisor(samples, centred) /
         covariance_divisor(contributed, centred);
}

NodeOperator::NodeOperator(Index nodes, Index node, std::vector<std::pair<Index, double>> neighbours)
    : nodes_(nodes), node_(node), neighbours_(std::move(neighbours)) {
  require(node >= 0 && node < nodes, fmt::format("node {}: must lie in [0, {})", node, nodes));
  for (const auto& [j, entry] : neighbours_)
    require(j >= 0 && j < nodes && j != node && std::isfinite(entry),
            fmt::format("neighbour {} of node {}: must be another node in [0, {}), its entry finite", j, node, nodes));
}

void NodeOperator::apply(ConstBlockView<double> X, BlockView<double> Y) const {
  const auto n = static_cast<double>(nodes_);
  Y.setZero();
  Y.row(node_) = n * X.row(node_);
  for (const auto& [j, entry] : neighbours_) {
    Y.row(node_) += n / 2 * entry * X.row(j);
    Y.row(j) = n / 2 * entry * X.row(node_);
  }
}

namespace {

// The same graph with its largest weight at about one, by a power of two: the matrix is the same, and neither sums nor
// products of degrees leave the range.
Graph with_moderate_weights(Graph graph) {
  if (graph.weights.empty()) return graph;
  const auto [least, most] = std::minmax_element(graph.weights.begin(), graph.weights.end());
  constexpr double furthest = 1e-140;  // its square still is a number
  require(*least > 0 && std::isfinite(*most) && *least / *most >= furthest,
          fmt::format("weights from {:g} to {:g}: must be positive, and not lie further apart than {:g}", *least, *most,
                      1 / furthest));
  int exponent = 0;
  std::frexp(*most, &exponent);
  for (double& weight : graph.weights) weight = std::ldexp(weight, -exponent);
  return graph;
}

}  // namespace

std::vector<NodeOperator> node_operators(const Graph& given) {
  const Graph graph = with_moderate_weights(given);
  const Vector<double> degree = degrees(graph);
  std::vector<std::vector<std::pair<Index, double>>> neighbours(static_cast<std::size_t>(graph.nodes));
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const auto [i, j] = graph.edges[e];
    const double weight = graph.weights.empty() ? 1.0 : graph.weights[e];
    const double entry = weight / std::sqrt(degree(i) * degree(j));
    neighbours[static_cast<std::size_t>(i)].emplace_back(j, entry);
    neighbours[static_cast<std::size_t>(j)].emplace_back(i, entry);
  }
  std::vector<NodeOperator> operators;
  for (Index i = 0; i < graph.nodes; ++i)
    operators.emplace_back(graph.nodes, i, std::move(neighbours[static_cast<std::size_t>(i)]));
  return operators;
}

}  // namespace hearsay
